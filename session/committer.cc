#include "session/committer.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace acpd::session {
namespace {

absl::Status LostOwnership() {
  return absl::AbortedError("Lost ownership: a newer acpd has taken the store over");
}

}  // namespace

Committer::Committer(std::unique_ptr<Database> db, uint64_t generation, uint64_t newest_position,
                     SessionMarks marks, LogSizes sizes, Options options)
    : db_(std::move(db)),
      writer_(*db_),
      generation_(generation),
      newest_position_(newest_position),
      marks_(std::move(marks)),
      sizes_(std::move(sizes)),
      options_(std::move(options)),
      pruner_(*db_, options_.pruner) {}

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
    group->result.status = owned ? plan.Add(group) : LostOwnership();
    if (!group->result.status.ok()) AddStandings(*group, plan);
  }
  plan.Seal();
  std::vector<LogRowPlace> places;
  WriteAll(plan, &places);
  Publication described;
  Describe(plan, &described);
  if (absl::Status status = EndTransaction(); !status.ok()) return status;
  Remember(plan, places);
  *publication = std::move(described);
  return absl::OkStatus();
}

absl::Status Committer::EndTransaction() {
  db_->Exec("COMMIT");
  absl::Status status = db_->TakeStatus();
  if (status.ok()) return status;
  if (db_->in_transaction()) db_->Exec("ROLLBACK");
  (void)db_->TakeStatus();
  full_sync_ = -1;
  return status;
}

void Committer::Remember(const CommitPlan& plan, const std::vector<LogRowPlace>& places) {
  for (const auto& [session_id, mark] : plan.changed()) marks_[session_id] = mark;
  newest_position_ = plan.newest_position();
  for (const CommitGroup* group : plan.groups()) {
    for (const Record& record : group->records) sizes_.Apply(record);
  }
  for (size_t i = 0; i < places.size(); ++i) sizes_.Append(*plan.rows()[i], places[i]);
}

void Committer::AddStandings(CommitGroup& group, const CommitPlan& plan) {
  group.result.standings.clear();
  for (const Record& record : group.records) {
    const SessionMark mark = plan.MarkOf(record.session_id);
    group.result.standings.push_back({record.session_id, mark.number, mark.newest_seq});
  }
}

void Committer::AddStandings(CommitGroup& group) const {
  AddStandings(group, CommitPlan(marks_, generation_, newest_position_));
}

// It counts from the next transaction on; within one it cannot be changed.
void Committer::SetSync(bool full) {
  if (full_sync_ == static_cast<int>(full)) return;
  db_->Exec(full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
  full_sync_ = static_cast<int>(full);
}

void Committer::WriteAll(const CommitPlan& plan, std::vector<LogRowPlace>* places) {
  bool forgets = false;
  for (const CommitGroup* group : plan.groups()) {
    for (const Record& record : group->records) {
      writer_.Write(record, sizes_.ForgetLater(record.session_id));
    }
    forgets |= group->forgets;
  }
  const WallTime now = options_.now();
  std::unordered_map<std::string_view, uint64_t> ends;  // of the sessions' logs
  for (const LogRowPtr& row : plan.rows()) {
    uint64_t& end = ends.try_emplace(row->session_id, sizes_.EndOf(row->session_id)).first->second;
    places->push_back({row->first_seq, row->size(), row->first_position, now, end});
    writer_.WriteRow(*row, places->back());
    end += StoredBytes(*row);
  }
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

// ---- Retention.

absl::StatusOr<bool> Committer::Prune(Publication* publication) {
  SetSync(false);
  db_->Exec("BEGIN IMMEDIATE");
  if (writer_.Generation() != generation_) db_->Fail(LostOwnership());
  std::optional<CutLog> cut;
  Publication described;
  const bool more = PruneSlice(&cut, &described);
  if (absl::Status status = EndTransaction(); !status.ok()) return status;
  if (cut) sizes_.Cut(cut->session_id, cut->oldest.count == 0 ? nullptr : &cut->oldest);
  *publication = std::move(described);
  return more;
}

bool Committer::PruneSlice(std::optional<CutLog>* cut, Publication* publication) {
  const WallTime now = options_.now();
  const auto ago = [&](milliseconds age) {
    return now - std::chrono::duration_cast<std::chrono::microseconds>(age).count();
  };
  const std::optional<LogCut> wanted = sizes_.Next(now);
  if (!wanted) {
    const Retention& limits = options_.retention;
    return pruner_.DropRows(ago(limits.max_age),
                            ago(std::max(limits.max_age, options_.request_id_ttl))) ||
           pruner_.Shrink();
  }
  *cut = pruner_.CutSession(*wanted, newest_position_);
  const CutLog& log = **cut;
  if (log.cut_seq == 0) return false;
  const std::string& project = marks_[log.session_id].project_id;
  publication->cuts.push_back({log.session_id, log.cut_position, log.oldest.first_seq,
                               log.oldest.first_position, project, writer_.OldestPosition(project),
                               writer_.OldestPosition(), log.forgotten});
  return true;
}

}  // namespace acpd::session
