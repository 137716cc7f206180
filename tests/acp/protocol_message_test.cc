#include <gtest/gtest.h>

#include "acp/message.h"
#include "tests/acp/protocol_show.h"

namespace acpd::acp {
namespace {

using Kind = Message::Kind;

struct Case {
  std::string line;
  std::string shown;
};

void Check(const std::vector<Case>& cases) {
  for (const Case& c : cases) EXPECT_EQ(Read(c.line), c.shown) << c.line;
}

TEST(Message, TheKindsOfMessages) {
  Check({
      {R"({"jsonrpc":"2.0","id":0,"result":{"a":[1, 2]}})", R"(result id=0 result={"a":[1, 2]})"},
      {R"({"jsonrpc":"2.0","id":0,"result":null})", "result id=0 result=null"},
      {R"({"id":0,"result":"x" })", R"(result id=0 result="x")"},
      {R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"m"}})",
       R"(error id=1 error={"code":-32603,"message":"m"})"},
      {R"({"jsonrpc":"2.0","error":{"code":-32700}})", R"(error error={"code":-32700})"},
      {R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700}})",
       R"(error id=null error={"code":-32700})"},
      {R"({"id":1,"result":null,"error":{"code":1}})",
       R"(error id=1 result=null error={"code":1})"},
      {R"({"id":1,"result":{},"error":null})", R"(result id=1 result={} error=null)"},
      {R"({"id":1,"error":null})", "error id=1 error=null"},
      {R"({"id":1,"method":null,"result":{}})", "result id=1 result={}"},
      {R"({"jsonrpc":"2.0","id":"u","method":"session/request_permission","params":{"a": 1 } })",
       R"(request id="u" method=session/request_permission params={"a": 1 })"},
      {R"({"jsonrpc":"2.0","id":5,"method":"m"})", "request id=5 method=m"},
      {R"({"jsonrpc":"2.0","id":5,"method":"m","params":null})",
       "request id=5 method=m params=null"},
      {R"({"jsonrpc":"2.0","id":5,"method":"m","params":[ ]  })",
       "request id=5 method=m params=[ ]"},
      {R"({"method":"$/cancel_request","params":{"requestId":0}})",
       R"(notification method=$/cancel_request params={"requestId":0})"},
      {R"({"method":""})", "notification"},
      {R"({"\u0069d":7,"m\u0065thod":"m","par\u0061ms":[]})", "request id=7 method=m params=[]"},
      {R"({"id":1,"resul\u0074":{}})", "result id=1 result={}"},
      {R"({"\ud800":1,"method":"m"})", "notification method=m"},
  });
}

TEST(Message, WhatIsNoMessage) {
  Check({
      {"", "noise"},
      {"   ", "noise"},
      {"hello", "noise"},
      {"123", "noise"},
      {R"("text")", "noise"},
      {"null", "noise"},
      {"{", "noise"},
      {R"({"id":1,"result":{}} x)", "noise"},
      {R"({"id":1,"result":{}}{})", "noise"},
      {R"({"id":1,"result":{"a":tru}})", "noise"},
      {R"({"id":1,"result":[1,]})", "noise"},
      {R"({'id':1})", "noise"},
      {R"({"id":1,"result":NaN})", "noise"},
      {R"({"id":01,"result":1})", "noise"},
      {R"({"id":1,"result":"\x"})", "noise"},
      {std::string("\0", 1), "noise"},
      {std::string("{\"id\":1,\"result\":\"\0\"}", 21), "noise"},
      {std::string("{\"id\":1,\0\"result\":1}", 20), "noise"},
      {"{\"id\":1,\"result\":\"a\tb\"}", "noise"},
      {"{}", "invalid"},
      {"[]", "invalid"},
      {R"( [{"id":1,"result":{}}])", "invalid"},
      {R"({"level":"info","msg":"started"})", "invalid"},
      {R"({"id":1})", "invalid id=1"},
      {R"({"result":{}})", "invalid result={}"},
      {R"({"id":1,"method":5})", "invalid id=1"},
      {R"({"id":true,"result":{}})", "invalid id=true result={}"},
      {R"({"id":{"a":1},"method":"m"})", R"(invalid id={"a":1} method=m)"},
      {R"({"id":[],"method":"m"})", "invalid id=[] method=m"},
  });
}

