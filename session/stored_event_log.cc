#include "session/stored_event_log.h"

#include <algorithm>
#include <set>

#include "session/errors.h"

namespace acpd::session {
namespace {

constexpr size_t kDiskPageBytes = 256 << 10;

LogScope ProjectScope(std::string id) { return {LogScope::Kind::kProject, std::move(id)}; }

std::vector<LogRowPtr> RowsOf(const std::vector<LogRowPtr>& rows, const LogScope& scope) {
  std::vector<LogRowPtr> in_scope;
  for (const LogRowPtr& row : rows) {
    if (IsInScope(scope, row->session_id, row->project_id)) in_scope.push_back(row);
  }
  return in_scope;
}

std::vector<LogRowPtr> RowsBehind(const std::vector<LogRowPtr>& rows, uint64_t after,
                                  size_t max_bytes) {
  std::vector<LogRowPtr> taken;
  size_t bytes = 0;
  for (const LogRowPtr& row : rows) {
    if (row->last_position() <= after) continue;
    if (!taken.empty() && bytes + row->bytes.size() > max_bytes) break;
    bytes += row->bytes.size();
    taken.push_back(row);
  }
  return taken;
}

absl::Status CannotRead(const std::string& why) {
  return MakeError(absl::StatusCode::kUnavailable, "STORE_UNAVAILABLE", why);
}

}  // namespace

void StoredEventLog::Fill(const std::function<void(RecentLog&)>& fill) {
  MutexLock lock(mutex_);
  fill(recent_);
}

// ---- Readers.

StoredEventLog::Answer StoredEventLog::Decide(const Pending& pending, Page* page,
                                              uint64_t* through) const {
  const RecentLog::Lane* lane = recent_.FindLane(pending.scope);
  if (lane != nullptr && pending.after < lane->newest) {
    *through = lane->newest;
    if (pending.after < lane->floor) return Answer::kDisk;
    page->rows = RecentLog::Rows(*lane, pending.after, pending.max_bytes);
    // Without rows the events behind the cursor were forgotten.
    if (!page->rows.empty()) return Answer::kPage;
  }
  if (pending.scope.kind == LogScope::Kind::kSession) {
    const RecentLog::Session* session = recent_.FindSession(pending.scope.id);
    if (session != nullptr && session->ended()) {
      page->deleted = session->deleted;
      if (!session->deleted) page->replaced_by = session->replaced_by;
      return Answer::kPage;
    }
  }
  return pending.past_only ? Answer::kPage : Answer::kWait;
}

bool StoredEventLog::Next(const LogScope& scope, uint64_t after, size_t max_bytes, bool past_only,
                          Page* page, PageDone done, uint64_t* ticket) {
  auto pending = std::make_shared<Pending>(
      Pending{scope, after, max_bytes, past_only, std::move(done), 0, {}});
  {
    MutexLock lock(mutex_);
    *ticket = pending->ticket = next_ticket_++;
    pending_[pending->ticket] = pending;
  }
  return Follow(pending, page);
}

// True: `page` is the answer and the ticket is used up. Otherwise the answer comes by `done`, or
// never if the reader has left.
bool StoredEventLog::Follow(const PendingPtr& pending, Page* page) {
  uint64_t through = 0;
  {
    MutexLock lock(mutex_);
    if (!pending_.contains(pending->ticket)) return false;
    switch (Decide(*pending, page, &through)) {
      case Answer::kPage:
        page->lost = std::move(pending->lost);
        if (page->lost.empty()) page->lost = recent_.LostBehind(pending->scope, pending->after);
        pending_.erase(pending->ticket);
        return true;
      case Answer::kWait:
        waiters_[{pending->scope.kind, pending->scope.id}][pending->ticket] = pending;
        return false;
      case Answer::kDisk:
        break;
    }
  }
  const bool submitted = Submit([this, pending, through](StoreReader& reader) {
    TakePage(pending, through,
             reader.Page(pending->scope, pending->after, through,
                         std::min(pending->max_bytes, kDiskPageBytes)));
  });
  if (submitted) return false;
  page->status = CannotRead("The store is closed.");
  return TakeTicket(pending->ticket);
}

bool StoredEventLog::Submit(ReaderPool::Job job) {
  return readers_ != nullptr && readers_->Submit(std::move(job));
}

// Reader thread.
void StoredEventLog::TakePage(const PendingPtr& pending, uint64_t through,
                              absl::StatusOr<StoreReader::LogPage> read) {
  Page page;
  if (read.ok() && pending->lost.empty()) pending->lost = std::move(read->lost);
  if (!read.ok()) {
    page.status = CannotRead(std::string(read.status().message()));
  } else if (read->rows.empty()) {
    // What lay behind the cursor is gone: nothing is left up to `through`.
    pending->after = std::max(pending->after, through);
    if (Follow(pending, &page)) pending->done(std::move(page));
    return;
  } else {
    page.rows = std::move(read->rows);
    page.lost = std::move(pending->lost);
  }
  if (TakeTicket(pending->ticket)) pending->done(std::move(page));
}

bool StoredEventLog::TakeTicket(uint64_t ticket) {
  MutexLock lock(mutex_);
  return pending_.erase(ticket) > 0;
}

void StoredEventLog::Forget(uint64_t ticket) {
  PendingPtr leaving;  // freed outside of the lock, with whatever its callback holds
  MutexLock lock(mutex_);
  auto it = pending_.find(ticket);
  if (it == pending_.end()) return;
  leaving = std::move(it->second);
  pending_.erase(it);
  auto waiters = waiters_.find({leaving->scope.kind, leaving->scope.id});
  if (waiters == waiters_.end()) return;
  waiters->second.erase(ticket);
  if (waiters->second.empty()) waiters_.erase(waiters);
}

// ---- The store thread.

void StoredEventLog::Apply(const Publication& publication) {
  for (const Publication::Cut& cut : publication.cuts) {
    if (!cut.forgotten) {
      recent_.Cut(cut.session_id, cut.cut_position, cut.oldest_seq, cut.oldest_position);
    }
    recent_.SetOldest(ProjectScope(cut.project_id), cut.oldest_in_project);
    recent_.SetOldest({}, cut.oldest_of_all);
  }
  for (const Publication::Forgotten& gone : publication.forgotten) {
    recent_.Forget(gone.session_id);
    recent_.SetOldest(ProjectScope(gone.project_id), gone.oldest_in_project);
    recent_.SetOldest({}, gone.oldest);
  }
  for (const SessionRow& row : publication.sessions) recent_.Update(row);
  for (const LogRowPtr& row : publication.rows) recent_.Append(row);
}

void StoredEventLog::TakeWoken(const ScopeKey& key, const std::vector<LogRowPtr>& committed,
                               Woken& woken) {
  auto it = waiters_.find(key);
  if (it == waiters_.end()) return;
  Waiters& waiters = it->second;
  const std::vector<LogRowPtr> rows = RowsOf(committed, {key.first, key.second});
  for (auto waiter = waiters.begin(); waiter != waiters.end();) {
    Page page;
    uint64_t through = 0;
    page.rows = RowsBehind(rows, waiter->second->after, waiter->second->max_bytes);
    if (page.rows.empty() && Decide(*waiter->second, &page, &through) != Answer::kPage) {
      ++waiter;
      continue;
    }
    page.lost = std::move(waiter->second->lost);
    if (page.lost.empty())
      page.lost = recent_.LostBehind(waiter->second->scope, waiter->second->after);
    pending_.erase(waiter->first);
    woken.emplace_back(std::move(waiter->second), std::move(page));
    waiter = waiters.erase(waiter);
  }
  if (waiters.empty()) waiters_.erase(it);
}

void StoredEventLog::Publish(Publication publication) {
  std::set<ScopeKey> touched;
  for (const SessionRow& row : publication.sessions) {
    touched.emplace(LogScope::Kind::kSession, row.session_id);
  }
  for (const LogRowPtr& row : publication.rows) {
    touched.emplace(LogScope::Kind::kSession, row->session_id);
    touched.emplace(LogScope::Kind::kProject, row->project_id);
    touched.emplace(LogScope::Kind::kEverything, "");
  }
  // The pages are made of the commit itself: a large one may not fit into the recent log.
  Woken woken;
  {
    MutexLock lock(mutex_);
    Apply(publication);
    for (const ScopeKey& key : touched) TakeWoken(key, publication.rows, woken);
  }
  for (auto& [pending, page] : woken) pending->done(std::move(page));
}

// ---- Questions about the log.

uint64_t StoredEventLog::newest_position() const {
  MutexLock lock(mutex_);
  return recent_.FindLane({})->newest;
}

LogBounds StoredEventLog::Bounds(const LogScope& scope) const {
  MutexLock lock(mutex_);
  LogBounds bounds;
  const RecentLog::Lane* lane = recent_.FindLane(scope);
  if (lane == nullptr) return bounds;
  bounds.oldest_position = lane->oldest;
  bounds.newest_position = lane->newest;
  if (scope.kind == LogScope::Kind::kSession) {
    const RecentLog::Session* session = recent_.FindSession(scope.id);
    bounds.oldest_seq = session->oldest_seq;
    bounds.newest_seq = session->newest_seq;
  }
  return bounds;
}

std::optional<uint64_t> StoredEventLog::EpochEnd(const std::string& epoch) const {
  auto end = epoch_ends_.find(epoch);
  if (end == epoch_ends_.end()) return std::nullopt;
  return end->second;
}

std::shared_ptr<const Labels> StoredEventLog::LabelsOf(const std::string& session_id) const {
  static const auto* const kNone = new std::shared_ptr<const Labels>(std::make_shared<Labels>());
  MutexLock lock(mutex_);
  const RecentLog::Session* session = recent_.FindSession(session_id);
  return session == nullptr || session->labels == nullptr ? *kNone : session->labels;
}

void StoredEventLog::Locate(std::string session_id, uint64_t seq,
                            std::function<void(uint64_t position)> done) {
  const bool submitted = Submit([session_id = std::move(session_id), seq, done](StoreReader& r) {
    done(r.Locate(session_id, seq));
  });
  if (!submitted) done(0);
}

void StoredEventLog::ReadEvent(std::string session_id, uint64_t seq,
                               std::function<void(uint64_t, std::string)> done) {
  const bool submitted = Submit([session_id = std::move(session_id), seq, done](StoreReader& r) {
    StoreReader::Event event = r.ReadEvent(session_id, seq);
    done(event.position, std::move(event.bytes));
  });
  if (!submitted) done(0, "");
}

// Sets the bounds to what is published. False: there is nothing between them, and `nothing` says
// so.
bool StoredEventLog::ClampToPublished(SessionRange* range, SessionRows* nothing) const {
  MutexLock lock(mutex_);
  const RecentLog::Session* session = recent_.FindSession(range->session_id);
  if (session == nullptr) return false;
  nothing->deleted = session->deleted;
  const uint64_t end = session->newest_seq + 1;
  if (range->before_seq == 0 || range->before_seq > end) range->before_seq = end;
  return !session->deleted && range->after_seq < range->before_seq - 1;
}

void StoredEventLog::ReadSession(SessionRange range, size_t max_bytes,
                                 std::function<void(SessionRows)> done) {
  const bool submitted = Submit([this, range = std::move(range), max_bytes, done](StoreReader& r) {
    SessionRange published = range;
    SessionRows read;
    if (ClampToPublished(&published, &read)) {
      auto rows = r.SessionRowsOf(published, std::min(max_bytes, kDiskPageBytes));
      if (!rows.ok()) read.status = CannotRead(std::string(rows.status().message()));
      if (rows.ok()) read.rows = *std::move(rows);
    }
    done(std::move(read));
  });
  if (submitted) return;
  SessionRows closed;
  closed.status = CannotRead("The store is closed.");
  done(std::move(closed));
}

}  // namespace acpd::session
