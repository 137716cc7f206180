#include "session/agent_services.h"

#include <algorithm>
#include <utility>

#include "acp/agent_requests.h"
#include "acp/types.h"
#include "session/agent_worker.h"

namespace acpd::session {

struct AgentServices::Service {
  std::string_view method;
  bool AgentCapabilities::*capability;
  std::string_view key;  // of the config, which switches it
  void (*serve)(AgentServices&, const RowPtr&, bool again);
  bool when_stored = false;  // it begins only when its request is committed
};

const AgentServices::Service* AgentServices::FindService(std::string_view method) {
  using S = AgentServices;
  static constexpr auto kFs = &AgentCapabilities::fs;
  static constexpr auto kFsRead = &AgentCapabilities::fs_read;
  static constexpr auto kTerminal = &AgentCapabilities::terminal;
  static constexpr auto read = [](S& s, const RowPtr& row, bool) { s.files_.Serve(row, false); };
  static constexpr auto write = [](S& s, const RowPtr& row, bool) { s.files_.Serve(row, true); };
  static constexpr auto create = [](S& s, const RowPtr& row, bool again) {
    s.terminals_.Create(row, again);
  };
  static constexpr auto of_terminal = [](S& s, const RowPtr& row, bool) { s.ServeTerminal(row); };
  static constexpr Service kServices[] = {
      {"fs/read_text_file", kFsRead, "capabilities.fs and fs_read", read},
      {"fs/write_text_file", kFs, "capabilities.fs", write},
      {"terminal/create", kTerminal, "capabilities.terminal", create, true},
      {"terminal/output", kTerminal, "capabilities.terminal", of_terminal},
      {kWaitForExit, kTerminal, "capabilities.terminal", of_terminal},
      {kKillTerminal, kTerminal, "capabilities.terminal", of_terminal},
      {kReleaseTerminal, kTerminal, "capabilities.terminal", of_terminal},
  };
  const auto* service =
      std::find_if(std::begin(kServices), std::end(kServices),
                   [method](const Service& candidate) { return candidate.method == method; });
  return service == std::end(kServices) ? nullptr : service;
}

AgentServices::AgentServices(AgentWorker& worker)
    : worker_(worker), files_(worker, *this), terminals_(worker, *this) {}

bool AgentServices::Take(const acp::Message& message) {
  const Service* service = FindService(message.method);
  if (service == nullptr) return false;
  AgentCapabilities offered = worker_.agent().capabilities;
  offered.fs_read = offered.fs_read && offered.fs;
  if (!(offered.*service->capability)) {
    Refuse(message, acp::kMethodNotFound,
           "Method not found: " + std::string(service->method) +
               " is switched off for this agent (" + std::string(service->key) +
               " in its config), as initialize said.");
  } else if (open_.size() >= kMaxOpen || open_bytes_ + message.params.size() > kMaxOpenBytes) {
    Refuse(message, acp::kInvalidRequest,
           "Too many requests are open at once; wait for answers before you ask again.");
  } else {
    TakeNew(message, *service);
  }
  return true;
}

void AgentServices::Refuse(const acp::Message& message, int64_t code, std::string_view why) {
  worker_.SendLine(acp::ErrorLine(message.id, code, why));
}

void AgentServices::TakeNew(const acp::Message& message, const Service& service) {
  AgentRequestRow row;
  row.worker_id = worker_.id();
  row.number = worker_.mutable_row().next_request_number++;
  row.agent_request_id = message.id;
  row.session_id = worker_.row().session_id;
  row.turn_id = worker_.CurrentTurnId();
  row.method = message.method;
  row.params = message.params;
  const auto shared = std::make_shared<const AgentRequestRow>(std::move(row));
  worker_.RecordRow();
  Recorder& recorder = worker_.recorder();
  recorder.pending().agent_requests.push_back(*shared);
  if (service.when_stored) {
    recorder.WhenCommitted(
        [keep = worker_.shared_from_this(), number = shared->number](const CommitResult& result) {
          if (result.status.ok()) keep->services().terminals_.OnStored(number);
        });
  }
  Open(shared);
  service.serve(*this, shared, false);
}

void AgentServices::Open(const RowPtr& row) {
  open_.emplace(row->number, row);
  open_bytes_ += row->params.size();
  worker_.TellWaiting(row->number, true);
}

void AgentServices::ServeTerminal(const RowPtr& row) {
  const auto request = acp::ReadTerminalRequest(row->params);
  if (!request.ok()) {
    return Fail(row->number, acp::kInvalidParams, std::string(request.status().message()));
  }
  if (!IsOurs(*row, request->session_id)) return;
  row->method == kTerminalOutput ? terminals_.Output(row, *request)
                                 : terminals_.AwaitExit(row, *request);
}

bool AgentServices::IsOurs(const AgentRequestRow& row, const std::string& session_id) {
  const std::optional<std::string> own = worker_.scope().agent_session_id;
  if (!own || session_id == *own) return true;
  Fail(row.number, acp::kInvalidParams, kForeignSession);
  return false;
}

bool AgentServices::Cancel(std::string_view agent_request_id) {
  const auto found = std::find_if(open_.begin(), open_.end(), [&](const auto& entry) {
    return entry.second->agent_request_id == agent_request_id;
  });
  if (found == open_.end()) return false;
  const uint64_t number = found->first;
  files_.Cancel(number);
  terminals_.Cancel(number);
  Fail(number, acp::kRequestCancelled, "Request cancelled");
  return true;
}

void AgentServices::CancelTurn(std::string_view turn_id) {
  std::vector<uint64_t> ends = files_.TakeBack(turn_id);
  const std::vector<uint64_t> waits = terminals_.TakeBack(turn_id);
  ends.insert(ends.end(), waits.begin(), waits.end());
  for (const uint64_t number : ends) {
    const RowPtr row = Find(number);
    if (!row) continue;
    RecordAnswer(number,
                 acp::ErrorLine(row->agent_request_id, acp::kRequestCancelled, kTurnCancelled));
  }
}

void AgentServices::Restore(StoredServices stored) {
  for (AgentRequestRow& row : stored.requests) {
    open_bytes_ += row.params.size();
    const uint64_t number = row.number;
    open_.emplace(number, std::make_shared<const AgentRequestRow>(std::move(row)));
  }
  terminals_.Restore(std::move(stored.terminals));
}

void AgentServices::Resume() {
  terminals_.Resume();
  const std::map<uint64_t, RowPtr> restored = open_;
  for (const auto& [number, row] : restored) {
    worker_.TellWaiting(number, true);
    const Service* service = FindService(row->method);
    if (service == nullptr) {
      Fail(number, acp::kMethodNotFound, "Method not found: acpd was replaced by one without it.");
    } else if (row->method.starts_with("fs/") && worker_.CancelsTurn(row->turn_id)) {
      Fail(number, acp::kRequestCancelled, kTurnCancelled);
    } else {
      service->serve(*this, row, true);
    }
  }
}

void AgentServices::MoveTo(const std::string& session_id) {
  Record& record = worker_.recorder().pending();
  for (auto& [number, row] : open_) {
    AgentRequestRow moved = *row;
    moved.session_id = session_id;
    record.agent_requests.push_back(moved);
  }
  terminals_.MoveTo(session_id);
}

void AgentServices::End() {
  files_.End();
  terminals_.End();
  open_.clear();
  open_bytes_ = 0;
}

AgentServices::RowPtr AgentServices::Find(uint64_t number) const {
  const auto found = open_.find(number);
  return found == open_.end() ? nullptr : found->second;
}

std::vector<uint64_t> AgentServices::OpenNumbers() const {
  std::vector<uint64_t> numbers;
  for (const auto& [number, row] : open_) numbers.push_back(number);
  return numbers;
}

void AgentServices::Renew(uint64_t number) { worker_.TellWaiting(number, true); }

void AgentServices::Answer(uint64_t number, std::string line) {
  if (RecordAnswer(number, std::move(line))) worker_.recorder().Flush();
}

bool AgentServices::RecordAnswer(uint64_t number, std::string line) {
  const auto found = open_.find(number);
  if (found == open_.end()) return false;
  open_bytes_ -= found->second->params.size();
  open_.erase(found);
  worker_.TellWaiting(number, false);
  worker_.recorder().pending().answered_requests.emplace_back(worker_.id(), number);
  worker_.SendLine(std::move(line));
  return true;
}

void AgentServices::Fail(uint64_t number, int64_t code, std::string_view message) {
  const RowPtr row = Find(number);
  if (row) Answer(number, acp::ErrorLine(row->agent_request_id, code, message));
}

}  // namespace acpd::session