TEST(Message, IdsAreKeptAsTheyCame) {
  for (const std::string id :
       {"0", "-1", "7", "9007199254740993", "18446744073709551615", "-9223372036854775808",
        "123456789012345678901234567890", "1.0", "1e3", "null", R"("")", R"("7")", R"("a\"b\\c")",
        R"("\u00e9\ud83d\ude00\n")", "\"\xC3\xA9\"", R"("550e8400-e29b-41d4-a716-446655440000")"}) {
    Check({{R"({"id":)" + id + R"(,"method":"m"})", "request id=" + id + " method=m"},
           {R"({"method":"m" , "id" : )" + id + " }", "request id=" + id + " method=m"},
           {R"({"id":)" + id + "\t,\"result\":1}", "result id=" + id + " result=1"}});
  }
}

TEST(Message, Updates) {
  const std::string chunk =
      R"({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}})";
  const std::string shown =
      "update method=session/update session=s json=" + chunk + " kind=agent_message_chunk text=hi";
  Check({
      {R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":)" + chunk +
           "}}",
       shown},
      {R"({"params":{"update":)" + chunk + R"(,"sessionId":"s"},"method":"session/update"})",
       shown},
      {R"( { "params" : { "update" : )" + chunk +
           " ,\t\"sessionId\" : \"s\" } , \"method\" : \"session/update\"\t} ",
       shown},
      {R"({"method":"session/update","params":{"sessionId":"s","update":{"b":1, "a" :[ ] } , "x":{}}})",
       R"(update method=session/update session=s json={"b":1, "a" :[ ] })"},
      {R"({"method":"session/update","params":{"sessionId":"s","update":{}}})",
       "update method=session/update session=s json={}"},
      {R"({"method":"session/update","params":{"sessionId":5,"update":{"sessionUpdate":null}}})",
       R"(update method=session/update json={"sessionUpdate":null})"},
  });
}

TEST(Message, WhatUpdatesCarry) {
  const auto update = [](const std::string& json) {
    return R"({"method":"session/update","params":{"sessionId":"s","update":)" + json + "}}";
  };
  const std::string prefix = "update method=session/update session=s json=";
  const std::vector<Case> cases = {
      {R"({"content":{"text":"hi","type":"text"},"messageId":"m1"})", " text=hi message=m1"},
      {R"({"content":{"type":"image","text":"hi","data":""}})", ""},
      {R"({"content":{"text":"hi"}})", ""},
      {R"({"content":{"type":"text","text":7}})", ""},
      {R"({"content":[{"type":"content","content":{"type":"text","text":"no"}}]})", ""},
      {R"({"content":"hi"})", ""},
      {R"({"content":{"type":"text","text":"a","annotations":{"type":"x","text":"no"}}})",
       " text=a"},
      {R"({"toolCallId":"t","status":"pending","title":"Run","sessionUpdate":"tool_call"})",
       " kind=tool_call tool=t status=pending title=Run"},
      {R"({"toolCallId":null,"status":3,"title":null,"kind":"edit"})", ""},
      {R"({"rawInput":{"title":"no","toolCallId":"no","content":{"type":"text","text":"no"}}})",
       ""},
      {R"({"title":"a","title":"b","content":{"type":"text","text":"x"},"content":null})",
       " title=b"},
  };
  for (const Case& c : cases) EXPECT_EQ(Read(update(c.line)), prefix + c.line + c.shown);
}

TEST(Message, TextIsUnescapedAndJsonIsNot) {
  const std::string json =
      R"({"title":"\u00e9\"","content":{"type":"te\u0078t","text":"a\n\t\"\\\/\ud83d\ude00\u0000z"}})";
  MessageParser parser;
  const Message message = parser.Parse(
      R"({"method":"session\/update","params":{"sessionId":"s\u0031","update":)" + json + "}}");
  ASSERT_EQ(message.kind, Kind::kUpdate);
  EXPECT_EQ(message.update.session_id, "s1");
  EXPECT_EQ(message.update.json, json);
  EXPECT_EQ(message.update.title, "\xC3\xA9\"");
  EXPECT_EQ(message.update.text, std::string("a\n\t\"\\/\xF0\x9F\x98\x80\0z", 12));
}

