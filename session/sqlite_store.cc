#include "session/sqlite_store.h"

#include <algorithm>
#include <utility>

#include "session/errors.h"
#include "session/store_schema.h"
#include "session/wall_clock.h"

namespace acpd::session {
namespace {

constexpr int kReaders = 2;

void FillLog(const StoredState& stored, uint64_t newest_position, RecentLog& log) {
  for (const SessionRow& row : stored.sessions) log.Update(row);
  for (const auto& [id, bounds] : stored.session_bounds) {
    log.SetStored({LogScope::Kind::kSession, id}, bounds.oldest_position, bounds.newest_position);
    log.SetStoredSeqs(id, bounds.oldest_seq, bounds.newest_seq);
  }
  for (const auto& [id, bounds] : stored.project_bounds) {
    log.SetStored({LogScope::Kind::kProject, id}, bounds.oldest_position, bounds.newest_position);
  }
  for (const auto& [id, position] : stored.cuts) log.SetCut(id, position);
  log.SetStored({}, stored.bounds.oldest_position, newest_position);
}

// The wall clock, by which events grow old; but no faster than time passes: one that is set forward
// while we run must not make all of them too old at once.
WallTime NoFasterThanTime(WallTime begun_at, std::chrono::steady_clock::time_point begun) {
  constexpr std::chrono::microseconds kSetByHand = std::chrono::hours(1);
  const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - begun);
  return std::min(WallNow(), begun_at + (passed + kSetByHand).count());
}

std::function<WallTime()> RetentionClock() {
  return [begun_at = WallNow(), begun = std::chrono::steady_clock::now()] {
    return NoFasterThanTime(begun_at, begun);
  };
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::Open(StoreOptions options,
                                                               PostToLoop post,
                                                               SqliteStoreTuning tuning) {
  if (absl::Status status = MakeStateDir(options.state_dir); !status.ok()) return status;
  absl::StatusOr<StateLock> lock = StateLock::Take(options.state_dir);
  if (!lock.ok()) return lock.status();
  const std::string path = DatabasePath(options.state_dir);
  absl::StatusOr<std::unique_ptr<Database>> db = OpenForWriting(path);
  if (!db.ok()) return db.status();
  absl::StatusOr<StoreMeta> meta = OpenMeta(**db, tuning.boot_id);
  if (!meta.ok()) return ExplainDamage(meta.status(), path);
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(options), std::move(post),
                                                      std::move(tuning), *std::move(lock),
                                                      *std::move(db), *std::move(meta)));
}

SqliteStore::SqliteStore(StoreOptions options, PostToLoop post, SqliteStoreTuning tuning,
                         StateLock lock, std::unique_ptr<Database> db, StoreMeta meta)
    : options_(std::move(options)),
      post_(std::move(post)),
      tuning_(std::move(tuning)),
      path_(DatabasePath(options_.state_dir)),
      lock_(std::move(lock)),
      db_(std::move(db)),
      meta_(std::move(meta)),
      log_(options_.recent_bytes) {}

SqliteStore::~SqliteStore() { Close(milliseconds(0)); }

absl::StatusOr<LoadedState> SqliteStore::Load() {
  absl::StatusOr<uint64_t> generation = RaiseGeneration(*db_, tuning_.boot_id);
  if (!generation.ok()) return ExplainDamage(generation.status(), path_);
  meta_.generation = *generation;
  absl::StatusOr<StoredState> stored = LoadState(*db_, options_.retention);
  if (!stored.ok()) return ExplainDamage(stored.status(), path_);
  return StartThreads(*std::move(stored));
}

absl::Status SqliteStore::StartReaders() {
  std::vector<std::unique_ptr<StoreReader>> readers;
  for (int i = 0; i < kReaders; ++i) {
    absl::StatusOr<std::unique_ptr<StoreReader>> reader = StoreReader::Open(path_);
    if (!reader.ok()) return ExplainDamage(reader.status(), path_);
    readers.push_back(*std::move(reader));
  }
  readers_ = std::make_unique<ReaderPool>(std::move(readers));
  log_.SetReaders(readers_.get());
  return absl::OkStatus();
}

