// Agents that are started at the same time inherit nothing of each other or of acpd.

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "tests/e2e/agents_support.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr size_t kAgents = 50;
constexpr size_t kStopped = 5;
constexpr int64_t kSoon = 100'000'000;  // ns

// The targets of a process' descriptors, by number.
std::map<int, std::string> DescriptorsOf(pid_t pid) {
  std::map<int, std::string> descriptors;
  std::error_code error;
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string target = std::filesystem::read_symlink(entry.path(), error);
    if (!error) descriptors[std::stoi(entry.path().filename())] = target;
  }
  return descriptors;
}

class ManyAgentsTest : public E2eTest {
 protected:
  void StartAgents() {
    options().extra["limits"] = {{"max_workers_per_project", kAgents}};
    StartDaemon();
    // Accepted one after the other, started all at the same time.
    for (size_t i = 0; i < kAgents; ++i) {
      const auto chat = client().Chat(ChatOf("shop", "", "hello", api::WAIT_FOR_ACCEPTED));
      ASSERT_TRUE(chat.ok()) << chat.ToString();
      chats_.push_back(chat.response);
    }
    for (const api::ChatResponse& chat : chats_) {
      const auto turn = client().GetTurn(chat.turn_id(), api::WAIT_FOR_FINISHED);
      ASSERT_TRUE(turn.ok()) << turn.ToString();
      ASSERT_EQ(turn.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED)
          << turn.ToString();
    }
    ASSERT_THAT(log().Pids(), SizeIs(kAgents));
  }

  // The time from the agent's last message, session/close, to the end of its stdin.
  int64_t TimeToEof(const api::ChatResponse& chat) {
    const auto closed = client().CloseSession(chat.session_id());
    EXPECT_TRUE(closed.ok()) << closed.ToString();
    int64_t asked = 0, ended = 0, pid = 0;
    for (const json& entry : log().Entries()) {
      if (entry.at("event") == "in" &&
          entry.at("line").get<std::string>().find("session/close") != std::string::npos &&
          entry.at("line").get<std::string>().find(AgentSessionOf(chat)) != std::string::npos) {
        asked = entry.at("ns");
        pid = entry.at("pid");
      }
      if (entry.at("event") == "eof" && entry.at("pid") == pid) ended = entry.at("ns");
    }
    EXPECT_NE(asked, 0) << "the agent was not asked to close its session";
    EXPECT_NE(ended, 0) << "the agent saw no end of its stdin";
    return ended - asked;
  }

  std::string AgentSessionOf(const api::ChatResponse& chat) {
    return client().GetSession(chat.session_id()).response.agent_session_id();
  }

  std::vector<api::ChatResponse> chats_;
};

TEST_F(ManyAgentsTest, HaveTheirThreePipesAndNothingElse) {
  StartAgents();
  std::map<std::string, int> owners;  // of each pipe
  for (const json& start : log().Events("start")) {
    const json& fds = start.at("fds");
    EXPECT_THAT(fds, SizeIs(3)) << fds;
    for (const char* number : {"0", "1", "2"}) {
      ASSERT_TRUE(fds.contains(number)) << fds;
      const std::string target = fds.at(number);
      EXPECT_THAT(target, HasSubstr("pipe:["));
      EXPECT_EQ(++owners[target], 1) << target << " belongs to two agents";
    }
  }
  EXPECT_THAT(owners, SizeIs(3 * kAgents));
}

TEST_F(ManyAgentsTest, EachSeesTheEndOfItsStdinWhileTheOthersRun) {
  StartAgents();
  std::vector<int64_t> times;
  for (size_t i = 0; i < kStopped; ++i) times.push_back(TimeToEof(chats_[i * 7]));
  for (const int64_t time : times) EXPECT_GT(time, 0);
  // The best of them, since a loaded machine delays one or the other; a leaked pipe end delays all,
  // until the agent is killed.
  EXPECT_LT(*std::min_element(times.begin(), times.end()), kSoon);
  size_t alive = 0;
  for (const int pid : log().Pids()) alive += IsAlive(pid) ? 1 : 0;
  EXPECT_EQ(alive, kAgents - kStopped);
}

TEST_F(ManyAgentsTest, WorkersHoldNothingOfAcpdEither) {
  StartAgents();
  const std::map<int, std::string> acpd = DescriptorsOf(daemon().pid());
  std::vector<std::string> own;  // sockets, the store, the log
  for (const auto& [number, target] : acpd) {
    if (number > 2 && !target.starts_with("anon_inode:") && target != "/dev/null") {
      own.push_back(target);
    }
  }
  ASSERT_THAT(own, Not(::testing::IsEmpty()));
  for (const int pid : log().Pids()) {
    const std::map<int, std::string> worker = DescriptorsOf(ParentOf(pid));
    ASSERT_THAT(worker, Not(::testing::IsEmpty()));
    for (const auto& [number, target] : worker) {
      EXPECT_EQ(std::count(own.begin(), own.end(), target), 0) << number << ": " << target;
    }
  }
}

}  // namespace
}  // namespace acpd::e2e
