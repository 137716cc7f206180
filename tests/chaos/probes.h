#ifndef ACPD_TESTS_CHAOS_PROBES_H_
#define ACPD_TESTS_CHAOS_PROBES_H_

#include <memory>
#include <string>

#include "tests/chaos/actor.h"

namespace acpd::chaos {

// Chats with a session of its own, whose agent nobody kills: it must not feel the others (I4).
class ControlCaller : public Actor {
 public:
  ControlCaller(const Stage& stage, int number);
  static constexpr char kProject[] = "control";

 private:
  void Run() override;
  void ChatOnce();

  std::unique_ptr<e2e::Client> client_;
  std::string session_id_;
  int chats_ = 0;
};

// Asks for acpd's health: it answers within its deadline whenever acpd is up (I6).
class HealthProbe : public Actor {
 public:
  using Actor::Actor;

 private:
  void Run() override;
};

// Looks at acpd's memory (I5) and descriptors.
class MemoryProbe : public Actor {
 public:
  using Actor::Actor;
  static constexpr uint64_t kMostKib = 512 * 1024;

 private:
  void Run() override;
};

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_PROBES_H_
