// Agents that misbehave harm nobody but themselves, and themselves as little as can be.

#include <algorithm>
#include <chrono>
#include <functional>

#include "tests/e2e/agents_support.h"

namespace acpd::e2e {
namespace {

using std::chrono::duration_cast;
using std::chrono::steady_clock;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Result = api::TurnResult;

constexpr char kSession[] = "s-1";
constexpr size_t kMiB = 1u << 20;

milliseconds MillisecondsSince(steady_clock::time_point begin) {
  return duration_cast<milliseconds>(steady_clock::now() - begin);
}

json YesOrNo(const json& id) {
  return Do("ask", {{"id", id},
                    {"options", json::array({{{"optionId", "yes"}, {"kind", "allow_once"}},
                                             {{"optionId", "no"}, {"kind", "reject_once"}}})}});
}

json Line(const std::string& text) { return Do("raw", text + "\n"); }
json UpdateOf(const std::string& session, const std::string& text) {
  return Line(UpdateLine(session, ChunkJson(text)));
}

std::string Base64(const std::string& bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t three = 0;
    const size_t count = std::min<size_t>(3, bytes.size() - at);
    for (size_t i = 0; i < 3; ++i) {
      three = three << 8 | (i < count ? static_cast<uint8_t>(bytes[at + i]) : 0u);
    }
    for (size_t i = 0; i < 4; ++i) {
      text += i <= count ? kDigits[three >> (18 - 6 * i) & 63] : '=';
    }
  }
  return text;
}

std::string JoinedTextOf(const std::vector<Event>& events, const std::string& turn_id) {
  std::string joined;
  for (const Event& event : events) {
    if (event.turn_id() == turn_id) joined += event.session_update().text();
  }
  return joined;
}

class MisbehavingTest : public E2eTest {
 protected:
  // The agent, whose session has a known id, does this at its first prompt and is good afterwards.
  void UseSteps(const json& steps) {
    UseScript({{"session/new", json::array({Do("reply", {{"sessionId", kSession}})})},
               {"session/prompt", json::array({steps, json::array()})}});
    StartDaemon();
  }
  // A Chat whose turn goes well in spite of everything; all that is in the log then.
  std::vector<Event> ChatGoesWell(const std::string& text) {
    chat_ = client().Say("shop", "", "go");
    EXPECT_TRUE(chat_.ok()) << chat_.ToString();
    EXPECT_EQ(chat_.response.result().outcome(), Result::OUTCOME_COMPLETED)
        << chat_.response.ShortDebugString();
    EXPECT_EQ(chat_.response.result().text(), text);
    const auto next = client().Say("shop", chat_.response.session_id(), "hello");
    EXPECT_EQ(next.response.result().text(), "hello") << next.ToString();
    EXPECT_EQ(next.response.origin().kind(), api::SessionOrigin::KIND_LIVE);
    return AllEvents();
  }

  Called<api::ChatResponse> chat_;
};

// ---- Odd lines.

TEST_F(MisbehavingTest, ALineOfTheCapInSmallPiecesArrivesWhole) {
  constexpr size_t kCap = 8 * kMiB, kPiece = 4096;
  options().extra = {{"limits", {{"max_line", kCap}}}};
  const size_t frame = UpdateLine(kSession, ChunkJson("")).size();
  const std::string text(kCap - frame, 'p');
  const std::string line = UpdateLine(kSession, ChunkJson(text)) + "\n";
  ASSERT_EQ(line.size(), kCap + 1);
  json steps = json::array();
  for (size_t at = 0; at < line.size(); at += kPiece) {
    steps.push_back(Do("raw", line.substr(at, kPiece)));
  }
  steps.push_back(Do("reply", {{"stopReason", "end_turn"}}));
  UseSteps(steps);
  const auto begin = steady_clock::now();
  const std::vector<Event> events = ChatGoesWell(text.substr(0, kMiB));  // results are capped
  EXPECT_LT(MillisecondsSince(begin), milliseconds(10'000));
  EXPECT_TRUE(chat_.response.result().text_truncated());
  EXPECT_THAT(NoticesOf(events, "LINE_TOO_LONG"), IsEmpty());
  const std::string joined = JoinedTextOf(events, chat_.response.turn_id());
  EXPECT_EQ(joined.size(), text.size());
  EXPECT_EQ(std::hash<std::string>()(joined), std::hash<std::string>()(text));
}

TEST_F(MisbehavingTest, WhatIsTooDeepIsDroppedWithANotice) {
  const std::string deep = std::string(5000, '[') + std::string(5000, ']');
  const std::string update =
      R"({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"},"_meta":)" +
      deep + "}";
  UseSteps(
      json::array({Do("update", "a"), Line(UpdateLine(kSession, update)),
                   Line(R"({"jsonrpc":"2.0","id":"deep","method":"fs/x","params":)" + deep + "}"),
                   Do("expect_answer", {{"id", "deep"}, {"code", -32600}}), Do("update", "b"),
                   Do("reply", {{"stopReason", "end_turn"}})}));
  const std::vector<Event> events = ChatGoesWell("ab");
  EXPECT_THAT(NoticesOf(events, "LINE_TOO_LONG"), SizeIs(2));
  EXPECT_THAT(log().Events("mismatch"), IsEmpty());
}

TEST_F(MisbehavingTest, BrokenUtf8IsRepairedAndZeroBytesAreNoMessage) {
  // "a" ff "b"; an escaped zero; a zero as it is.
  const std::string broken = UpdateLine(kSession, ChunkJson("a\xff"
                                                            "b"));
  const std::string escaped = UpdateLine(kSession, ChunkJson("c\\u0000d"));
  const std::string zero = UpdateLine(kSession, ChunkJson("lo" + std::string(1, '\0') + "st"));
  UseSteps(json::array({Do("raw64", Base64(broken + "\n")), Line(escaped),
                        Do("raw64", Base64(zero + "\n")), Do("update", "e"),
                        Do("reply", {{"stopReason", "end_turn"}})}));
  const std::vector<Event> events = ChatGoesWell(
      "a\uFFFD"
      "bc" +
      std::string(1, '\0') + "de");
  EXPECT_THAT(NoticesOf(events, "STDOUT_NOISE"), SizeIs(1));
}

// ---- Messages that do not belong.

TEST_F(MisbehavingTest, ASecondAnswerChangesNothing) {
  const std::string answer = R"({"jsonrpc":"2.0","id":${id},"result":{"stopReason":")";
  UseSteps(json::array({Do("update", "once"),
                        Do("raw", answer + "end_turn\"}}\n" + answer + "refusal\"}}\n"),
                        Do("silent", true)}));
  const std::vector<Event> events = ChatGoesWell("once");
  EXPECT_EQ(std::count_if(events.begin(), events.end(), EndOf(chat_.response.turn_id())), 1);
  EXPECT_EQ(chat_.response.result().stop_reason(), "end_turn");
}

