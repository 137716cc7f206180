#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "acp/process_stat.h"
#include "worker_test_base.h"

namespace acpd::acp {
namespace {

class WorkerStartTest : public WorkerTest {
 protected:
  // HELLO and EXIT of an agent that cannot be started.
  void ExpectNotStarted(LaunchSpec spec, int error, const std::string& text) {
    Started worker = Start(std::move(spec));
    const Hello& hello = *worker.peer->seen().hello;
    EXPECT_EQ(hello.agent_pid, 0);
    EXPECT_EQ(hello.start_errno, error);
    EXPECT_NE(hello.start_error.find(text), std::string::npos) << hello.start_error;
    EXPECT_TRUE(hello.agent_exited);
    WaitForExit(worker);
    EXPECT_FALSE(worker.peer->seen().exit->signaled);
    EXPECT_EQ(worker.peer->seen().exit->value, 127);
    EXPECT_EQ(worker.peer->seen().exit->end_offset, 0u);
    Finish(worker);
  }

  size_t OpenFds() {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
  }
};

TEST_F(WorkerStartTest, AnAgentThatCannotBeStartedIsToldWithItsReason) {
  LaunchSpec missing = Spec({});
  missing.argv = {"no-such-program-anywhere"};
  ExpectNotStarted(missing, ENOENT, "cannot run no-such-program-anywhere: No such file");

  LaunchSpec not_executable = Spec({});
  std::ofstream(folder_ + "/plain") << "text";
  not_executable.argv = {folder_ + "/plain"};
  ExpectNotStarted(not_executable, EACCES, "Permission denied");

  LaunchSpec bad_folder = Spec({"echo"});
  bad_folder.cwd = folder_ + "/nowhere";
  ExpectNotStarted(bad_folder, ENOENT, "cannot enter the folder " + folder_ + "/nowhere");

  LaunchSpec nothing = Spec({});
  nothing.argv.clear();
  ExpectNotStarted(nothing, EINVAL, "no command");
}

TEST_F(WorkerStartTest, TheProgramIsLookedUpInThePathOfTheSpec) {
  std::filesystem::create_directory(folder_ + "/bin");
  std::ofstream(folder_ + "/bin/own-agent") << "#!/bin/sh\npwd; echo \"$GREETING,$1\"; exec cat\n";
  std::filesystem::permissions(folder_ + "/bin/own-agent", std::filesystem::perms::owner_all);
  LaunchSpec spec = Spec({});
  spec.argv = {"own-agent", "an argument"};
  spec.env[0].second = folder_ + "/bin:/usr/bin:/bin";
  Started worker = Start(spec);
  WaitFor("its words", [&] { return worker.peer->seen().Lines().size() == 2; });
  EXPECT_EQ(worker.peer->seen().out, folder_ + "\nhello,an argument\n");
  Finish(worker);
}

TEST_F(WorkerStartTest, TheAgentStartsWithSignalsAsTheSystemHasThem) {
  LaunchSpec spec = Spec({"signals"});
  // A stale mark, as when acpd itself runs below an agent, is replaced.
  spec.env.emplace_back("ACPD_WORKER_ID", "another");
  Started worker = Start(spec);
  WaitFor("its words", [&] { return !worker.peer->seen().Lines().empty(); });
  EXPECT_EQ(worker.peer->seen().out, "death 9 leader 1 mark " + spec.worker_id + "\n");
  Finish(worker);
}

TEST_F(WorkerStartTest, TheSocketIsOnlyOurs) {
  Started worker = StartVerb({"echo"});
  struct stat info {};
  ASSERT_EQ(stat(worker.socket.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  Finish(worker);
}

TEST_F(WorkerStartTest, TheWorkerSurvivesTheSignalsOfATerminal) {
  Started worker = StartVerb({"echo"});
  EXPECT_EQ(getsid(static_cast<pid_t>(worker.pid)), worker.pid);
  for (int number : {SIGHUP, SIGINT, SIGTERM, SIGPIPE}) {
    ASSERT_EQ(kill(static_cast<pid_t>(worker.pid), number), 0);
  }
  worker.peer->link().SendStdin(1, "still here");
  WaitFor("the echo", [&] { return worker.peer->seen().out == "still here\n"; });
  Finish(worker);
}

TEST_F(WorkerStartTest, ManyAtOnceLeakNoFdAndLeaveNoZombie) {
  constexpr int kWorkers = kSanitized ? 20 : 50;
  Started first = StartVerb({"fds"});  // what the loop opens once is open now
  Finish(first);
  first.peer.reset();
  // Reaped, so that the fd it was watched by is not counted as open before.
  WaitFor("the first to be reaped", [] { return OwnChildren().empty(); });
  io_.poll();
  // A fd that is not close-on-exec, as a careless library may have one.
  int careless = open("/dev/null", O_RDONLY);
  const size_t fds_before = OpenFds();
  std::vector<Started> workers(kWorkers);
  int launched = 0;
  for (int i = 0; i < kWorkers; ++i) {
    LaunchSpec spec = Spec({"fds"});
    workers[i].socket = folder_ + "/" + std::to_string(next_socket_++);
    asio::co_spawn(
        io_,
        launcher_->Launch(spec, workers[i].socket, std::chrono::steady_clock::now() + kPatience),
        [&, i](std::exception_ptr, absl::StatusOr<LaunchedWorker> result) {
          ++launched;
          ASSERT_TRUE(result.ok()) << result.status();
          workers[i].pid = result->pid;
          workers[i].peer = std::make_unique<Peer>(io_.get_executor(), std::move(result->link));
          workers[i].peer->link().SendAttach({1, 0, 1 << 20});
        });
  }
  WaitFor("all launches", [&] { return launched == kWorkers; });
  for (Started& worker : workers) {
    ASSERT_NE(worker.peer, nullptr);
    WaitFor("its fds", [&] { return !worker.peer->seen().Lines().empty(); });
    EXPECT_EQ(worker.peer->seen().out, "0 1 2 \n");
    // Closing its stdin is seen at once although the others run: nobody else holds the other end.
    worker.peer->link().SendStop(milliseconds(kPatience));
    WaitForExit(worker);
    EXPECT_FALSE(worker.peer->seen().exit->signaled);
    EXPECT_EQ(worker.peer->seen().exit->value, 0);
  }
  for (Started& worker : workers) Finish(worker);
  WaitFor("the workers to be reaped", [] { return OwnChildren().empty(); });
  workers.clear();
  WaitFor("the fds to be closed", [&] { return OpenFds() <= fds_before; });
  close(careless);
}

TEST_F(WorkerStartTest, AWorkerThatCannotListenFailsTheLaunchFast) {
  LaunchSpec spec = Spec({"echo"});
  std::ofstream(folder_ + "/taken") << "something else";
  const auto before = std::chrono::steady_clock::now();
  auto launched = Await(launcher_->Launch(spec, folder_ + "/taken", before + kPatience));
  EXPECT_EQ(launched.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(launched.status().message().find("exited with code 1"), std::string::npos)
      << launched.status();
  EXPECT_LT(std::chrono::steady_clock::now() - before, kPatience / 4);
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/taken"));
}

TEST_F(WorkerStartTest, ALaunchThatCannotSucceedSaysWhy) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  auto too_long =
      Await(launcher_->Launch(Spec({"echo"}), "/tmp/" + std::string(110, 'x'), deadline));
  EXPECT_EQ(too_long.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(too_long.status().message().find("too long"), std::string::npos);

  auto none = MakeLauncher(io_.get_executor(), pool_, folder_ + "/no-worker");
  auto missing = Await(none->Launch(Spec({"echo"}), folder_ + "/s", deadline));
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(missing.status().message().find("No such file"), std::string::npos);
}

TEST_F(WorkerStartTest, AWorkerThatNeverListensIsKilledAtTheDeadline) {
  std::ofstream(folder_ + "/mute-worker") << "#!/bin/sh\nexec sleep 1000\n";
  std::filesystem::permissions(folder_ + "/mute-worker", std::filesystem::perms::owner_all);
  auto launcher = MakeLauncher(io_.get_executor(), pool_, folder_ + "/mute-worker");
  auto launched = Await(launcher->Launch(Spec({"echo"}), folder_ + "/s",
                                         std::chrono::steady_clock::now() + milliseconds(200)));
  EXPECT_EQ(launched.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(launched.status().message().find("did not listen in time"), std::string::npos);
  WaitFor("its end", [] { return OwnChildren().empty(); });
}

TEST_F(WorkerStartTest, ALongLaunchSpecArrivesWhole) {
  LaunchSpec spec = Spec({"echo"});
  // Longer than a pipe; one variable may have at most 128 KiB.
  for (int i = 0; i < 8; ++i) {
    spec.env.emplace_back("LONG_" + std::to_string(i), std::string(100'000, 'v'));
  }
  Started worker = Start(spec);
  EXPECT_EQ(worker.peer->seen().hello->spec, spec);
  EXPECT_TRUE(IsAlive(worker.peer->seen().hello->agent_pid));
  Finish(worker);
}

TEST_F(WorkerStartTest, WithoutALaunchSpecTheProgramSaysSo) {
  const std::string command = program_ + " " + folder_ + "/s 2>&1 3</dev/null";
  FILE* out = popen(command.c_str(), "re");
  ASSERT_NE(out, nullptr);
  char line[256] = {};
  EXPECT_NE(fgets(line, sizeof line, out), nullptr);
  EXPECT_NE(std::string(line).find("launch spec"), std::string::npos) << line;
  EXPECT_EQ(WEXITSTATUS(pclose(out)), 1);
}

}  // namespace
}  // namespace acpd::acp
