#include "session/recent_log.h"

#include <algorithm>

namespace acpd::session {
namespace {

// The control block of the row, a pointer in each of three lanes, and the heap's own.
constexpr size_t kRowOverhead = sizeof(LogRow) + 16 + 3 * sizeof(LogRowPtr) + 64;

void AppendTo(RecentLog::Lane& lane, const LogRowPtr& row) {
  lane.rows.push_back(row);
  if (lane.oldest == 0) lane.oldest = row->first_position;
  lane.newest = row->last_position();
}

void DropSession(RecentLog::Lane& lane, const std::string& session_id) {
  std::erase_if(lane.rows, [&](const LogRowPtr& row) { return row->session_id == session_id; });
}

// The global order is the order of each lane, so the oldest row of all is the oldest of its lanes.
void DropFront(RecentLog::Lane& lane) {
  lane.floor = lane.rows.front()->last_position();
  lane.rows.pop_front();
}

}  // namespace

size_t RowCost(const LogRow& row) {
  return kRowOverhead + row.bytes.capacity() + row.ends.capacity() * sizeof(uint32_t) +
         row.session_id.capacity() + row.project_id.capacity();
}

RecentLog::Session& RecentLog::Update(const SessionRow& row) {
  Session& session = sessions_[row.session_id];
  session.project_id = row.project_id;
  if (session.labels == nullptr || *session.labels != row.labels) {
    session.labels = std::make_shared<const Labels>(row.labels);
  }
  session.replaced_by = row.replaced_by;
  session.deleted = row.deleted;
  return session;
}

RecentLog::Lane& RecentLog::LaneOf(const LogScope& scope) {
  switch (scope.kind) {
    case LogScope::Kind::kSession:
      return sessions_[scope.id].lane;
    case LogScope::Kind::kProject:
      return projects_[scope.id];
    case LogScope::Kind::kEverything:
      break;
  }
  return all_;
}

const RecentLog::Lane* RecentLog::FindLane(const LogScope& scope) const {
  if (scope.kind == LogScope::Kind::kEverything) return &all_;
  if (scope.kind == LogScope::Kind::kSession) {
    const Session* session = FindSession(scope.id);
    return session == nullptr ? nullptr : &session->lane;
  }
  auto it = projects_.find(scope.id);
  return it == projects_.end() ? nullptr : &it->second;
}

const RecentLog::Session* RecentLog::FindSession(const std::string& session_id) const {
  auto it = sessions_.find(session_id);
  return it == sessions_.end() ? nullptr : &it->second;
}

void RecentLog::SetStored(const LogScope& scope, uint64_t oldest_position,
                          uint64_t newest_position) {
  Lane& lane = LaneOf(scope);
  lane.oldest = oldest_position;
  lane.newest = lane.floor = newest_position;
}

void RecentLog::SetStoredSeqs(const std::string& session_id, uint64_t oldest_seq,
                              uint64_t newest_seq) {
  Session& session = sessions_[session_id];
  session.oldest_seq = oldest_seq;
  session.newest_seq = newest_seq;
}

void RecentLog::Append(const LogRowPtr& row) {
  Session& session = sessions_[row->session_id];
  if (session.oldest_seq == 0) session.oldest_seq = row->first_seq;
  session.newest_seq = row->last_seq();
  AppendTo(session.lane, row);
  AppendTo(projects_[row->project_id], row);
  AppendTo(all_, row);
  bytes_ += RowCost(*row);
  Evict();
}

void RecentLog::Evict() {
  while (bytes_ > max_bytes_ && !all_.rows.empty()) {
    const LogRowPtr row = all_.rows.front();
    DropFront(all_);
    DropFront(projects_[row->project_id]);
    DropFront(sessions_[row->session_id].lane);
    bytes_ -= RowCost(*row);
  }
}

void RecentLog::Forget(const std::string& session_id) {
  Session& session = sessions_[session_id];
  for (const LogRowPtr& row : session.lane.rows) bytes_ -= RowCost(*row);
  DropSession(projects_[session.project_id], session_id);
  DropSession(all_, session_id);
  session.lane.rows.clear();
  session.lane.oldest = 0;
  session.oldest_seq = 0;
  session.cut_position = 0;
}

void RecentLog::SetCut(const std::string& session_id, uint64_t cut_position) {
  sessions_[session_id].cut_position = cut_position;
  newest_cut_ = std::max(newest_cut_, cut_position);
}

void RecentLog::Cut(const std::string& session_id, uint64_t cut_position, uint64_t oldest_seq,
                    uint64_t oldest_position) {
  SetCut(session_id, cut_position);
  Session& session = sessions_[session_id];
  session.oldest_seq = oldest_seq;
  session.lane.oldest = oldest_position;
  if (session.lane.rows.empty() || session.lane.rows.front()->first_position > cut_position) return;
  const auto is_gone = [&](const LogRowPtr& row) {
    return row->session_id == session_id && row->first_position <= cut_position;
  };
  for (const LogRowPtr& row : session.lane.rows) {
    if (is_gone(row)) bytes_ -= RowCost(*row);
  }
  for (Lane* lane : {&session.lane, &projects_[session.project_id], &all_}) {
    std::erase_if(lane->rows, is_gone);
  }
}

std::vector<LostEvents> RecentLog::LostBehind(const LogScope& scope, uint64_t after) const {
  std::vector<LostEvents> lost;
  if (after >= newest_cut_) return lost;
  const auto look_at = [&](const std::string& session_id, const Session& session) {
    if (session.cut_position <= after) return;
    const uint64_t next_seq = session.oldest_seq != 0 ? session.oldest_seq : session.newest_seq + 1;
    lost.push_back({session_id, session.project_id, next_seq, session.lane.oldest});
  };
  if (scope.kind == LogScope::Kind::kSession) {
    if (const Session* session = FindSession(scope.id)) look_at(scope.id, *session);
    return lost;
  }
  for (const auto& [session_id, session] : sessions_) {
    if (scope.kind == LogScope::Kind::kProject && session.project_id != scope.id) continue;
    look_at(session_id, session);
  }
  return lost;
}

void RecentLog::SetOldest(const LogScope& scope, uint64_t oldest_position) {
  LaneOf(scope).oldest = oldest_position;
}

std::vector<LogRowPtr> RecentLog::Rows(const Lane& lane, uint64_t after, size_t max_bytes) {
  auto it = std::upper_bound(
      lane.rows.begin(), lane.rows.end(), after,
      [](uint64_t position, const LogRowPtr& row) { return position < row->last_position(); });
  std::vector<LogRowPtr> rows;
  size_t bytes = 0;
  for (; it != lane.rows.end() && (rows.empty() || bytes + (*it)->bytes.size() <= max_bytes);
       ++it) {
    bytes += (*it)->bytes.size();
    rows.push_back(*it);
  }
  return rows;
}

}  // namespace acpd::session
