#include "tests/chaos/record.h"

namespace acpd::chaos {

void Record::Add(const TurnPlan& plan) {
  const std::lock_guard lock(mutex_);
  TurnPlan& kept = plans_[plan.key] = plan;
  kept.prompt.clear();  // it can be large
}

void Record::Answered(const std::string& turn_id, const std::string& session_id) {
  constexpr size_t kRecent = 64;
  const std::lock_guard lock(mutex_);
  recent_.push_back(turn_id);
  if (recent_.size() > kRecent) recent_.pop_front();
  sessions_.insert(session_id);
}

std::string Record::RecentTurn(Dice* dice) const {
  const std::lock_guard lock(mutex_);
  return recent_.empty() ? "" : recent_[dice->Index(recent_.size())];
}

std::set<std::string> Record::Sessions() const {
  const std::lock_guard lock(mutex_);
  return sessions_;
}

void Record::Deleting(const std::string& session_id) {
  const std::lock_guard lock(mutex_);
  deleted_.insert(session_id);
}

std::set<std::string> Record::Deleted() const {
  const std::lock_guard lock(mutex_);
  return deleted_;
}

}  // namespace acpd::chaos
