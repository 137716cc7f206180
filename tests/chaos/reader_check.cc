#include "tests/chaos/reader_check.h"

#include <algorithm>
#include <set>

namespace acpd::chaos {
namespace {

// The hashes of a session and of all that replaced it; with `*gone` where one was deleted.
std::set<uint64_t> ChainOf(const std::string& session_id, const LogCheck& log, bool* gone) {
  std::set<uint64_t> chain;
  std::string next = session_id;
  while (true) {
    const uint64_t session = HashOf(next);
    *gone = *gone || log.IsGone(session);
    if (!chain.insert(session).second) return chain;
    const auto successor = log.successors().find(session);
    if (successor == log.successors().end()) return chain;
    next = successor->second;
  }
}

class WatchCheck {
 public:
  WatchCheck(const Watch& watch, const LogCheck& log, Tally* tally)
      : watch_(watch), log_(log), tally_(tally) {
    if (!watch.session_id.empty()) chain_ = ChainOf(watch.session_id, log, &gone_);
  }

  void Run() {
    if (!watch_.started || gone_ || log_.events().empty()) return;
    const std::vector<Seen> expected = Expected(), seen = Kept(watch_.seen);
    size_t at = 0;
    for (const Seen& event : seen) {
      if (troubles_ > kMostTroubles) return;
      while (at < expected.size() && expected[at].position < event.position) {
        Trouble("never got", expected[at++]);
      }
      if (at == expected.size() || expected[at].position > event.position) {
        Trouble("got twice, out of order, or though it is not in the log", event);
        continue;
      }
      if (expected[at].bytes != event.bytes) Trouble("got other bytes of", event);
      ++at;
    }
    for (; at < expected.size() && troubles_ <= kMostTroubles; ++at) {
      Trouble("never got", expected[at]);
    }
    tally_->Count("events of readers checked", seen.size());
  }

 private:
  static constexpr int kMostTroubles = 3;  // the rest follows from them

  bool InScope(const Seen& event) const {
    if (log_.IsGone(event.session)) return false;
    // Idle sessions are closed, with an event, while the checks go on.
    if (event.position > log_.events().back().position) return false;
    if (!chain_.empty()) return chain_.contains(event.session);
    if (watch_.project_id.empty()) return true;
    const auto project = log_.projects().find(event.session);
    return project != log_.projects().end() && project->second == watch_.project_id;
  }

  std::vector<Seen> Kept(const std::vector<Seen>& events) const {
    std::vector<Seen> kept;
    std::copy_if(events.begin(), events.end(), std::back_inserter(kept),
                 [this](const Seen& event) { return InScope(event); });
    return kept;
  }

  std::vector<Seen> Expected() const {
    const uint64_t end =
        watch_.to_the_end ? UINT64_MAX : (watch_.seen.empty() ? 0 : watch_.seen.back().position);
    std::vector<Seen> expected = Kept(log_.events());
    std::erase_if(expected, [&](const Seen& event) {
      return event.position <= watch_.start || event.position > end;
    });
    return expected;
  }

  void Trouble(const std::string& what, const Seen& event) {
    ++troubles_;
    const auto next = std::upper_bound(watch_.from.begin(), watch_.from.end(), event.position);
    const std::string cursor =
        next == watch_.from.begin() ? "none" : std::to_string(*std::prev(next));
    tally_->Violation("I2 readers see each event once",
                      watch_.reader + " (" + watch_.session_id + watch_.project_id + ") " + what +
                          " position " + std::to_string(event.position) + ", seq " +
                          std::to_string(event.seq) + "; it had begun at position " +
                          std::to_string(watch_.start) + " and come back last with cursor " +
                          cursor);
  }

  const Watch& watch_;
  const LogCheck& log_;
  Tally* tally_;
  std::set<uint64_t> chain_;
  bool gone_ = false;
  int troubles_ = 0;
};

}  // namespace

void CheckWatch(const Watch& watch, const LogCheck& log, Tally* tally) {
  WatchCheck(watch, log, tally).Run();
}

}  // namespace acpd::chaos
