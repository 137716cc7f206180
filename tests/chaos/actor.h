#ifndef ACPD_TESTS_CHAOS_ACTOR_H_
#define ACPD_TESTS_CHAOS_ACTOR_H_

#include <thread>

#include "tests/chaos/dice.h"
#include "tests/chaos/record.h"
#include "tests/chaos/site.h"
#include "tests/chaos/slots.h"
#include "tests/chaos/stop_signal.h"
#include "tests/chaos/tally.h"

namespace acpd::chaos {

// What all actors share. Owned by main; outlives them.
struct Stage {
  uint64_t seed = 0;
  Site* site = nullptr;
  Record* record = nullptr;
  Tally* tally = nullptr;
  Slots* slots = nullptr;
  StopSignal* stop = nullptr;
};

// Somebody who uses or breaks acpd, on a thread of its own, until the stage's stop signal.
class Actor {
 public:
  // `number` differs for each actor: its decisions hang on it.
  Actor(const Stage& stage, int number) : stage_(stage), dice_(stage.seed, number) {}
  virtual ~Actor() = default;
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;

  void Start() {
    thread_ = std::thread([this] { Run(); });
  }
  void Join() { thread_.join(); }

 protected:
  virtual void Run() = 0;

  const Stage stage_;
  Dice dice_;

 private:
  std::thread thread_;
};

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_ACTOR_H_
