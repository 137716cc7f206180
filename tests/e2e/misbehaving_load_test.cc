// Agents that flood, and agents that do not read: neither holds up anyone else, nor their own end.

#include <signal.h>

#include <algorithm>
#include <chrono>

#include "tests/e2e/agents_support.h"

namespace acpd::e2e {
namespace {

using std::chrono::duration_cast;
using std::chrono::steady_clock;
using Result = api::TurnResult;

constexpr size_t kMebibyte = 1u << 20;

milliseconds Passed(steady_clock::time_point begin) {
  return duration_cast<milliseconds>(steady_clock::now() - begin);
}

json AskNumber(int id) {
  return Do("ask", {{"id", id},
                    {"options", json::array({{{"optionId", "yes"}, {"kind", "allow_once"}}})}});
}

size_t PeakBytesOf(pid_t pid) {
  const std::string status = ReadFile("/proc/" + std::to_string(pid) + "/status");
  const size_t at = status.find("VmHWM:");
  return at == std::string::npos ? 0 : std::stoul(status.substr(at + 6)) * 1024;
}

using FloodTest = E2eTest;

TEST_F(FloodTest, AFloodDelaysNoOtherSessionAndFillsNoMemory) {
  StartDaemon();
  const auto quiet = client().Say("shop", "", "hello");
  ASSERT_TRUE(quiet.ok()) << quiet.ToString();
  api::ChatRequest request = ChatOf("flood", "", "burst 100000000 1000", api::WAIT_FOR_STARTED);
  request.set_agent("burst");
  const auto flood = client().Chat(request);
  ASSERT_TRUE(flood.ok()) << flood.ToString();
  // A reader that takes its first events only.
  grpc::ClientContext slow;
  api::SubscribeProgressRequest follow;
  follow.set_session_id(flood.response.session_id());
  follow.set_after_seq(0);
  const auto reader = client().stub()->SubscribeProgress(&slow, follow);
  Event event;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(reader->Read(&event));

  std::vector<milliseconds> took;
  for (int i = 0; i < 40; ++i) {
    const auto begin = steady_clock::now();
    const auto chat = client().Say("shop", quiet.response.session_id(), "hello");
    took.push_back(Passed(begin));
    ASSERT_EQ(chat.response.result().text(), "hello") << chat.ToString();
  }
  EXPECT_EQ(client().GetTurn(flood.response.turn_id()).response.state(), api::TURN_STATE_RUNNING);
  std::sort(took.begin(), took.end());
  EXPECT_LT(took[took.size() * 95 / 100], milliseconds(1000));
  EXPECT_LT(PeakBytesOf(daemon().pid()), 200 * kMebibyte);
  slow.TryCancel();
  while (reader->Read(&event)) {
  }
  api::CancelRequest cancel;
  cancel.set_turn_id(flood.response.turn_id());
  cancel.mutable_grace();  // 0: at once
  EXPECT_EQ(client().Cancel(cancel).response.outcome(), api::CancelResponse::OUTCOME_FORCED);
  // The log is long: it goes with its session.
  api::DeleteSessionRequest forget;
  forget.set_session_id(flood.response.session_id());
  EXPECT_TRUE(client().Call(&Client::Stub::DeleteSession, forget).ok());
}

class DeafTest : public E2eTest {
 protected:
  static constexpr milliseconds kCancelGrace{500};
  DeafTest() {
    SetFake("cancel_grace", std::to_string(kCancelGrace.count()) + "ms");
    SetFake("stop_grace", "500ms");
  }
  // The agent is stopped: it takes nothing off its pipe. Its turn can be ended all the same.
  void ExpectForcedInTime(const std::string& session_id) {
    const auto begin = steady_clock::now();
    const auto cancelled = client().CancelSession(session_id);
    ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
    EXPECT_EQ(cancelled.response.outcome(), api::CancelResponse::OUTCOME_FORCED);
    EXPECT_GE(Passed(begin), kCancelGrace);
    EXPECT_LT(Passed(begin), kCancelGrace + milliseconds(2000));
    EXPECT_FALSE(IsAlive(log().Pids().back()));
    const auto next = client().Say("shop", session_id, "hello");
    EXPECT_EQ(next.response.result().text(), "hello") << next.ToString();
  }
};

TEST_F(DeafTest, APromptThatItDoesNotReadCanBeCancelled) {
  StartDaemon();
  const auto first = client().Say("shop", "", "hello");
  ASSERT_TRUE(first.ok()) << first.ToString();
  ::kill(log().Pids().back(), SIGSTOP);
  const auto stuck =
      client().Begin("shop", first.response.session_id(), std::string(kMebibyte, 'x'));
  ASSERT_TRUE(stuck.ok()) << stuck.ToString();
  EXPECT_EQ(stuck.response.state(), api::TURN_STATE_RUNNING);
  ExpectForcedInTime(first.response.session_id());
  EXPECT_EQ(client().GetTurn(stuck.response.turn_id()).response.result().outcome(),
            Result::OUTCOME_CANCELLED);
}

TEST_F(DeafTest, AnswersThatItDoesNotReadAreTakenAndItCanBeCancelled) {
  StartDaemon();
  json steps = json::array();
  for (int i = 0; i < 10; ++i) steps.push_back(AskNumber(i));
  steps.push_back(Do("barrier", "hold"));
  const auto chat = client().Begin("shop", "", Scripted(steps));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  ASSERT_TRUE(barriers().WaitReached("hold"));
  const auto stream = client().SubscribeSession(chat.response.session_id());
  ASSERT_TRUE(stream->WaitForCount(10, Is(Event::kPermissionRequested)));
  ::kill(log().Pids().back(), SIGSTOP);
  for (const Event& event : stream->Stored()) {
    if (!event.has_permission_requested()) continue;
    const auto answered = client().Respond(chat.response.session_id(),
                                           event.permission_requested().question_id(), "yes");
    EXPECT_TRUE(answered.ok()) << answered.ToString();
  }
  ExpectForcedInTime(chat.response.session_id());
}

TEST_F(DeafTest, MoreOpenQuestionsThanAnybodyAnswersAreRefused) {
  constexpr int kMostOpen = 256;
  StartDaemon();
  json steps = json::array();
  for (int id = 0; id <= kMostOpen; ++id) {
    steps.push_back(Do(
        "ask",
        {{"id", id}, {"options", json::array({{{"optionId", "no"}, {"kind", "reject_once"}}})}}));
  }
  steps.push_back(Do("expect_answer", {{"id", kMostOpen}, {"code", -32600}}));
  steps.push_back(Do("update", "refused"));
  const auto chat = client().Say("shop", "", Scripted(steps));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().text(), "refused");
  EXPECT_EQ(chat.response.result().outcome(), Result::OUTCOME_COMPLETED);
  const auto stream = client().SubscribeSession(chat.response.session_id());
  EXPECT_TRUE(stream->WaitForCount(kMostOpen, Is(Event::kQuestionResolved)));
}

TEST_F(DeafTest, WhoAsksAndAsksAndReadsNoAnswerIsStopped) {
  StartDaemon();
  std::string asked;
  for (int i = 0; i < 15'000; ++i) {
    asked += R"({"jsonrpc":"2.0","method":"no/such","id":)" + std::to_string(i) + "}\n";
  }
  const json steps =
      json::array({Do("raw", asked), Do("barrier", {{"name", "hold"}, {"deaf", true}})});
  const auto chat = client().Say("shop", "", Scripted(steps));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().outcome(), Result::OUTCOME_INTERRUPTED);
  const auto stream = client().SubscribeSession(chat.response.session_id());
  EXPECT_TRUE(stream->WaitFor([](const Event& event) {
    return event.has_notice() && event.notice().code() == "STDIN_NOT_READ";
  }));
  const auto next = client().Say("shop", chat.response.session_id(), "hello");
  EXPECT_EQ(next.response.result().text(), "hello") << next.ToString();
}

}  // namespace
}  // namespace acpd::e2e
