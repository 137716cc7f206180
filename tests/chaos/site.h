#ifndef ACPD_TESTS_CHAOS_SITE_H_
#define ACPD_TESTS_CHAOS_SITE_H_

#include <atomic>
#include <memory>
#include <string>

#include "tests/chaos/dice.h"
#include "tests/chaos/processes.h"
#include "tests/chaos/record.h"
#include "tests/chaos/tally.h"
#include "tests/e2e/harness/client.h"
#include "tests/e2e/harness/daemon.h"
#include "tests/e2e/harness/leftovers.h"
#include "tests/e2e/harness/temp_dir.h"

namespace acpd::chaos {

// The acpd under test with its folder. Its address stays through all restarts. Start, Restart and
// Stop are called by one thread at a time; the rest is thread-safe. Owned by main.
class Site {
 public:
  // `workers`: at most so many at once.
  Site(uint64_t seed, int workers, Record* record, Tally* tally);

  bool Start();
  struct Fault {
    bool kill = true;              // SIGKILL, else SIGTERM
    milliseconds down{0};          // without acpd
    milliseconds stillborn{0};     // not 0: then a start that is killed after that time
    const char* workers = "keep";  // what the new acpd will do with them at SIGTERM
  };
  // False: it did not come up again.
  bool Restart(const Fault& fault);
  // SIGTERM for good.
  void Stop();

  // A client with a connection of its own, which comes back by itself after a restart.
  std::unique_ptr<e2e::Client> Connect();
  // Changes whenever acpd goes or comes.
  uint64_t Life() const { return life_; }
  // Whether acpd was up all the time since `life` was read.
  bool WasUpSince(uint64_t life) const { return life % 2 == 1 && life == life_; }
  // 0: it is down.
  pid_t pid() const { return pid_; }

  const e2e::TempDir& dir() const { return dir_; }
  const Processes& processes() const { return processes_; }
  const e2e::Leftovers& leftovers() const { return leftovers_; }
  std::string AgentLog() const { return dir_ / "agent.log"; }

 private:
  e2e::AgentSpec FakeAgent() const;
  e2e::DaemonOptions MakeOptions(uint64_t seed, int workers) const;
  void GoDown();
  void LiveShortly(milliseconds time);

  Record* record_;
  Tally* tally_;
  e2e::TempDir dir_;
  std::string mark_ = e2e::Leftovers::NewMark();
  Processes processes_;
  e2e::Leftovers leftovers_;
  e2e::Daemon daemon_;
  std::atomic<uint64_t> life_{0};  // odd: up
  std::atomic<pid_t> pid_{0};
};

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_SITE_H_
