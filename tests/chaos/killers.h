#ifndef ACPD_TESTS_CHAOS_KILLERS_H_
#define ACPD_TESTS_CHAOS_KILLERS_H_

#include <string>

#include "tests/chaos/actor.h"

namespace acpd::chaos {

// Kills a random process of one program again and again: agents, or workers.
class ProcessKiller : public Actor {
 public:
  struct Options {
    std::string program;
    std::string counted_as;
    milliseconds shortest{0}, longest{0};  // between two kills
  };
  ProcessKiller(const Stage& stage, int number, Options options)
      : Actor(stage, number), options_(std::move(options)) {}

 private:
  void Run() override;

  const Options options_;
};

// Kills and stops acpd, and starts it again. The only one who does while the run lasts.
class DaemonKiller : public Actor {
 public:
  using Actor::Actor;
  // After Join: acpd runs.
  bool came_back() const { return came_back_; }

 private:
  void Run() override;

  bool came_back_ = true;
};

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_KILLERS_H_
