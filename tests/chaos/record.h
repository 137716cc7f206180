#ifndef ACPD_TESTS_CHAOS_RECORD_H_
#define ACPD_TESTS_CHAOS_RECORD_H_

#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "tests/chaos/dice.h"
#include "tests/chaos/turn_plan.h"
#include "tests/e2e/harness/client.h"

namespace acpd::chaos {

// What the callers asked for and were told, for the checker. Thread-safe.
class Record {
 public:
  // Before its prompt is first sent.
  void Add(const TurnPlan& plan);
  // The plans by key. For the checker, once the callers are done.
  const std::map<std::string, TurnPlan>& plans() const { return plans_; }

  // Filled by the clients themselves.
  e2e::AcceptedTurns* accepted() { return &accepted_; }
  const e2e::AcceptedTurns& accepted() const { return accepted_; }

  void Answered(const std::string& turn_id, const std::string& session_id);
  // One of the turns that were last answered; empty: there is none yet.
  std::string RecentTurn(Dice* dice) const;
  std::set<std::string> Sessions() const;

  // Before it is deleted: from then on its log may be gone.
  void Deleting(const std::string& session_id);
  std::set<std::string> Deleted() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, TurnPlan> plans_;
  e2e::AcceptedTurns accepted_;
  std::deque<std::string> recent_;
  std::set<std::string> sessions_;
  std::set<std::string> deleted_;
};

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_RECORD_H_
