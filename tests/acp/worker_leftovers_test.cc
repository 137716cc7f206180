#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acp/process_marks.h"
#include "acp/process_stat.h"
#include "worker_test_base.h"

namespace acpd::acp {
namespace {

using std::chrono::steady_clock;

// A process of the test's own with one variable in its environment.
class Bystander {
 public:
  explicit Bystander(std::string variable) : variable_(std::move(variable)) {
    char* argv[] = {const_cast<char*>("sleep"), const_cast<char*>("1000"), nullptr};
    char* env[] = {variable_.data(), nullptr};
    EXPECT_EQ(posix_spawn(&pid_, "/bin/sleep", nullptr, nullptr, argv, env), 0);
  }
  ~Bystander() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  std::string variable_;
  pid_t pid_ = 0;
};

class WorkerLeftoversTest : public WorkerTest {
 protected:
  SteadyTime Soon() { return steady_clock::now() + kPatience; }
};

TEST_F(WorkerLeftoversTest, ALostWorkersTreeIsKilledAndNoOneElse) {
  LaunchSpec spec = Spec({"stubborn"});
  const std::string mark = "ACPD_WORKER_ID=" + spec.worker_id;
  Started worker = Start(spec);
  WaitFor("the tree", [&] { return worker.peer->seen().out.ends_with("ready\n"); });
  Bystander longer_id(mark + "0"), other_name("X" + mark), inside("VALUE=" + mark);
  Started neighbour = StartVerb({"echo"});

  kill(static_cast<pid_t>(worker.pid), SIGKILL);
  WaitFor("the end of the link", [&] { return !worker.peer->seen().end.ok(); });
  EXPECT_EQ(worker.peer->seen().end.code(), absl::StatusCode::kUnavailable);
  // The agent went with its worker; what it had started did not.
  WaitForGone(worker.peer->seen().hello->agent_pid);
  std::vector<std::string> lines = worker.peer->seen().Lines();
  lines.pop_back();
  for (const std::string& pid : lines) EXPECT_TRUE(IsAlive(std::stoll(pid)));

  EXPECT_TRUE(
      Await(launcher_->KillLeftovers(spec.worker_id, worker.pid, worker.start_ticks, Soon())));
  for (const std::string& pid : lines) EXPECT_FALSE(IsAlive(std::stoll(pid)));
  for (const Bystander* bystander : {&longer_id, &other_name, &inside}) {
    EXPECT_TRUE(IsAlive(bystander->pid()));
  }
  EXPECT_TRUE(IsAlive(neighbour.pid));
  Finish(neighbour);
}

TEST_F(WorkerLeftoversTest, ALivingWorkerAndItsTreeAreKilledTogether) {
  LaunchSpec spec = Spec({"stubborn"});
  Started worker = Start(spec);
  WaitFor("the tree", [&] { return worker.peer->seen().out.ends_with("ready\n"); });
  EXPECT_TRUE(Await(launcher_->KillLeftovers(spec.worker_id, 0, 0, Soon())));
  EXPECT_FALSE(IsAlive(worker.pid));
  EXPECT_FALSE(IsAlive(worker.peer->seen().hello->agent_pid));
  WaitFor("the worker to be reaped", [&] { return !ReadProcessStat(worker.pid).has_value(); });
}

TEST_F(WorkerLeftoversTest, APidIsKilledOnlyWithItsStartTime) {
  Bystander process("A=1");
  const uint64_t ticks = ReadProcessStat(process.pid())->start_ticks;
  EXPECT_TRUE(Await(launcher_->KillLeftovers("nobody-has-this", process.pid(), ticks + 1, Soon())));
  EXPECT_TRUE(Await(launcher_->KillLeftovers("nobody-has-this", process.pid(), 0, Soon())));
  EXPECT_TRUE(IsAlive(process.pid()));
  EXPECT_TRUE(Await(launcher_->KillLeftovers("nobody-has-this", process.pid(), ticks, Soon())));
  EXPECT_FALSE(IsAlive(process.pid()));
}

TEST_F(WorkerLeftoversTest, AnEmptyIdMarksNothing) {
  Bystander process("ACPD_WORKER_ID=");
  EXPECT_TRUE(Await(launcher_->KillLeftovers("", 0, 0, Soon())));
  EXPECT_TRUE(IsAlive(process.pid()));
}

TEST_F(WorkerLeftoversTest, TheCallerNeverKillsItself) {
  const uint64_t ticks = ReadProcessStat(getpid())->start_ticks;
  EXPECT_TRUE(KillMarked("nobody-has-this", getpid(), ticks, Soon()));
  // A process that carries the mark asks for its own to be killed, and lives to tell.
  std::string id = "self-" + std::to_string(getpid());
  std::string variable = "ACPD_WORKER_ID=" + id;
  char* argv[] = {const_cast<char*>(ACPD_WORKER_TEST_AGENT), const_cast<char*>("kill-marked"),
                  id.data(), nullptr};
  char* env[] = {variable.data(), nullptr};
  pid_t pid = 0;
  ASSERT_EQ(posix_spawn(&pid, argv[0], nullptr, nullptr, argv, env), 0);
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

TEST_F(WorkerLeftoversTest, WhatCannotBeDoneInTimeIsSaid) {
  LaunchSpec spec = Spec({"echo"});
  Started worker = Start(spec);
  EXPECT_FALSE(Await(launcher_->KillLeftovers(spec.worker_id, worker.pid, worker.start_ticks,
                                              steady_clock::now() - milliseconds(1))));
  WaitForGone(worker.pid);
}

}  // namespace
}  // namespace acpd::acp
