#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "worker_test_base.h"

// A later acpd comes to a worker of an earlier one: alive, gone, or just leaving.
namespace acpd::acp {
namespace {

constexpr char kGone[] = "its worker is gone, or its socket is (was runtime_dir emptied?)";

using std::chrono::steady_clock;
using AttachResult = absl::StatusOr<std::unique_ptr<WorkerLink>>;

class WorkerAdoptTest : public WorkerTest {
 protected:
  // The launcher of the later acpd.
  std::unique_ptr<Launcher> later_ = MakeLauncher(io_.get_executor(), pool_, program_);

  AttachResult TryAdopt(const Started& worker, int64_t pid, uint64_t ticks,
                        milliseconds patience = kPatience) {
    return Await(
        later_->Attach(worker.socket, WorkerId(), pid, ticks, steady_clock::now() + patience));
  }
  AttachResult TryAdopt(const Started& worker) {
    return TryAdopt(worker, worker.pid, worker.start_ticks);
  }
  std::unique_ptr<Peer> Adopt(const Started& worker, uint64_t generation, uint64_t from) {
    AttachResult link = TryAdopt(worker);
    if (!link.ok()) throw std::runtime_error(link.status().ToString());
    auto peer = std::make_unique<Peer>(io_.get_executor(), *std::move(link));
    peer->link().SendAttach({generation, from, 34u << 20});
    return peer;
  }
  // Of the worker that was started last.
  std::string WorkerId() const {
    return std::filesystem::path(folder_).filename().string() + "-" +
           std::to_string(next_socket_ - 1);
  }
  // It leaves as soon as nobody is attached.
  LaunchSpec Impatient(std::vector<std::string> args, uint32_t orphan_ms = 200) {
    LaunchSpec spec = Spec(std::move(args));
    spec.orphan_timeout_ms = orphan_ms;
    return spec;
  }
  void Leave(Started& worker) {
    worker.peer->link().Close();
    WaitForGone(worker.pid);
  }
};

TEST_F(WorkerAdoptTest, ALivingWorkerGoesOn) {
  Started worker = StartVerb({"echo"});
  worker.peer->link().SendStdin(1, "before");
  WaitFor("the echo", [&] { return worker.peer->seen().out == "before\n"; });
  worker.peer->link().Close();
  auto later = Adopt(worker, 2, 7);
  later->link().SendStdin(2, "after");
  WaitFor("the echo", [&] { return later->seen().out == "after\n"; });
  EXPECT_EQ(later->seen().hello->last_stdin_done, 1u);
  EXPECT_EQ(later->seen().hello->agent_pid, worker.peer->seen().hello->agent_pid);
  EXPECT_EQ(later->seen().out_start, 7u);
  worker.peer = std::move(later);
  Finish(worker);
}

TEST_F(WorkerAdoptTest, AnotherProcessIsNotTheWorker) {
  Started worker = StartVerb({"echo"});
  for (const auto& [pid, ticks] : {std::pair{worker.pid + 1, worker.start_ticks},
                                   std::pair{worker.pid, worker.start_ticks + 1}}) {
    const AttachResult link = TryAdopt(worker, pid, ticks);
    EXPECT_EQ(link.status().code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(link.status().message(), "its worker is gone and another process listens there");
  }
  EXPECT_EQ(TryAdopt(worker, 0, 0).status().message(), "its worker is gone");
  worker.peer->link().SendStdin(1, "unharmed");
  WaitFor("the echo", [&] { return worker.peer->seen().out == "unharmed\n"; });
  Finish(worker);
}

TEST_F(WorkerAdoptTest, AWorkerThatDiedIsGone) {
  Started worker = StartVerb({"echo"});
  kill(static_cast<pid_t>(worker.pid), SIGKILL);
  WaitForGone(worker.pid);
  EXPECT_TRUE(std::filesystem::exists(worker.socket));
  EXPECT_EQ(TryAdopt(worker).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(TryAdopt(worker).status().message(), kGone);
  std::filesystem::remove(worker.socket);
  EXPECT_EQ(TryAdopt(worker).status().message(), kGone);
  WaitForGone(worker.peer->seen().hello->agent_pid);
}

// Connects until the socket takes no more.
std::vector<int> FillQueue(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  std::vector<int> fds;
  do {
    fds.push_back(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  } while (fds.size() < 1000 &&
           connect(fds.back(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  EXPECT_EQ(errno, EAGAIN);
  return fds;
}

TEST_F(WorkerAdoptTest, AFullQueueIsWaitedForUntilTheDeadline) {
  Started worker = StartVerb({"echo"});
  kill(static_cast<pid_t>(worker.pid), SIGSTOP);
  const std::vector<int> queue = FillQueue(worker.socket);
  const AttachResult in_vain = TryAdopt(worker, worker.pid, worker.start_ticks, milliseconds(100));
  EXPECT_EQ(in_vain.status().message(), "its worker takes no connection");
  for (const int fd : queue) close(fd);
  kill(static_cast<pid_t>(worker.pid), SIGCONT);
  worker.peer = Adopt(worker, 2, 0);
  WaitFor("HELLO", [&] { return worker.peer->seen().hello.has_value(); });
  Finish(worker);
}

TEST_F(WorkerAdoptTest, AWorkerWhoseTimePassesWhileOneAttachesIsServed) {
  Started worker = Start(Impatient({"echo"}));
  worker.peer->link().SendStdin(1, "kept");
  WaitFor("the echo", [&] { return !worker.peer->seen().out.empty(); });
  kill(static_cast<pid_t>(worker.pid), SIGSTOP);
  worker.peer->link().Close();
  auto later = Adopt(worker, 2, 0);  // it is in the queue of the socket
  kill(static_cast<pid_t>(worker.pid), SIGCONT);
  WaitFor("what was kept", [&] { return later->seen().out == "kept\n"; });
  worker.peer = std::move(later);
  Finish(worker);
  EXPECT_FALSE(std::filesystem::exists(worker.socket + ".spool"));
}

class LeavingWorkerTest : public WorkerAdoptTest {
 protected:
  // A worker whose agent has ended and whose time is up at its next step, with whoever connects
  // before Go still in its queue.
  Started Stopped() {
    Started worker = Start(Impatient({"exit", "3"}, 1));
    WaitForExit(worker);
    kill(static_cast<pid_t>(worker.pid), SIGSTOP);
    worker.peer->link().Close();
    return worker;
  }
  void Go(const Started& worker) { kill(static_cast<pid_t>(worker.pid), SIGCONT); }
};

TEST_F(LeavingWorkerTest, WhoConnectsWhileTheSpoolIsWrittenIsServed) {
  Started worker = Stopped();
  auto later = Adopt(worker, 2, 0);
  Go(worker);
  WaitFor("EXIT", [&] { return later->seen().exit.has_value(); });
  EXPECT_EQ(later->seen().out, "bye\n");
  later->link().SendAckExit();
  WaitForGone(worker.pid);
  EXPECT_FALSE(std::filesystem::exists(worker.socket));
  EXPECT_FALSE(std::filesystem::exists(worker.socket + ".spool")) << "everything was fetched";
}

TEST_F(LeavingWorkerTest, TheSpoolIsThereWhenThatOneLeavesAgain) {
  Started worker = Stopped();
  auto second = Adopt(worker, 2, 0);
  second->Close();
  Go(worker);
  WaitForGone(worker.pid);
  EXPECT_FALSE(std::filesystem::exists(worker.socket));
  auto third = Adopt(worker, 3, 0);
  WaitFor("EXIT in the spool", [&] { return third->seen().exit.has_value(); });
  EXPECT_EQ(third->seen().out, "bye\n");
}

TEST_F(WorkerAdoptTest, AWorkerThatCannotWriteItsSpoolStays) {
  Started worker = Start(Impatient({"exit", "3"}, 50));
  WaitForExit(worker);
  const std::string in_the_way = worker.socket + ".spool.new";
  std::filesystem::create_directory(in_the_way);
  worker.peer->link().Close();
  // Its time passes a few times over.
  const SteadyTime passed = steady_clock::now() + milliseconds(250);
  WaitFor("its time", [&] { return steady_clock::now() > passed || !IsAlive(worker.pid); });
  EXPECT_TRUE(IsAlive(worker.pid));
  auto later = Adopt(worker, 2, 0);
  WaitFor("EXIT", [&] { return later->seen().exit.has_value(); });
  EXPECT_EQ(later->seen().out, "bye\n");
  later->Close();
  std::filesystem::remove(in_the_way);
  WaitForGone(worker.pid);
  EXPECT_TRUE(std::filesystem::exists(worker.socket + ".spool"));
}

TEST_F(WorkerAdoptTest, AWorkerWhoseFolderIsGoneLeaves) {
  Started worker = Start(Impatient({"exit", "3"}, 50));
  WaitForExit(worker);
  std::filesystem::remove_all(folder_);
  worker.peer->link().Close();
  WaitForGone(worker.pid);
}

}  // namespace
}  // namespace acpd::acp
