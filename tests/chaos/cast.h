#ifndef ACPD_TESTS_CHAOS_CAST_H_
#define ACPD_TESTS_CHAOS_CAST_H_

#include <memory>
#include <vector>

#include "tests/chaos/answerer.h"
#include "tests/chaos/killers.h"
#include "tests/chaos/reader.h"

namespace acpd::chaos {

// All actors of a run. Owned by main.
class Cast {
 public:
  explicit Cast(const Stage& stage);

  void Start();
  // Waits for all of them, after the stage's stop signal. False: acpd did not come back.
  bool Join();
  // After Join: closes all connections.
  void Leave();
  const std::vector<std::unique_ptr<Reader>>& readers() const { return readers_; }

 private:
  void AddReaders(const Stage& stage, Answerer* answerer);
  void AddKillers(const Stage& stage);
  int NextNumber() { return ++number_; }

  int number_ = 0;
  std::vector<std::unique_ptr<Actor>> actors_;  // but readers
  std::vector<std::unique_ptr<Reader>> readers_;
  DaemonKiller* daemon_killer_ = nullptr;
};

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_CAST_H_