absl::StatusOr<LoadedState> SqliteStore::StartThreads(StoredState stored) {
  log_.SetEpochEnds(std::move(stored.epoch_ends));
  log_.Fill([&](RecentLog& log) { FillLog(stored, meta_.newest_position, log); });
  if (absl::Status status = StartReaders(); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<Database>> checkpoints = OpenForCheckpoints(path_);
  if (!checkpoints.ok()) return checkpoints.status();
  auto committer = std::make_unique<Committer>(std::move(db_), meta_.generation,
                                               meta_.newest_position, std::move(stored.marks),
                                               std::move(stored.sizes), CommitterOptions());
  if (absl::Status status = committer->db().TakeStatus(); !status.ok()) {
    return ExplainDamage(status, path_);
  }
  checkpointer_ = std::make_unique<Checkpointer>(*std::move(checkpoints), tuning_.checkpoints);
  writer_ = std::make_unique<StoreWriter>(
      std::move(committer), checkpointer_.get(), ReserveFile(options_.state_dir + "/reserve"),
      tuning_.writer,
      StoreWriter::Hooks{[this](Publication p) { log_.Publish(std::move(p)); }, post_});
  return std::move(stored.state);
}

Committer::Options SqliteStore::CommitterOptions() const {
  return {options_.retention, options_.request_id_ttl,
          options_.now ? options_.now : RetentionClock(), tuning_.pruner};
}

void SqliteStore::Commit(std::vector<Record> group, CommitDone done) {
  writer_->Commit(std::move(group), std::move(done));
}

size_t SqliteStore::uncommitted_bytes() const { return writer_ ? writer_->uncommitted_bytes() : 0; }

absl::Status SqliteStore::health() const { return writer_ ? writer_->health() : absl::OkStatus(); }

// The clean stop is marked last: whatever it claims is on the disk by then.
bool SqliteStore::Close(milliseconds timeout) {
  if (std::exchange(closed_, true)) return closed_clean_;
  if (writer_ == nullptr) return true;
  closed_clean_ = writer_->Close(StoreWriter::Clock::now() + timeout);
  readers_->Stop();
  checkpointer_.reset();
  Database& db = writer_->committer().db();
  if (closed_clean_) closed_clean_ = MarkCleanStop(db).ok();
  sqlite3_wal_checkpoint_v2(db.handle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  return closed_clean_;
}

void SqliteStore::FindTurn(TurnQuery query, std::function<void(std::optional<FoundTurn>)> done) {
  const bool submitted = readers_->Submit(
      [query = std::move(query), done](StoreReader& reader) { done(reader.FindTurn(query)); });
  if (!submitted) done(std::nullopt);
}

void SqliteStore::ListTurns(TurnListQuery query, std::function<void(std::vector<FoundTurn>)> done) {
  const bool submitted = readers_->Submit(
      [query = std::move(query), done](StoreReader& reader) { done(reader.ListTurns(query)); });
  if (!submitted) done({});
}

void SqliteStore::FindQuestion(std::string session_id, std::string question_id,
                               std::function<void(std::optional<QuestionRow>)> done) {
  const bool submitted = readers_->Submit(
      [session_id = std::move(session_id), question_id = std::move(question_id),
       done](StoreReader& reader) { done(reader.FindQuestion(session_id, question_id)); });
  if (!submitted) done(std::nullopt);
}

absl::StatusOr<OpenedStore> OpenSqliteStore(
    StoreOptions options, std::function<void(std::function<void()>)> post_to_loop) {
  absl::StatusOr<std::unique_ptr<SqliteStore>> store =
      SqliteStore::Open(std::move(options), std::move(post_to_loop));
  if (!store.ok()) return store.status();
  EventLog* log = (*store)->log();
  return OpenedStore{*std::move(store), log};
}

}  // namespace acpd::session
