#include <signal.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <filesystem>
#include <fstream>

#include "worker_test_base.h"

// Workers, sockets and spools that the store does not know.
namespace acpd::acp {
namespace {

using std::chrono::steady_clock;

awaitable<bool> Ended(awaitable<void> work) {
  co_await std::move(work);
  co_return true;
}

class WorkerStraysTest : public WorkerTest {
 protected:
  // The launcher of a later acpd: it has started none of the workers.
  std::unique_ptr<Launcher> later_ = MakeLauncher(io_.get_executor(), pool_, program_);

  void EndStrays(std::vector<std::string> known, milliseconds patience = kPatience) {
    Await(Ended(later_->EndStrays(folder_, std::move(known), 5, steady_clock::now() + patience)));
  }
  void Touch(const std::string& name) { std::ofstream(folder_ + "/" + name) << "x"; }
  void LeaveSocket(const std::string& name) {
    asio::local::stream_protocol::acceptor nobody(io_);
    nobody.open();
    nobody.bind(asio::local::stream_protocol::endpoint(folder_ + "/" + name));
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(WorkerStraysTest, TheyAreEndedWithTheirTreesAndTheOthersAreNot) {
  Started known = StartVerb({"echo"});
  std::vector<Started> strays;
  strays.push_back(StartVerb({"stubborn"}));
  strays.push_back(StartVerb({"burst", "5000000"}));  // more than it is let keep
  strays.push_back(StartVerb({"exit", "0"}));
  WaitFor("the tree", [&] { return strays[0].peer->seen().out.ends_with("ready\n"); });
  std::vector<int64_t> agents;
  for (Started& stray : strays) {
    agents.push_back(stray.peer->seen().hello->agent_pid);
    stray.peer->Close();
  }
  EndStrays({known.socket});
  for (size_t i = 0; i < strays.size(); ++i) {
    WaitForGone(strays[i].pid);
    EXPECT_FALSE(IsAlive(agents[i]));
  }
  EXPECT_EQ(Files(), std::vector<std::string>{"0"});
  known.peer->link().SendStdin(1, "unharmed");
  WaitFor("the echo", [&] { return known.peer->seen().out == "unharmed\n"; });
  Finish(known);
}

TEST_F(WorkerStraysTest, FilesThatBelongToNobodyAreRemoved) {
  Started known = StartVerb({"echo"});  // socket 0
  for (const char* name : {"a", "dead"}) LeaveSocket(name);
  for (const char* name : {"0.spool", "0.spool.new", "dead.spool.new", "dead.spool", "b.spool",
                           "b.spool.new", "notes", "c.txt"}) {
    Touch(name);
  }
  EndStrays({known.socket, folder_ + "/dead"});
  EXPECT_EQ(Files(), (std::vector<std::string>{"0", "0.spool", "0.spool.new", "c.txt", "dead",
                                               "dead.spool", "notes"}))
      << "the worker that lives may be writing its spool";
  Finish(known);
}

TEST_F(WorkerStraysTest, WorkersThatWereStartedMeanwhileAreNoStrays) {
  Started worker = StartVerb({"echo"});
  Await(Ended(launcher_->EndStrays(folder_, {}, 5, steady_clock::now() + kPatience)));
  worker.peer->link().SendStdin(1, "unharmed");
  WaitFor("the echo", [&] { return worker.peer->seen().out == "unharmed\n"; });
  Finish(worker);
}

TEST_F(WorkerStraysTest, AWorkerOfALaterGenerationIsLeftAlone) {
  Started worker = StartVerb({"echo"});
  worker.peer = Attach(worker.socket, 6, 0);
  WaitFor("HELLO", [&] { return worker.peer->seen().hello.has_value(); });
  EndStrays({});
  worker.peer->link().SendStdin(1, "unharmed");
  WaitFor("the echo", [&] { return worker.peer->seen().out == "unharmed\n"; });
  Finish(worker);
}

TEST_F(WorkerStraysTest, OneThatDoesNotAnswerIsNotWaitedForBeyondTheDeadline) {
  Started stuck = StartVerb({"echo"});
  kill(static_cast<pid_t>(stuck.pid), SIGSTOP);
  const SteadyTime begin = steady_clock::now();
  EndStrays({}, milliseconds(200));
  EXPECT_LT(steady_clock::now() - begin, kPatience / 2);
  EXPECT_TRUE(IsAlive(stuck.pid));
  kill(static_cast<pid_t>(stuck.pid), SIGCONT);
  EndStrays({});
  WaitForGone(stuck.pid);
  EXPECT_TRUE(Files().empty());
}

TEST_F(WorkerStraysTest, AFolderThatIsNotThereHasNone) {
  std::filesystem::remove_all(folder_);
  EndStrays({});
}

}  // namespace
}  // namespace acpd::acp
