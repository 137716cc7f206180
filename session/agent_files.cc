#include "session/agent_files.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "acp/agent_requests.h"
#include "acp/text.h"
#include "acp/types.h"
#include "session/agent_worker.h"
#include "session/text_files.h"

namespace acpd::session {

// How a request for a file came out.
struct FileOutcome {
  std::string line;  // the answer
  std::string path;  // empty: it names none that is the session's to name, and no event tells of it
  uint64_t bytes = 0;
  bool repaired = false;
  Failure error;
};

namespace {

constexpr size_t kMaxNotices = 1000;
constexpr size_t kMaxShownPath = 4096;

struct FileErrorRow {
  FileError::Kind kind;
  int64_t code;             // to the agent
  std::string_view reason;  // to readers; the API's comment at FileAccess.error has this table
};

constexpr FileErrorRow kFileErrors[] = {
    {FileError::Kind::kOutside, acp::kInvalidParams, "CWD_NOT_ALLOWED"},
    {FileError::Kind::kNotFound, acp::kResourceNotFound, "CWD_NOT_FOUND"},
    {FileError::Kind::kNotAFile, acp::kInvalidParams, "INVALID_REQUEST"},
    {FileError::Kind::kTooLarge, acp::kInvalidParams, "MESSAGE_TOO_LARGE"},
    {FileError::Kind::kDenied, acp::kInternalError, "PERMISSION_DENIED"},
    {FileError::Kind::kNoSpace, acp::kInternalError, "STORE_UNAVAILABLE"},
    {FileError::Kind::kInvalid, acp::kInvalidParams, "INVALID_REQUEST"},
    {FileError::Kind::kOther, acp::kInternalError, "INTERNAL"},
};

// What a job on the pool needs to know.
struct FileTask {
  std::shared_ptr<const AgentRequestRow> row;
  std::optional<std::string> agent_session_id;  // nullopt: any may be the session's
  FileRoots roots;
  size_t max_bytes = 0;
};

void Refuse(const FileTask& task, const FileError& error, FileOutcome* outcome) {
  const auto* row =
      std::find_if(std::begin(kFileErrors), std::end(kFileErrors),
                   [&](const FileErrorRow& candidate) { return candidate.kind == error.kind; });
  outcome->line = acp::ErrorLine(task.row->agent_request_id, row->code, error.message);
  outcome->error.reason = row->reason;
  outcome->error.message = error.message;
  outcome->error.agent_code = static_cast<int32_t>(row->code);
}

FileOutcome RefuseParams(const FileTask& task, std::string_view why) {
  FileOutcome outcome;
  outcome.line = acp::ErrorLine(task.row->agent_request_id, acp::kInvalidParams, why);
  return outcome;
}

bool IsForeignTo(const FileTask& task, const std::string& session_id) {
  return task.agent_session_id && session_id != *task.agent_session_id;
}

// Large contents are read out of JSON, and written into it, here and not on the loop.
FileOutcome ReadOnPool(const FileTask& task) {
  const auto request = acp::ReadReadFileRequest(task.row->params);
  if (!request.ok()) return RefuseParams(task, std::string(request.status().message()));
  if (IsForeignTo(task, request->session_id)) return RefuseParams(task, kForeignSession);
  FileOutcome outcome;
  outcome.path = RepairText(CutText(request->path, kMaxShownPath));
  auto read =
      ReadTextFile(task.roots, request->path, request->line, request->limit, task.max_bytes);
  if (const auto* error = std::get_if<FileError>(&read)) {
    Refuse(task, *error, &outcome);
    return outcome;
  }
  const auto& text = std::get<ReadText>(read);
  outcome.line = acp::FileContentLine(task.row->agent_request_id, text.content);
  outcome.bytes = text.bytes;
  outcome.repaired = text.repaired;
  return outcome;
}

FileOutcome WriteOnPool(const FileTask& task) {
  const auto request = acp::ReadWriteFileRequest(task.row->params);
  if (!request.ok()) return RefuseParams(task, std::string(request.status().message()));
  if (IsForeignTo(task, request->session_id)) return RefuseParams(task, kForeignSession);
  FileOutcome outcome;
  outcome.path = RepairText(CutText(request->path, kMaxShownPath));
  const auto written = WriteTextFile(task.roots, request->path, request->content, task.max_bytes);
  if (const auto* error = std::get_if<FileError>(&written)) {
    Refuse(task, *error, &outcome);
    return outcome;
  }
  outcome.bytes = std::get<uint64_t>(written);
  outcome.line = acp::EmptyResultLine(task.row->agent_request_id);
  return outcome;
}

}  // namespace

void AgentFiles::Serve(std::shared_ptr<const AgentRequestRow> row, bool write) {
  if (waiting_.size() >= kMaxWaiting) {
    return services_.Fail(row->number, acp::kInvalidRequest,
                          "Too many file requests at once: at most " + std::to_string(kMaxWaiting) +
                              " wait; ask again when some of them "
                              "are answered.");
  }
  waiting_.push_back({std::move(row), write});
  Pump();
}

void AgentFiles::Cancel(uint64_t number) {
  std::erase_if(waiting_, [number](const Job& job) { return job.row->number == number; });
  Pump();
}

// What waits behind them begins only when all of them are out of the queue.
std::vector<uint64_t> AgentFiles::TakeBack(std::string_view turn_id) {
  std::vector<uint64_t> taken;
  std::erase_if(waiting_, [&](const Job& job) {
    if (job.row->turn_id != turn_id) return false;
    taken.push_back(job.row->number);
    return true;
  });
  Pump();
  return taken;
}

void AgentFiles::End() {
  ended_ = true;
  waiting_.clear();
}

void AgentFiles::Pump() {
  while (!waiting_.empty() && !writing_) {
    const bool write = waiting_.front().write;
    if (running_ >= (write ? 1 : kMaxRunning)) return;
    Job job = std::move(waiting_.front());
    waiting_.pop_front();
    ++running_;
    writing_ = write;
    Spawn(worker_.loop(), Run(worker_.shared_from_this(), job),
          [keep = worker_.shared_from_this(), this, job](const std::string& what) {
            FileOutcome failed;
            failed.line = acp::ErrorLine(job.row->agent_request_id, acp::kInternalError,
                                         "acpd failed at this file: " + what);
            Finish(job, std::move(failed));
          });
  }
}

awaitable<void> AgentFiles::Run(std::shared_ptr<AgentWorker> keep, Job job) {
  const ServiceScope scope = keep->scope();
  const Limits& limits = keep->core().config().limits;
  FileTask task;
  task.row = job.row;
  task.agent_session_id = scope.agent_session_id;
  task.roots.roots = scope.roots;
  task.max_bytes = job.write ? limits.max_file_write : limits.max_file_read;
  std::function<FileOutcome()> work = [task, write = job.write] {
    return write ? WriteOnPool(task) : ReadOnPool(task);
  };
  FileOutcome outcome = co_await OnPool<FileOutcome>(*keep->core().deps.pool, std::move(work));
  Finish(job, std::move(outcome));
}

// What was done is told of also where nobody waits for the answer any more.
void AgentFiles::Finish(const Job& job, FileOutcome outcome) {
  --running_;
  if (job.write) writing_ = false;
  if (ended_) return;
  if (!outcome.path.empty()) {
    FileAccessEvent event;
    event.write = job.write;
    event.path = outcome.path;
    event.bytes = outcome.bytes;
    event.error = std::move(outcome.error);
    worker_.recorder().Append(worker_.TurnIfCurrent(job.row->turn_id), event);
    if (outcome.repaired) TellRepaired(outcome.path);
  }
  services_.Answer(job.row->number, std::move(outcome.line));
  worker_.recorder().Flush();
  Pump();
}

void AgentFiles::TellRepaired(const std::string& path) {
  if (repaired_.size() >= kMaxNotices || !repaired_.insert(path).second) return;
  worker_.Notice(Severity::kWarning, "FILE_REPAIRED",
                 "The agent was given " + path +
                     " with characters replaced, since the file is not valid UTF-8; what the agent "
                     "writes back is not the same file.");
}

}  // namespace acpd::session
