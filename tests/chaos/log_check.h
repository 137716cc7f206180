#ifndef ACPD_TESTS_CHAOS_LOG_CHECK_H_
#define ACPD_TESTS_CHAOS_LOG_CHECK_H_

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/chaos/record.h"
#include "tests/chaos/tally.h"
#include "tests/chaos/watch.h"

namespace acpd::chaos {

// What the log says of one turn.
struct LoggedTurn {
  std::string key;
  std::string request_id;  // with its project
  std::string session_id;  // the one that has it now
  int started = 0;
  int ended = 0;
  size_t texts = 0;  // said so far
  bool text_trouble = false;
  e2e::api::TurnResult result;
};

// Takes the whole log, event by event from the first on, and checks that it hangs together: I1, I2,
// one turn at a time, and what the agents said. Not thread-safe.
class LogCheck {
 public:
  LogCheck(const Record* record, Tally* tally);

  void Take(const e2e::Event& event);
  // Once all were taken.
  void Finish();

  const std::map<std::string, LoggedTurn>& turns() const { return turns_; }
  const std::vector<Seen>& events() const { return events_; }
  // The log of this session may be gone or cut: it was deleted. By the hash of its id too.
  bool IsGone(const std::string& session_id) const { return gone_.contains(HashOf(session_id)); }
  bool IsGone(uint64_t session) const { return gone_.contains(session); }
  // By the hash of a session's id.
  const std::unordered_map<uint64_t, std::string>& projects() const { return projects_; }
  const std::unordered_map<uint64_t, std::string>& successors() const { return successors_; }
  // The last seq of each session.
  const std::map<std::string, uint64_t>& newest() const { return newest_; }

 private:
  void TakeNumbers(const e2e::Event& event);
  void TakeTurn(const e2e::Event& event, LoggedTurn* turn);
  void TakeStart(const e2e::Event& event, LoggedTurn* turn);
  void TakeText(const e2e::Event& event);
  void FinishTurn(const std::string& turn_id, const LoggedTurn& turn);
  void FinishAccepted();
  void FinishRequestIds();
  void Wrong(const std::string& invariant, const std::string& what, const e2e::Event& event);

  const Record* record_;
  Tally* tally_;
  std::map<std::string, LoggedTurn> turns_;
  std::map<std::string, std::string> running_;  // turn by session
  std::map<std::string, uint64_t> newest_;
  std::vector<Seen> events_;
  std::unordered_map<uint64_t, std::string> projects_;
  std::unordered_map<uint64_t, std::string> successors_;
  std::set<uint64_t> gone_;
  std::map<std::string, std::vector<std::string>> by_request_id_;  // turns in their order
  uint64_t last_position_ = 0;
};

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_LOG_CHECK_H_