TEST(Message, AnUpdateThatIsNoObjectIsANotification) {
  for (const std::string params :
       {R"({"sessionId":"s","update":"x"})", R"({"sessionId":"s","update":[{}]})",
        R"({"sessionId":"s","update":null})", R"({"sessionId":"s"})", R"({})", "[]", "null", "7"}) {
    Check({{R"({"method":"session/update","params":)" + params + "}",
            "notification method=session/update params=" + params}});
  }
  Check({{R"({"method":"session/update"})", "notification method=session/update"}});
}

TEST(Message, AnUpdateWithAnIdIsARequest) {
  Check({{R"({"id":1,"method":"session/update","params":{"update":{}}})",
          R"(request id=1 method=session/update params={"update":{}})"}});
}

TEST(Message, OfTwoMembersWithOneNameTheLastCounts) {
  Check({
      {R"({"id":1,"id":2,"method":"a","method":"b","params":1,"params":2})",
       "request id=2 method=b params=2"},
      {R"({"method":"session/update","params":{"sessionId":"a","update":{"title":"x"}},)"
       R"("params":{"sessionId":"b","update":{"status":"y"}}})",
       R"(update method=session/update session=b json={"status":"y"})"},
      {R"({"method":"session/update","params":{"update":{"title":"x"},"update":{},"sessionId":"s"}})",
       "update method=session/update session=s json={}"},
      {R"({"method":"session/update","params":{"update":{}},"params":null})",
       "notification method=session/update params=null"},
      {R"({"method":"session/update","params":{"update":{"title":"x"},"update":4}})",
       R"(notification method=session/update params={"update":{"title":"x"},"update":4})"},
  });
}

TEST(Message, AByteOrderMarkIsSkipped) {
  Check({{"\xEF\xBB\xBF"
          R"({"id":1,"result":1})",
          "result id=1 result=1"},
         {"\xEF\xBB\xBF", "noise"}});
}

TEST(Message, BrokenTextIsRepaired) {
  const std::string before = R"({"id":1,"result":")";
  const std::string fffd = "\xEF\xBF\xBD";
  Check({
      {before + "\xFF\"}", "result id=1 result=\"" + fffd + "\""},
      {before + "\xED\xA0\x80\"}", "result id=1 result=\"" + fffd + fffd + fffd + "\""},
      {before + "\xE2\x82\"}", "result id=1 result=\"" + fffd + "\""},
      {before + R"(\ud83d"})", R"(result id=1 result="\ufffd")"},
      {before + R"(\uDC00x"})", R"(result id=1 result="\ufffdx")"},
      {before + R"(\\ud83d"})", R"(result id=1 result="\\ud83d")"},
      {before + "\xFF\\ud83d\"}", "result id=1 result=\"" + fffd + "\\ufffd\""},
      {"{\"id\":\"\xC3\",\"method\":\"m\"}", "request id=\"" + fffd + "\" method=m"},
      {"{\"\xFF\":1,\"id\":2,\"result\":3}", "result id=2 result=3"},
      {"{\"id\":1,\"result\":\xFF}", "noise"},
      {"\xFF\xFE", "noise"},
      {R"({"method":"session/update","params":{"sessionId":"s","update":{"title":"\ud83d!"}}})",
       R"(update method=session/update session=s json={"title":"\ufffd!"} title=)" + fffd + "!"},
  });
}

TEST(Message, NumbersBeyond64BitsAreNumbers) {
  const std::string big(40, '9');
  Check({{R"({"id":)" + big + R"(,"result":{"n":-)" + big + R"(,"f":1.5e300}})",
          "result id=" + big + R"( result={"n":-)" + big + R"(,"f":1.5e300})"},
         {R"({"id":1,"result":[)" + big + ",]}", "noise"},
         {"[" + big + "]", "invalid"},
         {R"({"id":)" + big + R"(,"result":1})" + std::string("\0{}", 3), "noise"},
         {big, "noise"}});
}

}  // namespace
}  // namespace acpd::acp
