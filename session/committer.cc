#include "session/committer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace acpd::session {

Committer::Committer(std::unique_ptr<Database> db, uint64_t generation, uint64_t newest_position,
                     SessionMarks marks)
    : db_(std::move(db)),
      writer_(*db_),
      generation_(generation),
      newest_position_(newest_position),
      marks_(std::move(marks)) {}

void Committer::Prepare(Record& record) const {
  if (!record.forget_session) return;
  if (!record.session) {
    SessionRow& row = record.session.emplace();
    row.session_id = record.session_id;
    auto mark = marks_.find(record.session_id);
    if (mark != marks_.end()) row.project_id = mark->second.project_id;
  }
  record.session->deleted = true;
}

absl::Status Committer::TryCommit(const std::vector<CommitGroup*>& groups,
                                  Publication* publication) {
  SetSync(std::any_of(groups.begin(), groups.end(), [](CommitGroup* g) { return g->full_sync; }));
  db_->Exec("BEGIN IMMEDIATE");
  const bool owned = writer_.Generation() == generation_;
  CommitPlan plan(marks_, generation_, newest_position_);
  for (CommitGroup* group : groups) {
    group->result = CommitResult();
    group->result.status =
        owned ? plan.Add(group)
              : absl::AbortedError("Lost ownership: a newer acpd has taken the store over");
  }
  plan.Seal();
  WriteAll(plan);
  Publication described;
  Describe(plan, &described);
  db_->Exec("COMMIT");
  absl::Status status = db_->TakeStatus();
  if (!status.ok()) {
    if (db_->in_transaction()) db_->Exec("ROLLBACK");
    (void)db_->TakeStatus();
    full_sync_ = -1;
    return status;
  }
  for (const auto& [session_id, mark] : plan.changed()) marks_[session_id] = mark;
  newest_position_ = plan.newest_position();
  *publication = std::move(described);
  return absl::OkStatus();
}

// It counts from the next transaction on; within one it cannot be changed.
void Committer::SetSync(bool full) {
  if (full_sync_ == static_cast<int>(full)) return;
  db_->Exec(full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
  full_sync_ = static_cast<int>(full);
}

void Committer::WriteAll(const CommitPlan& plan) {
  bool forgets = false;
  for (const CommitGroup* group : plan.groups()) {
    for (const Record& record : group->records) writer_.Write(record);
    forgets |= group->forgets;
  }
  for (const LogRowPtr& row : plan.rows()) writer_.WriteRow(*row);
  if (forgets) writer_.KeepPosition(plan.newest_position());
}

void Committer::Describe(const CommitPlan& plan, Publication* publication) {
  publication->rows = plan.rows();
  for (const CommitGroup* group : plan.groups()) {
    for (const Record& record : group->records) {
      if (record.session) publication->sessions.push_back(*record.session);
      if (!record.forget_session) continue;
      const std::string& project = record.session->project_id;
      publication->forgotten.push_back(
          {record.session_id, project, writer_.OldestPosition(project), writer_.OldestPosition()});
    }
  }
}

}  // namespace acpd::session