TEST_F(MisbehavingTest, AnswersToNothingAreIgnored) {
  UseSteps(json::array({Line(R"({"jsonrpc":"2.0","id":999999,"result":{"stopReason":"refusal"}})"),
                        Line(R"({"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"no"}})"),
                        Line(R"({"jsonrpc":"2.0","id":null,"result":{}})"),
                        Line(R"({"jsonrpc":"2.0","id":1,"result":{}})"), Do("update", "fine"),
                        Do("reply", {{"stopReason", "end_turn"}})}));
  ChatGoesWell("fine");
}

TEST_F(MisbehavingTest, WhatIsForAnotherSessionIsDroppedOrRefused) {
  const json foreign = {
      {"sessionId", "s-2"},
      {"toolCall", {{"toolCallId", "c"}}},
      {"options", json::array({{{"optionId", "yes"}, {"name", "Yes"}, {"kind", "allow_once"}}})}};
  UseSteps(json::array(
      {UpdateOf("s-2", "not mine"), Do("update", "mine"), UpdateOf("s-3", "nor this"),
       Do("request", {{"id", "f"}, {"method", "session/request_permission"}, {"params", foreign}}),
       Do("expect_answer", {{"id", "f"}, {"code", -32602}}),
       Do("reply", {{"stopReason", "end_turn"}})}));
  const std::vector<Event> events = ChatGoesWell("mine");
  EXPECT_THAT(TextsOf(events), ElementsAre("mine", "hello"));
  EXPECT_THAT(NoticesOf(events, "FOREIGN_SESSION"), SizeIs(1));
  EXPECT_EQ(IndexOf(events, Is(Event::kPermissionRequested)), events.size());
}

TEST_F(MisbehavingTest, UpdatesAfterTheAnswerBelongToNoTurn) {
  const std::string answer = R"({"jsonrpc":"2.0","id":${id},"result":{"stopReason":"end_turn"}})";
  UseSteps(json::array({Do("update", "in time"),
                        Do("raw", answer + "\n" + UpdateLine(kSession, ChunkJson("late")) + "\n"),
                        Do("silent", true)}));
  const std::vector<Event> events = ChatGoesWell("in time");
  const size_t late = IndexOf(events, SaysText("late"));
  ASSERT_LT(late, events.size());
  EXPECT_EQ(events[late].turn_id(), "");
  EXPECT_GT(late, IndexOf(events, EndOf(chat_.response.turn_id())));
}

// Two questions under one id are two questions: each line is answered once.
TEST_F(MisbehavingTest, TheSameIdAskedTwiceIsAnsweredTwice) {
  const json end = Do("reply", {{"stopReason", "end_turn"}});
  UseSteps(json::array({YesOrNo("twice"), YesOrNo("twice"), YesOrNo("last"),
                        Do("expect_answer", {{"id", "last"}, {"optionId", "no"}}), end}));
  const auto chat = client().Begin("shop", "", "go");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const auto stream = client().SubscribeSession(chat.response.session_id());
  ASSERT_TRUE(stream->WaitForCount(3, Is(Event::kPermissionRequested)));
  const std::vector<std::string> chosen = {"yes", "no", "no"};
  size_t next = 0;
  for (const Event& event : stream->Stored()) {
    if (!event.has_permission_requested()) continue;
    const auto answered = client().Respond(
        chat.response.session_id(), event.permission_requested().question_id(), chosen[next++]);
    EXPECT_TRUE(answered.ok()) << answered.ToString();
  }
  EXPECT_EQ(
      client().GetTurn(chat.response.turn_id(), api::WAIT_FOR_FINISHED).response.result().outcome(),
      Result::OUTCOME_COMPLETED);
  const std::vector<json> answers = log().AnswersTo("twice");
  ASSERT_THAT(answers, SizeIs(2));
  EXPECT_EQ(answers[0]["result"]["outcome"]["optionId"], "yes");
  EXPECT_EQ(answers[1]["result"]["outcome"]["optionId"], "no");
}

}  // namespace
}  // namespace acpd::e2e
