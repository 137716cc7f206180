// The limits of time of a running turn: how long it may last, how long its agent may be silent, and
// how long the agent has to confirm a cancel.
#include <algorithm>
#include <utility>

#include "session/session.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;

// While nothing is read of the agent, its silence is not getting any longer.
constexpr milliseconds kReadingRecheck{1000};

std::string InSeconds(milliseconds time) {
  return std::to_string((time.count() + 999) / 1000) + " s";
}

}  // namespace

awaitable<void> Session::WatchTurn(TurnPtr turn) {
  if (!watch_) BeginWatch();
  while (!turn->ended() && !turn->phantom) {
    const SteadyTime deadline =
        std::min({turn->timeout_at, turn->kill_at, NextLookAtSilence(turn)});
    co_await turn->changed.Wait(deadline);
    if (turn->ended() || turn->phantom) break;
    const SteadyTime now = steady_clock::now();
    if (now >= turn->timeout_at) {
      turn->timeout_at = SteadyTime::max();
      StrikeLimit(turn, "TURN_TIMEOUT");
    }
    LookAtSilence(turn);
    if (now >= turn->kill_at) co_await ForceEnd(turn);
  }
  watch_.reset();
}

// The first limit that strikes ends the turn, as a cancel does.
void Session::StrikeLimit(const TurnPtr& turn, const std::string& limit) {
  if (!turn->evidence.limit.empty() || turn->evidence.cancel_sent) return;
  turn->evidence.limit = limit;
  const AgentDefinition* definition = agent();
  BeginCancel(turn, definition ? definition->cancel_grace : milliseconds(30'000));
  recorder_.Flush();
}

void Session::BeginWatch() {
  watch_.reset();
  const AgentDefinition* definition = agent();
  if (!definition || !worker_) return;
  const TurnWatch::Limits limits{definition->turn_silence, definition->turn_stall,
                                 definition->tool_silence};
  watch_.emplace(limits, worker_->reading().At(steady_clock::now()));
  for (const uint64_t number : worker_->services().OpenNumbers()) OnAgentWaits(number, true);
}

// While the agent waits for acpd (a command's end, a slow file), that is to the watch what a tool
// call is.
void Session::OnAgentWaits(uint64_t number, bool waits) {
  if (waits && current_ && current_->running()) current_->had_output = true;
  const std::string id = "acpd/" + std::to_string(number);
  WatchToolCall(waits ? "tool_call" : "tool_call_update", id, waits ? "in_progress" : "completed");
}

// Also tells the watch whether a question is open: each that comes or goes wakes WatchTurn. Of a
// turn that is being cancelled nobody looks at the silence, which may have lasted too long already.
SteadyTime Session::NextLookAtSilence(const TurnPtr& turn) {
  if (!watch_ || !worker_ || turn->row.state == TurnState::kCancelling) return SteadyTime::max();
  const SteadyTime now = steady_clock::now();
  const SteadyTime shown = worker_->reading().At(now);
  watch_->SetAsking(!questions_.empty(), shown);
  const SteadyTime next = watch_->Next();
  if (next == SteadyTime::max()) return next;
  if (worker_->reading().stopped()) return now + kReadingRecheck;
  return next + (now - shown);
}

void Session::LookAtSilence(const TurnPtr& turn) {
  if (!watch_ || !worker_ || turn->row.state == TurnState::kCancelling) return;
  const SteadyTime shown = worker_->reading().At(steady_clock::now());
  watch_->SetAsking(!questions_.empty(), shown);
  watch_->Heard(worker_->last_heard());
  // A turn that stands still because nothing can be stored is not its agent's fault.
  if (!core_.deps.store->health().ok()) watch_->Heard(shown);
  const AgentDefinition* definition = agent();
  switch (watch_->Check(shown)) {
    case TurnWatch::Verdict::kFine:
      return;
    case TurnWatch::Verdict::kStalled:
      StrikeLimit(turn, "TURN_STALLED");
      return;
    case TurnWatch::Verdict::kSilent:
      break;
  }
  if (!definition) return;
  const milliseconds stall = definition->turn_stall;
  OnNotice(Severity::kWarning, "TURN_SILENT",
           "The agent has said nothing for " + InSeconds(definition->turn_silence) +
               " (turn_silence)" +
               (stall.count() > 0 ? "; after " + InSeconds(stall) + " (turn_stall) the turn ends."
                                  : "; cancel the turn if you do not expect it to go on."));
  recorder_.Flush();
}

void Session::WatchToolCall(std::string_view kind, std::string_view id, std::string_view status) {
  const bool begins = kind == "tool_call";
  if (!watch_ || !worker_ || (!begins && kind != "tool_call_update")) return;
  const SteadyTime shown = worker_->reading().At(steady_clock::now());
  // What waits for the end of a long hold has to look again sooner.
  const bool sooner = watch_->OnToolCall(id, status, begins, shown);
  if (sooner && current_) current_->changed.Notify();
}

}  // namespace acpd::session
