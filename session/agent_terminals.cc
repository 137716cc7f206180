// What an agent asks of its terminals.
#include "session/agent_terminals.h"

#include <algorithm>
#include <utility>

#include "acp/text.h"
#include "acp/types.h"
#include "session/agent_worker.h"
#include "session/terminal_launch.h"

namespace acpd::session {
namespace {

constexpr std::string_view kIdPrefix = "term-";
constexpr size_t kMaxShownId = 128;
// The worker takes up to six seconds for a command that resists, and gives up then.
constexpr milliseconds kKillTime{8000};

}  // namespace

AgentTerminals::~AgentTerminals() = default;

void AgentTerminals::Create(const RowPtr& row, bool again) {
  const auto request = acp::ReadCreateTerminalRequest(row->params);
  if (!request.ok()) {
    return services_.Fail(row->number, acp::kInvalidParams,
                          std::string(request.status().message()));
  }
  if (!services_.IsOurs(*row, request->session_id)) return;
  const Limits& limits = worker_.core().config().limits;
  if (terminals_.size() + making_.size() >= limits.max_terminals) {
    return services_.Fail(
        row->number, acp::kInternalError,
        "There are " + std::to_string(limits.max_terminals) +
            " terminals already, which is all that a session may have (limits.max_terminals); "
            "release one with terminal/release.");
  }
  Making& making = making_[row->number];
  making.command = ShownCommand(*request);
  making.turn_id = row->turn_id;
  making.output_limit = std::min<uint64_t>(
      request->output_byte_limit.value_or(limits.max_terminal_output), limits.max_terminal_output);
  making.stored = making.again = again;
  if (again) worker_.WatchTerminal(row->number, 0);
  Spawn(worker_.loop(), Plan(worker_.shared_from_this(), row->number, *request),
        [keep = worker_.shared_from_this(), this, number = row->number](const std::string& what) {
          making_.erase(number);
          services_.Fail(number, acp::kInternalError, "acpd failed at this terminal: " + what);
        });
}

awaitable<void> AgentTerminals::Plan(std::shared_ptr<AgentWorker> keep, uint64_t number,
                                     acp::CreateTerminalRequest request) {
  TerminalRules rules;
  rules.roots = keep->scope().roots;
  if (keep->spec() != nullptr) rules.env = keep->spec()->env;
  std::function<absl::StatusOr<acp::TerminalSpec>()> work = [request = std::move(request),
                                                             rules = std::move(rules)] {
    return PlanTerminal(request, rules);
  };
  absl::StatusOr<acp::TerminalSpec> spec =
      co_await OnPool<absl::StatusOr<acp::TerminalSpec>>(*keep->core().deps.pool, std::move(work));
  const auto making = making_.find(number);
  if (making == making_.end()) co_return;  // cancelled, or the worker is gone
  if (!spec.ok()) {
    making_.erase(making);
    services_.Fail(number, acp::kInvalidParams, std::string(spec.status().message()));
    co_return;
  }
  making->second.spec = *std::move(spec);
  TryOpen(number);
}

void AgentTerminals::OnStored(uint64_t number) {
  const auto making = making_.find(number);
  if (making == making_.end()) return;
  making->second.stored = true;
  TryOpen(number);
}

// A command that runs without its request being stored would be lost, and started once more, by the
// next acpd.
void AgentTerminals::TryOpen(uint64_t number) {
  Making& making = making_[number];
  if (!making.stored || !making.spec || making.opened || making.again) return;
  making.opened = true;
  worker_.OpenTerminal(number, making.output_limit, *std::exchange(making.spec, std::nullopt));
}

AgentTerminals::Terminal* AgentTerminals::Find(std::string_view terminal_id) {
  for (auto& [number, terminal] : terminals_) {
    if (terminal_id == IdOf(number)) return &terminal;
  }
  return nullptr;
}

std::string AgentTerminals::IdOf(uint64_t number) {
  return std::string(kIdPrefix) + std::to_string(number);
}

AgentTerminals::Terminal* AgentTerminals::FindFor(const AgentRequestRow& row,
                                                  const acp::TerminalRequest& request) {
  Terminal* terminal = Find(request.terminal_id);
  if (terminal != nullptr) return terminal;
  services_.Fail(row.number, acp::kResourceNotFound,
                 "Resource not found: there is no terminal \"" +
                     ShownText(request.terminal_id, kMaxShownId) +
                     "\" (any more); terminal/create makes one.");
  return nullptr;
}

// The answer is the worker's snapshot, whose tag is the request's number.
void AgentTerminals::Output(const RowPtr& row, const acp::TerminalRequest& request) {
  const Terminal* terminal = FindFor(*row, request);
  if (terminal != nullptr) worker_.ReadTerminal(terminal->row.number, row->number);
}

void AgentTerminals::AwaitExit(const RowPtr& row, const acp::TerminalRequest& request) {
  Terminal* terminal = FindFor(*row, request);
  if (terminal == nullptr) return;
  const bool waits = row->method == kWaitForExit;
  // Whether or not the agent has heard of the cancel: it may wait before it does.
  if (waits && !terminal->exit && !terminal->overdue && worker_.CancelsTurn(row->turn_id)) {
    return services_.Fail(row->number, acp::kRequestCancelled, kTurnCancelled);
  }
  terminal->waiting.push_back(row);
  if (terminal->exit) return AnswerWaiting(*terminal);
  if (!waits) Kill(*terminal);
}

void AgentTerminals::Kill(Terminal& terminal) {
  const uint64_t number = terminal.row.number;
  worker_.KillTerminal(number);
  if (terminal.overdue) return;
  terminal.overdue = std::make_unique<asio::steady_timer>(worker_.loop(), kKillTime);
  terminal.overdue->async_wait(
      [weak = worker_.weak_from_this(), number](boost::system::error_code e) {
        const auto worker = weak.lock();
        if (!e && worker) worker->services().terminals().OnOverdue(number);
      });
}

// Its processes cannot be killed: nobody waits for them any longer.
void AgentTerminals::OnOverdue(uint64_t number) {
  const auto terminal = terminals_.find(number);
  if (terminal == terminals_.end()) return;
  acp::TerminalExit exit;
  exit.signal = "SIGKILL";
  Exited(terminal->second, exit);
}

void AgentTerminals::Cancel(uint64_t number) {
  for (auto& [terminal_number, terminal] : terminals_) {
    std::erase_if(terminal.waiting, [number](const RowPtr& row) { return row->number == number; });
  }
  const auto making = making_.find(number);
  if (making == making_.end()) return;
  if (making->second.opened) worker_.ReleaseTerminal(number);
  making_.erase(making);
}

std::vector<uint64_t> AgentTerminals::TakeBack(std::string_view turn_id) {
  std::vector<uint64_t> taken;
  for (auto& [number, terminal] : terminals_) {
    if (terminal.overdue) continue;
    std::erase_if(terminal.waiting, [&](const RowPtr& row) {
      if (row->turn_id != turn_id) return false;
      taken.push_back(row->number);
      return true;
    });
  }
  std::erase_if(making_, [&](const auto& entry) {
    const Making& making = entry.second;
    if (making.turn_id != turn_id || making.opened || making.again) return false;
    taken.push_back(entry.first);
    return true;
  });
  return taken;
}

bool AgentTerminals::running() const {
  return !making_.empty() ||
         std::any_of(terminals_.begin(), terminals_.end(),
                     [](const auto& entry) { return !entry.second.exit.has_value(); });
}

// Those that waited for the exit, in the order of their requests. The last one, where a release is
// among them: with it the terminal goes.
void AgentTerminals::AnswerWaiting(Terminal& terminal) {
  bool released = false;
  for (const RowPtr& row : std::exchange(terminal.waiting, {})) {
    released = released || row->method == kReleaseTerminal;
    services_.Answer(row->number, row->method == kWaitForExit
                                      ? acp::TerminalExitLine(row->agent_request_id, *terminal.exit)
                                      : acp::EmptyResultLine(row->agent_request_id));
  }
  if (!released) return;
  const uint64_t number = terminal.row.number;
  terminals_.erase(number);
  Recorder& recorder = worker_.recorder();
  recorder.pending().released_terminals.emplace_back(worker_.id(), number);
  recorder.WhenCommitted([keep = worker_.shared_from_this(), number](const CommitResult& result) {
    if (result.status.ok()) keep->ReleaseTerminal(number);
  });
  recorder.Flush();
}

}  // namespace acpd::session
