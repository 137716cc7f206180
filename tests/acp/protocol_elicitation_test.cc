// elicitation.h: what agents ask of people.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "acp/elicitation.h"

namespace acpd::acp {
namespace {

using testing::HasSubstr;

std::string Show(const absl::StatusOr<Elicitation>& read) {
  if (!read.ok()) return std::string(read.status().message());
  return (read->url_mode ? "url|" : "form|") + read->session_id + "|" + read->request_id + "|" +
         read->tool_call_id + "|" + read->message + "|" + read->schema_json + "|" +
         read->elicitation_id + "|" + read->url;
}

TEST(Elicitation, Fields) {
  const std::pair<std::string, std::string> cases[] = {
      {R"({"mode":"form","sessionId":"s","toolCallId":"t","message":"m\u00e9",)"
       R"("requestedSchema":{"b":1, "a":{}}})",
       "form|s||t|m\xC3\xA9|{\"b\":1, \"a\":{}}||"},
      {R"({"mode":"form","sessionId":"s","toolCallId":null,"message":"","requestedSchema":{},)"
       R"("elicitationId":"e","url":"https://x"})",
       "form|s||||{}||"},
      {R"({"mode":"url","sessionId":"s","message":"m","elicitationId":"e","url":"https://x/?a=b",)"
       R"("requestedSchema":{}})",
       "url|s|||m||e|https://x/?a=b"},
      {R"({"mode":"url","requestId":"\u0037","message":"m","elicitationId":"e","url":"u:x"})",
       R"(url||"\u0037"||m||e|u:x)"},
      {R"({"mode":"form","requestId":9007199254740993,"toolCallId":5,"message":"m",)"
       R"("requestedSchema":{}})",
       "form||9007199254740993||m|{}||"},
  };
  for (const auto& [json, shown] : cases) EXPECT_EQ(Show(ReadElicitation(json)), shown) << json;
}

TEST(Elicitation, ErrorsNameTheField) {
  const std::string form = R"({"mode":"form","sessionId":"s","message":"m")";
  const std::string url = R"({"mode":"url","sessionId":"s","message":"m")";
  const std::pair<std::string, std::string> cases[] = {
      {"", "elicitation/create"},
      {"null", "elicitation/create"},
      {"[]", "elicitation/create"},
      {R"({"mode":"form","sessionId":"s","requestedSchema":{}})", "`message`"},
      {R"({"mode":"form","sessionId":"s","requestedSchema":{},"message":null})", "`message`"},
      {R"({"mode":"form","requestedSchema":{},"message":"m"})", "`sessionId`"},
      {R"({"mode":"form","sessionId":5,"requestedSchema":{},"message":"m"})", "`sessionId`"},
      {R"({"mode":"form","requestId":{},"requestedSchema":{},"message":"m"})", "`requestId`"},
      {R"({"sessionId":"s","requestedSchema":{},"message":"m"})", "`mode`"},
      {R"({"mode":"voice","sessionId":"s","message":"m"})", "`mode`"},
      {form + "}", "`requestedSchema`"},
      {form + R"(,"requestedSchema":null})", "`requestedSchema`"},
      {form + R"(,"requestedSchema":[]})", "`requestedSchema`"},
      {url + R"(,"url":"https://x"})", "`elicitationId`"},
      {url + R"(,"url":"https://x","elicitationId":7})", "`elicitationId`"},
      {url + R"(,"elicitationId":"e"})", "`url`"},
      {url + R"(,"elicitationId":"e","url":{}})", "`url`"},
      {url + R"(,"elicitationId":"e","url":"no scheme"})", "`url`"},
      {url + R"(,"elicitationId":"e","url":"https://x\u001b[2J"})", "`url`"},
  };
  for (const auto& [json, field] : cases) {
    const auto read = ReadElicitation(json);
    EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument) << json;
    EXPECT_THAT(std::string(read.status().message()), HasSubstr(field)) << json;
  }
}

TEST(Elicitation, CompletedId) {
  EXPECT_EQ(ReadElicitationId(R"({"elicitationId":"a\u0062"})"), "ab");
  for (const std::string json : {"", "{}", R"({"elicitationId":5})", "null", "[]"}) {
    EXPECT_EQ(ReadElicitationId(json), "") << json;
  }
}

TEST(Elicitation, Answers) {
  const auto line = [](const std::string& result) {
    return R"({"jsonrpc":"2.0","id":"\u0037","result":)" + result + "}";
  };
  const std::string id = R"("\u0037")";
  EXPECT_EQ(ElicitationDeclineLine(id), line(R"({"action":"decline"})"));
  EXPECT_EQ(ElicitationCancelLine(id), line(R"({"action":"cancel"})"));
  EXPECT_EQ(ElicitationAcceptLine(id, ""), line(R"({"action":"accept"})"));
  EXPECT_EQ(ElicitationAcceptLine(id, "{}"), line(R"({"action":"accept","content":{}})"));
  EXPECT_EQ(
      ElicitationAcceptLine(id, " {\"n\":1e2,\r\n\"big\":12345678901234567890123,\"a\":\"\\n\"}\n"),
      line("{\"action\":\"accept\",\"content\":"
           "{\"n\":1e2,  \"big\":12345678901234567890123,\"a\":\"\\n\"}}"))
      << "the digits as they were given, on one line";
  for (const std::string content : {"[]", "{", "null", "\"x\"", "{\"a\":\"\xFF\"}"}) {
    EXPECT_EQ(ElicitationAcceptLine(id, content), line(R"({"action":"accept"})"))
        << "what is no object would break the message";
  }
}

}  // namespace
}  // namespace acpd::acp
