#ifndef ACPD_TESTS_CHAOS_SLOTS_H_
#define ACPD_TESTS_CHAOS_SLOTS_H_

#include <mutex>
#include <string>
#include <vector>

#include "tests/chaos/dice.h"

namespace acpd::chaos {

// The sessions that the actors share: each slot has at most one at a time, since every session
// costs an agent's process. Thread-safe.
class Slots {
 public:
  explicit Slots(int count) : slots_(static_cast<size_t>(count)) {}

  static std::string Project(size_t slot) { return "project-" + std::to_string(slot % kProjects); }
  static constexpr size_t kProjects = 5;

  // Draws a slot to chat in; its session_id is empty when the caller is to make a new session and
  // Release it afterwards. False: another caller is making one right now.
  bool Take(Dice* dice, size_t* slot, std::string* session_id);
  void Release(size_t slot);
  // A session that exists; empty: the drawn slot has none.
  std::string Session(Dice* dice, size_t* slot);
  // The slot's session is now this one.
  void Set(size_t slot, const std::string& session_id);
  // Empties the slot where it still has this session.
  void Forget(size_t slot, const std::string& session_id);

 private:
  struct Slot {
    std::string session_id;
    bool in_the_making = false;
  };

  std::mutex mutex_;
  std::vector<Slot> slots_;
};

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_SLOTS_H_
