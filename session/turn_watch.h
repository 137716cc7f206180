#ifndef ACPD_SESSION_TURN_WATCH_H_
#define ACPD_SESSION_TURN_WATCH_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "acp/asio.h"
#include "session/types.h"

namespace acpd::session {

// A clock that runs only while acpd reads what an agent says: an agent whose output waits for acpd
// is not silent. Loop thread only. Owned by the agent's worker.
class ReadingClock {
 public:
  void Stop(SteadyTime now);  // until Go
  void Go(SteadyTime now);
  bool stopped() const { return stopped_at_.has_value(); }
  // What it shows at the (steady) time `now`.
  SteadyTime At(SteadyTime now) const;

 private:
  SteadyTime::duration stood_{0};
  std::optional<SteadyTime> stopped_at_;
};

// Watches how long the agent of a running turn says nothing: silence, not length. It tells once of
// each silence, and when the turn is to be given up. Whatever the agent says begins a new silence;
// an open question, and a tool call under way, hold the watch off. It waits for nothing itself: all
// times are given, and are those of the worker's ReadingClock. Loop thread only. Owned by the
// session.
class TurnWatch {
 public:
  struct Limits {
    milliseconds silence{0};  // until it is told; 0: it never is
    milliseconds stall{0};    // until the turn is given up; 0: it never is
    milliseconds tool{0};     // what a tool call holds the watch off, from its last sign on; 0: as
                              // long as it is under way
  };
  enum class Verdict { kFine, kSilent, kStalled };

  TurnWatch(Limits limits, SteadyTime begun) : limits_(limits), heard_(begun) {}

  // The last time at which the agent said something.
  void Heard(SteadyTime at);
  // From here on a question of the agent is open, or none is any more.
  void SetAsking(bool asking, SteadyTime at);
  // An update told of a tool call (`begins`: for the first time). True when the last one that was
  // under way has ended: Next is earlier than it was.
  bool OnToolCall(std::string_view id, std::string_view status, bool begins, SteadyTime at);

  Verdict Check(SteadyTime now);
  // When Check may next have something to say; SteadyTime::max(): not before something happens.
  SteadyTime Next() const;

 private:
  static constexpr size_t kMaxToolCalls = 1024;

  SteadyTime QuietSince() const;

  const Limits limits_;
  SteadyTime heard_;
  bool asking_ = false;
  std::optional<SteadyTime> told_;                             // of the silence that began then
  std::map<std::string, SteadyTime, std::less<>> tool_calls_;  // under way: their last signs
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_TURN_WATCH_H_
