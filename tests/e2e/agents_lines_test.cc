// Long lines of agents: up to limits.max_line they arrive whole, in messages that every client
// takes; beyond it they are dropped one by one.

#include <functional>

#include "tests/e2e/agents_support.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kAgentSession[] = "s-1";
constexpr size_t kMaxLine = 2u << 20;
constexpr size_t kGrpcMessage = 4u << 20;  // what clients take by default
constexpr size_t kMessageOut = 3u << 20;
const json kEndTurn = {{"stopReason", "end_turn"}};

size_t HashOf(const std::string& bytes) { return std::hash<std::string>()(bytes); }

// The `update` whose line has exactly `size` bytes.
std::string UpdateOfLine(size_t size) {
  const size_t rest = UpdateLine(kAgentSession, ChunkJson("")).size();
  return ChunkJson(std::string(size - rest, 'a' + static_cast<char>(size % 26)));
}

json WriteLine(const std::string& line) { return Do("raw", line + "\n"); }

class LongLinesTest : public E2eTest {
 protected:
  LongLinesTest() { options().extra = {{"limits", {{"max_line", kMaxLine}}}}; }

  // The agent does `steps` at its first prompt, and is good afterwards.
  void UseSteps(const json& steps) {
    UseScript({{"session/new", json::array({Do("reply", {{"sessionId", kAgentSession}})})},
               {"session/prompt", json::array({steps, json::array()})}});
    StartDaemon();
  }
};

TEST_F(LongLinesTest, AllUpToTheLimitArriveWholeAndTheOneOverItIsDroppedWithANotice) {
  const std::vector<size_t> sizes = {(64u << 10) - 1, 64u << 10, (64u << 10) + 1, 1u << 20,
                                     kMaxLine - 1,    kMaxLine,  kMaxLine + 1,    200};
  json steps = json::array();
  std::vector<size_t> wanted;
  for (const size_t size : sizes) {
    const std::string update = UpdateOfLine(size);
    ASSERT_EQ(UpdateLine(kAgentSession, update).size(), size);
    steps.push_back(WriteLine(UpdateLine(kAgentSession, update)));
    if (size <= kMaxLine) wanted.push_back(HashOf(update));
  }
  steps.push_back(Do("reply", kEndTurn));
  UseSteps(steps);
  const auto chat = client().Say("shop", "", "go");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_EQ(chat.response.result().stop_reason(), "end_turn");

  std::vector<size_t> got;
  std::string joined;
  const std::vector<Event> events = AllEvents();
  for (const Event& event : events) {
    EXPECT_LT(event.ByteSizeLong(), kMessageOut);
    if (!event.has_session_update()) continue;
    joined += event.session_update().json();
    if (event.session_update().part() != event.session_update().parts()) continue;
    got.push_back(HashOf(std::exchange(joined, "")));
  }
  EXPECT_EQ(got, wanted);
  const std::vector<Event> notices = NoticesOf(events, "LINE_TOO_LONG");
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_EQ(notices[0].turn_id(), chat.response.turn_id());
  EXPECT_THAT(notices[0].notice().message(), HasSubstr(std::to_string(kMaxLine + 1)));
  EXPECT_THAT(notices[0].notice().message(), HasSubstr("session/update"));
}

TEST_F(LongLinesTest, ARequestOverTheLimitIsAnsweredAndTheTurnGoesOn) {
  const std::string request =
      R"({"jsonrpc":"2.0","id":"big","method":"session/request_permission","params":{"pad":")" +
      std::string(kMaxLine, 'x') + R"("}})";
  UseSteps(json::array({WriteLine(request), Do("expect_answer", {{"id", "big"}, {"code", -32600}}),
                        Do("update", "went on"), Do("reply", kEndTurn)}));
  const auto chat = client().Say("shop", "", "go");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_EQ(chat.response.result().text(), "went on");
  EXPECT_THAT(log().AnswersTo("big"), SizeIs(1));
  EXPECT_THAT(NoticesOf(AllEvents(), "LINE_TOO_LONG"), SizeIs(1));
}

TEST_F(LongLinesTest, AnAnswerOverTheLimitEndsItsTurnAndTheSessionGoesOn) {
  const std::string answer =
      R"({"jsonrpc":"2.0","id":${id},"result":{"stopReason":"end_turn","pad":")" +
      std::string(kMaxLine, 'x') + R"("}})";
  UseSteps(json::array({Do("update", "before"), WriteLine(answer), Do("silent", true)}));
  const auto chat = client().Say("shop", "", "go");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_FAILED);
  EXPECT_EQ(chat.response.result().error().reason(), "MESSAGE_TOO_LARGE");
  EXPECT_EQ(chat.response.result().text(), "before");
  EXPECT_TRUE(chat.response.result().prompt_sent());
  const auto next = client().Say("shop", chat.response.session_id(), "hello");
  ASSERT_TRUE(next.ok()) << next.ToString();
  EXPECT_EQ(next.response.origin().kind(), api::SessionOrigin::KIND_LIVE);
  EXPECT_EQ(next.response.result().text(), "hello");
}

// Text of three-byte characters, so that a cut at any other place than a border would show.
TEST_F(E2eTest, AnUpdateOfFiveMebibytesComesInPartsThatJoinToTheWhole) {
  constexpr size_t kSize = 5u << 20;
  std::string text = "x";
  while (text.size() < kSize) text += "\u20AC";
  const std::string update = ChunkJson(text);
  UseScript({{"session/new", json::array({Do("reply", {{"sessionId", kAgentSession}})})},
             {"session/prompt",
              json::array({Do("update", "first"), WriteLine(UpdateLine(kAgentSession, update)),
                           Do("update", "last")})}});
  StartDaemon();
  // A client with gRPC's own limits, which is there while it happens.
  api::ChatRequest request = ChatOf("shop", "", "go", api::WAIT_FOR_UNSPECIFIED);
  const auto stream = client().ChatStream(request);
  const auto end = stream->WaitForEnd();
  ASSERT_TRUE(end);
  ASSERT_TRUE(end->ok()) << end->error_message();

  std::string json_joined, text_joined;
  std::vector<Event> parts;
  for (const Event& event : stream->Stored()) {
    EXPECT_LT(event.ByteSizeLong(), kGrpcMessage);
    EXPECT_LE(event.ByteSizeLong(), kMessageOut);
    if (event.session_update().parts() == 0) continue;
    parts.push_back(event);
    json_joined += event.session_update().json();
    text_joined += event.session_update().text();
  }
  ASSERT_GE(parts.size(), 2u);
  for (size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].session_update().part(), i + 1);
    EXPECT_EQ(parts[i].session_update().parts(), parts.size());
    EXPECT_EQ(parts[i].seq(), parts[0].seq() + i);
    EXPECT_EQ(parts[i].session_update().kind(), "agent_message_chunk");
    EXPECT_FALSE(parts[i].turn_id().empty());
  }
  EXPECT_EQ(json_joined.size(), update.size());
  EXPECT_EQ(HashOf(json_joined), HashOf(update));
  EXPECT_EQ(text_joined.size(), text.size());
  EXPECT_EQ(HashOf(text_joined), HashOf(text));
  // Read again from the store, it is the same.
  std::string stored;
  for (const Event& event : AllEvents()) {
    if (event.session_update().parts() != 0) stored += event.session_update().json();
  }
  EXPECT_EQ(HashOf(stored), HashOf(update));
}

}  // namespace
}  // namespace acpd::e2e
