#ifndef ACPD_SESSION_TURN_H_
#define ACPD_SESSION_TURN_H_

#include <memory>
#include <string>
#include <string_view>

#include "acp/signal.h"
#include "session/store.h"
#include "session/turn_end.h"
#include "session/types.h"
#include "session/views.h"

namespace acpd::session {

// One accepted Chat (or CreateSession: setup_only) in memory, from its acceptance until its end is
// committed.
//
//   QUEUED -> STARTING -> RUNNING <-> WAITING -> ENDED          CANCELLING from RUNNING and
//   WAITING; ENDED from every state
//
// Loop thread only. Held by its session, the index of turns and whoever waits for it.
struct Turn {
  explicit Turn(asio::any_io_executor executor) : changed(std::move(executor)) {}

  TurnRow row;          // what is or will be stored
  ChatRequest request;  // with the secrets that are not stored
  TurnEvidence evidence;
  uint64_t after_position = 0;  // the place before its TurnQueued, once committed
  bool stored = false;          // its acceptance is committed

  // While RUNNING
  uint64_t prompt_id = 0;      // of the session/prompt request
  std::string prompt_line;     // until it is sent
  bool had_output = false;     // text, thought, tool call, plan or question
  bool fresh_resume = false;   // its prompt is the first since the session was resumed
  bool phantom = false;        // the resume only looked good: fall back once
  std::string phantom_answer;  // what the agent said then
  bool forced = false;         // its worker was killed for it
  SteadyTime queued_at{};      // accepted here, or found in the store
  SteadyTime timeout_at = SteadyTime::max();
  SteadyTime kill_at = SteadyTime::max();
  SteadyTime cancel_asked_at{};
  SteadyTime ended_at{};

  std::string text, final_text, last_message_id;
  bool text_truncated = false;
  bool message_open = false;  // the last update was a chunk of an agent message

  Signal changed;  // notified at each change of state

  bool ended() const { return row.state == TurnState::kEnded; }
  bool unstarted() const {
    return row.state == TurnState::kQueued || row.state == TurnState::kStarting;
  }
  bool running() const { return !unstarted() && !ended(); }

  // Takes account of one update of the agent: text, and whether it counts as output.
  void Observe(std::string_view kind, std::string_view message_id, std::string_view chunk);
  TurnView View() const;
};

inline constexpr size_t kMaxResultText = 1u << 20;  // of text and final_text
TurnView ViewOf(const TurnRow& row, uint64_t after_position);
// Of a turn that only the store has.
TurnView ViewOf(const FoundTurn& found);

}  // namespace acpd::session

#endif  // ACPD_SESSION_TURN_H_
