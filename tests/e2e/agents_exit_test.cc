// The agent's output ends in the middle of a turn: the turn ends at once, with what it had said.

#include <chrono>
#include <csignal>
#include <future>

#include "tests/e2e/agents_support.h"

namespace acpd::e2e {
namespace {

using std::chrono::duration_cast;
using std::chrono::steady_clock;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr milliseconds kAtOnce{1000};

struct Ending {
  const char* name;
  json steps;
  int exit_code;  // -1: ended by `signal`
  int signal;
  const char* says;
};

std::ostream& operator<<(std::ostream& out, const Ending& ending) { return out << ending.name; }

class EndingTest : public E2eTest, public ::testing::WithParamInterface<Ending> {};

const Ending kEndings[] = {
    {"ExitsWell", json::array({Do("exit", 0)}), 0, 0, "exit code 0"},
    {"ExitsWithACode", json::array({Do("exit", 7)}), 7, 0, "exit code 7"},
    {"Crashes", json::array({Do("crash", "SEGV")}), -1, SIGSEGV, "signal 11"},
    {"ClosesItsStdoutAndLivesOn", json::array({Do("close_stdout", true), Do("silent", true)}), 0, 0,
     "exit code 0"},
    {"ClosesItsStdoutAndWillNotGo",
     json::array(
         {Do("ignore", "EOF"), Do("ignore", "TERM"), Do("close_stdout", true), Do("silent", true)}),
     -1, SIGKILL, "signal 9"},
};

INSTANTIATE_TEST_SUITE_P(Endings, EndingTest, ::testing::ValuesIn(kEndings),
                         [](const auto& info) { return info.param.name; });

TEST_P(EndingTest, InterruptsTheTurnAtOnceAndEveryCallThatWaits) {
  json steps = json::array(
      {Do("update", "one"), Do("update", "two"), Do("update", "three"), Do("barrier", "end")});
  for (const json& step : GetParam().steps) steps.push_back(step);
  StartDaemon();
  const auto chat = client().Begin("shop", "", Scripted(steps));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string& turn_id = chat.response.turn_id();
  const auto stream = client().SubscribeSession(chat.response.session_id());
  ASSERT_TRUE(stream->WaitFor(SaysText("three")));
  ASSERT_TRUE(barriers().WaitReached("end"));
  auto waiting = std::async(std::launch::async,
                            [&] { return client().GetTurn(turn_id, api::WAIT_FOR_FINISHED); });

  const auto released = steady_clock::now();
  barriers().Release("end");
  const auto end = stream->WaitFor(EndOf(turn_id));
  EXPECT_LT(duration_cast<milliseconds>(steady_clock::now() - released), kAtOnce);
  ASSERT_TRUE(end);
  const api::TurnResult& result = end->turn_ended().result();
  EXPECT_EQ(result.outcome(), api::TurnResult::OUTCOME_INTERRUPTED);
  EXPECT_EQ(result.error().reason(), "AGENT_EXITED");
  EXPECT_THAT(result.error().message(), HasSubstr(GetParam().says));
  EXPECT_TRUE(result.prompt_sent());
  const auto turn = waiting.get();
  ASSERT_TRUE(turn.ok()) << turn.ToString();
  EXPECT_EQ(turn.response.result().outcome(), api::TurnResult::OUTCOME_INTERRUPTED);
  EXPECT_EQ(turn.response.result().text(), "onetwothree");

  const std::vector<Event> events = stream->Stored();
  EXPECT_THAT(TextsOf(events), ElementsAre("one", "two", "three"));
  const size_t exited = IndexOf(events, Is(Event::kWorkerExited));
  ASSERT_LT(exited, IndexOf(events, EndOf(turn_id)));
  const api::WorkerExited& exit = events[exited].worker_exited();
  if (GetParam().signal == 0) {
    EXPECT_EQ(exit.status_case(), api::WorkerExited::kExitCode);
    EXPECT_EQ(exit.exit_code(), GetParam().exit_code);
  } else {
    EXPECT_EQ(exit.signal(), GetParam().signal);
  }
  EXPECT_FALSE(exit.expected());
  ASSERT_THAT(log().Pids(), SizeIs(1));
  EXPECT_FALSE(IsAlive(log().Pids()[0]));
}

TEST_P(EndingTest, LeavesASessionThatTheNextChatResumes) {
  StartDaemon();
  const auto chat = client().Say("shop", "", Scripted(GetParam().steps));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_INTERRUPTED);
  const std::string& session_id = chat.response.session_id();
  EXPECT_EQ(client().GetSession(session_id).response.state(), api::Session::STATE_DORMANT);
  const auto next = client().Say("shop", session_id, "COUNT");
  ASSERT_TRUE(next.ok()) << next.ToString();
  EXPECT_EQ(next.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(next.response.result().text(), "2");
}

}  // namespace
}  // namespace acpd::e2e
