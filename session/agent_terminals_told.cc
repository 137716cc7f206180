// What the worker tells of its terminals, and what becomes of it: answers, events, rows.
#include <algorithm>
#include <utility>

#include "acp/text.h"
#include "acp/types.h"
#include "session/agent_services.h"
#include "session/agent_terminals.h"
#include "session/agent_worker.h"
#include "session/terminal_launch.h"

namespace acpd::session {
namespace {

constexpr size_t kMaxEventData = 32u << 10;

acp::TerminalExit ExitOf(bool signaled, int32_t value) {
  acp::TerminalExit exit;
  if (signaled) {
    exit.signal = SignalName(value);
  } else {
    exit.exit_code = value;
  }
  return exit;
}

}  // namespace

void AgentTerminals::Restore(std::vector<TerminalRow> rows) {
  for (TerminalRow& row : rows) {
    Terminal& terminal = terminals_[row.number];
    terminal.adopted = true;
    terminal.row = std::move(row);
  }
}

void AgentTerminals::Resume() {
  for (const auto& [number, terminal] : terminals_) {
    worker_.WatchTerminal(number, terminal.row.logged_offset);
  }
}

void AgentTerminals::MoveTo(const std::string& session_id) {
  for (auto& [number, terminal] : terminals_) {
    terminal.row.session_id = session_id;
    Record(terminal);
  }
}

// The worker tells of the ends that it sees; of others nobody knows more than that.
void AgentTerminals::End() {
  making_.clear();
  acp::TerminalExit killed;
  killed.signal = "SIGKILL";
  for (auto& [number, terminal] : terminals_) {
    terminal.waiting.clear();
    if (!terminal.exit) Exited(terminal, killed);
  }
  terminals_.clear();
}

void AgentTerminals::OnState(const acp::TerminalState& state) {
  if (const auto making = making_.find(state.number); making != making_.end()) {
    const bool opened = making->second.opened;
    if (!TakeStart(making->second, state) || !opened) return;
  }
  const auto found = terminals_.find(state.number);
  if (found == terminals_.end()) {
    // Released, or its request cancelled, without the worker having heard of it.
    if (state.known) worker_.ReleaseTerminal(state.number);
    return;
  }
  Terminal& terminal = found->second;
  if (!state.known) {
    acp::TerminalExit lost;
    lost.signal = "SIGKILL";
    return Exited(terminal, lost);
  }
  if (std::exchange(terminal.adopted, false) || !state.exited) return;
  Exited(terminal, ExitOf(state.signaled, state.value));
}

// True when it has started. Before this acpd has asked for it the worker says what it knows of an
// earlier one's asking: right behind HELLO if it runs, and as the answer to the WATCH if not.
bool AgentTerminals::TakeStart(Making& making, const acp::TerminalState& state) {
  if (!making.opened && !making.again) return false;
  if (state.known) {
    Started(state.number, std::exchange(making, {}));
    return true;
  }
  if (making.opened) {
    NotStarted(state.number, state);
  } else {
    making.again = false;
    if (worker_.CancelsTurn(making.turn_id)) {
      making_.erase(state.number);
      services_.Fail(state.number, acp::kRequestCancelled, kTurnCancelled);
    } else {
      TryOpen(state.number);
    }
  }
  return false;
}

void AgentTerminals::Started(uint64_t number, Making making) {
  making_.erase(number);
  Terminal& terminal = terminals_[number];
  terminal.row.worker_id = worker_.id();
  terminal.row.number = number;
  terminal.row.session_id = worker_.row().session_id;
  terminal.row.turn_id = making.turn_id;
  terminal.row.command = making.command;
  Record(terminal);
  TerminalOutputEvent event;
  event.command = making.command;
  Append(terminal.row, std::move(event));
  const RowPtr request = services_.Find(number);
  if (request) {
    services_.Answer(number, acp::TerminalCreatedLine(request->agent_request_id, IdOf(number)));
  }
}

void AgentTerminals::NotStarted(uint64_t number, const acp::TerminalState& state) {
  making_.erase(number);
  // Such a command, or folder, cannot be had by trying again.
  const bool request_is_wrong = state.start_errno == ENOENT || state.start_errno == EACCES ||
                                state.start_errno == ENOTDIR || state.start_errno == ENOEXEC;
  services_.Fail(number, request_is_wrong ? acp::kInvalidParams : acp::kInternalError,
                 "The terminal was not started: " +
                     (state.start_error.empty() ? std::string("its worker does not know why")
                                                : RepairText(state.start_error)) +
                     ".");
}

// What was told before an acpd died is told again, at most, and not recorded twice.
void AgentTerminals::OnOutput(const acp::TerminalOutput& output) {
  const auto found = terminals_.find(output.number);
  if (found == terminals_.end()) return;
  Terminal& terminal = found->second;
  const uint64_t end = output.offset + output.bytes.size();
  if (end <= terminal.row.logged_offset) return;
  std::string_view bytes = output.bytes;
  const bool truncated = output.offset > terminal.row.logged_offset;
  if (!truncated) bytes.remove_prefix(terminal.row.logged_offset - output.offset);
  terminal.row.logged_offset = end;
  for (bool first = true; !bytes.empty(); first = false) {
    TerminalOutputEvent event;
    event.data = bytes.substr(0, kMaxEventData);
    event.truncated = first && truncated;
    bytes.remove_prefix(event.data.size());
    Append(terminal.row, std::move(event));
  }
  Record(terminal);
  for (const RowPtr& row : terminal.waiting) services_.Renew(row->number);
  worker_.HeardOfTerminal(/*ended=*/false);
  worker_.recorder().Flush();
}

// The last word on a terminal: all of its output stands in the log.
void AgentTerminals::Exited(Terminal& terminal, acp::TerminalExit exit) {
  if (terminal.exit) return;
  terminal.overdue.reset();
  terminal.exit = std::move(exit);
  if (!std::exchange(terminal.row.exit_logged, true)) {
    TerminalOutputEvent event;
    event.exited = true;
    event.exit_code = terminal.exit->exit_code;
    event.signal = terminal.exit->signal;
    Append(terminal.row, std::move(event));
    Record(terminal);
  }
  worker_.HeardOfTerminal(/*ended=*/true);
  AnswerWaiting(terminal);
  worker_.recorder().Flush();
}

void AgentTerminals::OnSnapshot(const acp::TerminalSnapshot& snapshot) {
  const RowPtr request = services_.Find(snapshot.tag);
  if (!request) return;  // cancelled
  if (!snapshot.known) {
    return services_.Fail(snapshot.tag, acp::kResourceNotFound,
                          "Resource not found: the terminal is gone; terminal/create makes one.");
  }
  std::optional<acp::TerminalExit> exit;
  if (snapshot.exited) exit = ExitOf(snapshot.signaled, snapshot.value);
  services_.Answer(snapshot.tag, acp::TerminalOutputLine(request->agent_request_id, snapshot.bytes,
                                                         snapshot.first_kept > 0, exit));
}

void AgentTerminals::Record(const Terminal& terminal) {
  std::vector<TerminalRow>& rows = worker_.recorder().pending().terminals;
  const auto same = std::find_if(rows.begin(), rows.end(), [&](const TerminalRow& row) {
    return row.worker_id == terminal.row.worker_id && row.number == terminal.row.number;
  });
  same == rows.end() ? rows.push_back(terminal.row) : void(*same = terminal.row);
}

void AgentTerminals::Append(const TerminalRow& row, TerminalOutputEvent event) {
  event.terminal_id = IdOf(row.number);
  worker_.recorder().Append(worker_.TurnIfCurrent(row.turn_id), event);
}

}  // namespace acpd::session
