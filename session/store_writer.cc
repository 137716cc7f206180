#include "session/store_writer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "session/errors.h"

namespace acpd::session {
namespace {

constexpr char kReason[] = "STORE_UNAVAILABLE";
constexpr size_t kPageSize = 16384;

absl::Status Unavailable(std::string_view message) {
  return MakeError(absl::StatusCode::kUnavailable, kReason, message);
}

absl::Status Closed() { return Unavailable("The store was closed before this was committed."); }

std::unique_ptr<CommitGroup> MakeGroup(std::vector<Record> records, Store::CommitDone done) {
  auto group = std::make_unique<CommitGroup>();
  for (const Record& record : records) {
    group->cost += record.cost();
    group->events += record.events.size();
    group->full_sync |= record.full_sync;
    group->forgets |= record.forget_session;
  }
  group->records = std::move(records);
  group->done = std::move(done);
  return group;
}

using Batch = std::vector<std::unique_ptr<CommitGroup>>;

// The groups of a batch that need not wait for the disk, and behind them those that must: what has
// to be synced, and what follows it in its session.
std::pair<Batch, Batch> SplitBySync(Batch batch) {
  std::pair<Batch, Batch> split;
  std::set<std::string> behind;
  for (auto& group : batch) {
    const bool waits = group->full_sync || std::any_of(group->records.begin(), group->records.end(),
                                                       [&](const Record& record) {
                                                         return behind.contains(record.session_id);
                                                       });
    if (waits) {
      for (const Record& record : group->records) behind.insert(record.session_id);
    }
    (waits ? split.second : split.first).push_back(std::move(group));
  }
  return split;
}

int KeepWalSize(void* wal_bytes, sqlite3*, const char*, int pages) {
  *static_cast<size_t*>(wal_bytes) = static_cast<size_t>(pages) * kPageSize;
  return SQLITE_OK;
}

}  // namespace

StoreWriter::StoreWriter(std::unique_ptr<Committer> committer, Checkpointer* checkpointer,
                         ReserveFile reserve, Options options, Hooks hooks)
    : committer_(std::move(committer)),
      checkpointer_(checkpointer),
      reserve_(std::move(reserve)),
      options_(std::move(options)),
      hooks_(std::move(hooks)) {
  prune_at_ = Clock::now() + options_.prune_every;
  sqlite3_wal_hook(committer_->db().handle(), KeepWalSize, &wal_bytes_);
  thread_ = std::thread([this] { Run(); });
}

StoreWriter::~StoreWriter() { Close(Clock::now()); }

void StoreWriter::Commit(std::vector<Record> records, Store::CommitDone done) {
  std::unique_ptr<CommitGroup> group = MakeGroup(std::move(records), std::move(done));
  {
    MutexLock lock(mutex_);
    if (!close_by_) {
      uncommitted_ += group->cost;
      queue_.push_back(std::move(group));
      changed_.NotifyAll();
      return;
    }
  }
  hooks_.post_to_loop([done = std::move(group->done)] {
    if (done) done({Closed(), 0});
  });
}

absl::Status StoreWriter::health() const {
  MutexLock lock(mutex_);
  if (absl::IsDataLoss(trouble_)) {
    return Unavailable(absl::StrCat("The store is damaged (", trouble_.message(),
                                    "): stop acpd, then restore state_dir from a backup or move "
                                    "it away to start with an empty one."));
  }
  if (!trouble_.ok()) {
    return Unavailable(absl::StrCat("The store cannot be written (", trouble_.message(),
                                    "): check the disk of state_dir; acpd goes on by itself."));
  }
  if (commit_since_ && Clock::now() - *commit_since_ > options_.stall) {
    return Unavailable("A commit takes unusually long: check the disk of state_dir.");
  }
  return absl::OkStatus();
}

bool StoreWriter::Close(Clock::time_point deadline) {
  {
    MutexLock lock(mutex_);
    if (!close_by_) close_by_ = deadline;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
  MutexLock lock(mutex_);
  return !left_something_;
}

void StoreWriter::Run() {
  reserve_.Make();
  while (std::optional<Batch> batch = NextBatch()) {
    auto [quick, synced] = SplitBySync(*std::move(batch));
    CommitBatch(std::move(quick));
    CommitBatch(std::move(synced));
    Prune();
    checkpointer_->WalHas(wal_bytes_);
  }
}

// An empty batch: it is time for a slice of retention.
std::optional<StoreWriter::Batch> StoreWriter::NextBatch() {
  MutexLock lock(mutex_);
  commit_since_.reset();
  while (queue_.empty() && !close_by_ && Clock::now() < prune_at_) {
    changed_.WaitUntil(mutex_, prune_at_);
  }
  if (queue_.empty() && close_by_) return std::nullopt;
  commit_since_ = Clock::now();
  Batch batch;
  size_t events = 0;
  while (!queue_.empty()) {
    const CommitGroup& next = *queue_.front();
    const bool alone = next.forgets || (!batch.empty() && batch.back()->forgets);
    if (!batch.empty() && (alone || events + next.events > kMaxEvents)) break;
    events += next.events;
    batch.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return batch;
}

void StoreWriter::CommitBatch(Batch batch) {
  if (batch.empty()) return;
  Groups groups;
  for (const auto& group : batch) {
    for (Record& record : group->records) committer_->Prepare(record);
    groups.push_back(group.get());
  }
  CommitAll(groups);
  Deliver(std::move(batch));
}

void StoreWriter::CommitAll(const Groups& groups) {
  absl::Status status = TimeIsUp() ? Closed() : CommitGroups(groups);
  if (status.ok()) return;
  const bool one_by_one = groups.size() > 1 && !IsTransient(status);
  for (CommitGroup* group : groups) {
    // Alone, so that the others are not lost with the one that cannot be stored.
    if (one_by_one) status = CommitGroups({group});
    if (!status.ok()) {
      group->result = {status, 0};
      committer_->AddStandings(*group);
    }
  }
  if (IsTransient(status)) {
    MutexLock lock(mutex_);
    left_something_ = true;
  }
}

absl::Status StoreWriter::CommitGroups(const Groups& groups) {
  Publication publication;
  absl::Status status = TryOnce(groups, &publication);
  while (IsTransient(status)) {
    SetTrouble(status);
    const bool again_at_once = absl::IsResourceExhausted(status) && reserve_.GiveUp();
    if (!again_at_once && !PauseBeforeRetry()) return Closed();
    status = TryOnce(groups, &publication);
  }
  // Damage does not pass: the store stays unavailable until a commit shows otherwise.
  SetTrouble(absl::IsDataLoss(status) ? status : absl::OkStatus());
  if (!status.ok()) return status;
  if (!publication.empty()) hooks_.publish(std::move(publication));
  reserve_.Make();
  return status;
}

bool StoreWriter::IsClosing() const {
  MutexLock lock(mutex_);
  return close_by_.has_value();
}

// A slice that fails has done nothing and is tried again the next time.
void StoreWriter::Prune() {
  if (Clock::now() < prune_at_ || IsClosing()) return;
  if (options_.before_slice) options_.before_slice();
  const Clock::time_point began = Clock::now();
  Publication publication;
  const absl::StatusOr<bool> more = committer_->Prune(&publication);
  if (absl::IsDataLoss(more.status())) SetTrouble(more.status());
  if (!publication.empty()) hooks_.publish(std::move(publication));
  const Clock::time_point ended = Clock::now();
  const bool go_on = more.ok() && *more;
  prune_at_ = go_on ? ended + options_.prune_rest * (ended - began) : ended + options_.prune_every;
}

absl::Status StoreWriter::TryOnce(const Groups& groups, Publication* publication) {
  if (options_.before_commit) options_.before_commit(committer_->db().handle());
  return committer_->TryCommit(groups, publication);
}

bool StoreWriter::TimeIsUp() const {
  MutexLock lock(mutex_);
  return close_by_ && Clock::now() >= *close_by_;
}

// False: the store is being closed and its time is up.
bool StoreWriter::PauseBeforeRetry() {
  MutexLock lock(mutex_);
  const Clock::time_point until = Clock::now() + options_.retry;
  while (Clock::now() < until) {
    if (close_by_ && Clock::now() >= *close_by_) return false;
    changed_.WaitUntil(mutex_, close_by_ ? std::min(until, *close_by_) : until);
  }
  return true;
}

void StoreWriter::Deliver(Batch batch) {
  size_t cost = 0;
  auto results = std::make_shared<std::vector<std::pair<Store::CommitDone, CommitResult>>>();
  for (auto& group : batch) {
    cost += group->cost;
    results->emplace_back(std::move(group->done), std::move(group->result));
  }
  uncommitted_ -= cost;
  hooks_.post_to_loop([results] {
    for (auto& [done, result] : *results) {
      if (done) done(result);
    }
  });
}

void StoreWriter::SetTrouble(const absl::Status& status) {
  MutexLock lock(mutex_);
  trouble_ = status;
}

}  // namespace acpd::session
