#include "session/commit_plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace acpd::session {
namespace {

bool IsWellFormed(const EventBatch& events) {
  return std::is_sorted(events.ends.begin(), events.ends.end()) &&
         events.ends.back() == events.bytes.size();
}

std::shared_ptr<LogRow> NewRow(const Record& record, const std::string& project_id, uint64_t seq,
                               uint64_t position) {
  auto row = std::make_shared<LogRow>();
  row->session_id = record.session_id;
  row->project_id = project_id;
  row->first_seq = seq;
  row->first_position = position;
  return row;
}

// Moves the events of `batch` from `i` on into `row` as far as they fit, at least one into an empty
// row; returns the next one.
size_t Fill(LogRow& row, const EventBatch& batch, size_t i) {
  const uint32_t begin = i == 0 ? 0 : batch.ends[i - 1];
  const size_t base = row.bytes.size();
  size_t next = i;
  while (next < batch.size() &&
         (base + batch.ends[next] - begin <= CommitPlan::kRowBytes || (base == 0 && next == i))) {
    row.ends.push_back(static_cast<uint32_t>(base + batch.ends[next] - begin));
    ++next;
  }
  if (next > i) row.bytes.append(batch.bytes, begin, batch.ends[next - 1] - begin);
  return next;
}

}  // namespace

SessionMark CommitPlan::MarkOf(const std::string& session_id) const {
  if (auto changed = changed_.find(session_id); changed != changed_.end()) return changed->second;
  auto known = marks_.find(session_id);
  return known == marks_.end() ? SessionMark() : known->second;
}

absl::Status CommitPlan::Check(const Record& record, SessionMarks& touched) const {
  if (record.generation != generation_) {
    return absl::AbortedError(absl::StrCat("Lost ownership: a record of generation ",
                                           record.generation, " came to generation ", generation_));
  }
  auto [it, is_new] = touched.try_emplace(record.session_id);
  SessionMark& mark = it->second;
  if (is_new) mark = MarkOf(record.session_id);
  if (record.number != mark.number + 1) {
    return absl::FailedPreconditionError(absl::StrCat(
        "Record ", record.number, " of session ", record.session_id, " came behind ", mark.number));
  }
  mark.number = record.number;
  if (record.session) mark.project_id = record.session->project_id;
  if (record.events.empty()) return absl::OkStatus();
  if (mark.project_id.empty()) {
    return absl::InternalError(
        absl::StrCat("Events of a session without a row: ", record.session_id));
  }
  if (record.events.first_seq != mark.newest_seq + 1) {
    return absl::InternalError(absl::StrCat("Event ", record.events.first_seq, " of session ",
                                            record.session_id, " came behind ", mark.newest_seq));
  }
  if (!IsWellFormed(record.events)) {
    return absl::InternalError(absl::StrCat("Malformed events of session ", record.session_id));
  }
  mark.newest_seq += record.events.size();
  return absl::OkStatus();
}

absl::Status CommitPlan::Add(CommitGroup* group) {
  SessionMarks touched;
  for (const Record& record : group->records) {
    if (absl::Status status = Check(record, touched); !status.ok()) return status;
  }
  for (const Record& record : group->records) {
    if (!record.events.empty()) Append(record, touched[record.session_id].project_id, group);
  }
  for (auto& [session_id, mark] : touched) changed_[session_id] = std::move(mark);
  groups_.push_back(group);
  return absl::OkStatus();
}

CommitPlan::Draft& CommitPlan::DraftOf(const std::string& session_id, size_t* index) {
  auto [it, is_new] = draft_index_.try_emplace(session_id, drafts_.size());
  if (is_new) drafts_.emplace_back();
  *index = it->second;
  return drafts_[it->second];
}

void CommitPlan::Append(const Record& record, const std::string& project_id, CommitGroup* group) {
  size_t index = 0;
  Draft& draft = DraftOf(record.session_id, &index);
  if (places_.empty() || places_.back().group != group) places_.push_back({group, 0, 0});
  places_.back() = {group, index, draft.events};
  const EventBatch& batch = record.events;
  size_t i = draft.rows.empty() ? 0 : Fill(*draft.rows.back(), batch, 0);
  while (i < batch.size()) {
    draft.rows.push_back(NewRow(record, project_id, batch.first_seq + i, draft.events + i + 1));
    LogRow& row = *draft.rows.back();
    const uint32_t begin = i == 0 ? 0 : batch.ends[i - 1];
    row.bytes.reserve(std::min(kRowBytes, batch.bytes.size() - begin));
    i = Fill(row, batch, i);
  }
  draft.events += batch.size();
}

void CommitPlan::Seal() {
  std::vector<uint64_t> bases;
  for (Draft& draft : drafts_) {
    bases.push_back(newest_position_);
    for (std::shared_ptr<LogRow>& row : draft.rows) {
      row->first_position += newest_position_;
      rows_.push_back(std::move(row));
    }
    newest_position_ += draft.events;
  }
  for (const Place& place : places_) {
    place.group->result.first_position = bases[place.draft] + place.offset + 1;
  }
}

}  // namespace acpd::session
