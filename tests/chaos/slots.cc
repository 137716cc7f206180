#include "tests/chaos/slots.h"

namespace acpd::chaos {

bool Slots::Take(Dice* dice, size_t* slot, std::string* session_id) {
  const std::lock_guard lock(mutex_);
  *slot = dice->Index(slots_.size());
  Slot& drawn = slots_[*slot];
  *session_id = drawn.session_id;
  if (!session_id->empty()) return true;
  if (drawn.in_the_making) return false;
  drawn.in_the_making = true;
  return true;
}

void Slots::Release(size_t slot) {
  const std::lock_guard lock(mutex_);
  slots_[slot].in_the_making = false;
}

std::string Slots::Session(Dice* dice, size_t* slot) {
  const std::lock_guard lock(mutex_);
  *slot = dice->Index(slots_.size());
  return slots_[*slot].session_id;
}

void Slots::Set(size_t slot, const std::string& session_id) {
  const std::lock_guard lock(mutex_);
  slots_[slot].session_id = session_id;
}

void Slots::Forget(size_t slot, const std::string& session_id) {
  const std::lock_guard lock(mutex_);
  if (slots_[slot].session_id == session_id) slots_[slot].session_id.clear();
}

}  // namespace acpd::chaos
