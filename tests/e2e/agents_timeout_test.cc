// Agents that never answer while they are being set up: each step has its own deadline.

#include <chrono>

#include "tests/e2e/agents_support.h"

namespace acpd::e2e {
namespace {

using std::chrono::duration_cast;
using std::chrono::steady_clock;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr milliseconds kDeadline{700};

struct SilentStep {
  const char* name;
  const char* method;
  const char* deadline;  // the config's key
};

std::ostream& operator<<(std::ostream& out, const SilentStep& step) { return out << step.name; }

class SilentStepTest : public E2eTest, public ::testing::WithParamInterface<SilentStep> {};

INSTANTIATE_TEST_SUITE_P(Steps, SilentStepTest,
                         ::testing::Values(SilentStep{"Initialize", "initialize", "start_timeout"},
                                           SilentStep{"SessionNew", "session/new",
                                                      "session_setup_timeout"}),
                         [](const auto& info) { return info.param.name; });

// The first agent hangs with all it has: deaf to EOF and TERM, with a child that ignores TERM.
TEST_P(SilentStepTest, FailsTheTurnWithItsNameKillsTheTreeAndTheNextChatStartsAfresh) {
  const json hang =
      json::array({Do("ignore", "EOF"), Do("ignore", "TERM"),
                   Do("fork", {{"ignore", "TERM"}, {"setsid", true}}),
                   Do("stderr", "waiting for a login in the browser\n"), Do("silent", true)});
  json script = json::object();
  script[GetParam().method] = json::array({hang, json::array()});
  UseScript(script);
  SetFake(GetParam().deadline, std::to_string(kDeadline.count()) + "ms");
  StartDaemon();
  const auto begin = steady_clock::now();
  const auto chat = client().Say("shop", "", "hello");
  const auto took = duration_cast<milliseconds>(steady_clock::now() - begin);
  EXPECT_EQ(chat.code(), grpc::StatusCode::UNAVAILABLE) << chat.ToString();
  EXPECT_EQ(chat.reason(), "START_TIMEOUT");
  EXPECT_THAT(chat.status.error_message(), HasSubstr(std::string("phase ") + GetParam().method));
  EXPECT_THAT(chat.status.error_message(), HasSubstr("waiting for a login in the browser"));
  EXPECT_GE(took, kDeadline);
  EXPECT_LT(took, kDeadline + milliseconds(1000));

  const auto turn = client().GetTurn(chat.trailers.at("acpd-turn-id"));
  EXPECT_EQ(turn.response.result().outcome(), api::TurnResult::OUTCOME_FAILED);
  EXPECT_EQ(turn.response.result().error().reason(), "START_TIMEOUT");
  EXPECT_TRUE(turn.response.result().error().retryable());
  EXPECT_FALSE(turn.response.result().prompt_sent());
  ASSERT_THAT(log().Pids(), SizeIs(1));
  ASSERT_THAT(log().Events("fork"), SizeIs(1));
  EXPECT_FALSE(IsAlive(log().Pids()[0]));
  EXPECT_FALSE(IsAlive(log().Events("fork")[0].at("child")));

  const auto next = client().Say("shop", chat.trailers.at("acpd-session-id"), "COUNT");
  ASSERT_TRUE(next.ok()) << next.ToString();
  EXPECT_EQ(next.response.session_id(), chat.trailers.at("acpd-session-id"));
  EXPECT_EQ(next.response.result().text(), "1");
  ASSERT_THAT(log().Pids(), SizeIs(2));
  EXPECT_NE(log().Pids()[1], log().Pids()[0]);
}

// Later turns wait behind the hanging set-up; each of them is a try of its own.
TEST_F(E2eTest, TurnsQueuedBehindASilentStartAreNotLost) {
  UseScript({{"initialize", json::array({json::array({Do("silent", true)}), json::array()})}});
  SetFake("start_timeout", std::to_string(kDeadline.count()) + "ms");
  StartDaemon();
  const auto first = client().Chat(ChatOf("shop", "", "one", api::WAIT_FOR_ACCEPTED));
  ASSERT_TRUE(first.ok()) << first.ToString();
  const auto second = client().Say("shop", first.response.session_id(), "two");
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_EQ(second.response.result().text(), "two");
  const auto turn = client().GetTurn(first.response.turn_id());
  EXPECT_EQ(turn.response.result().error().reason(), "START_TIMEOUT");
  EXPECT_THAT(log().Received("session/prompt"), SizeIs(1));
}

}  // namespace
}  // namespace acpd::e2e
