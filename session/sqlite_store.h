#ifndef ACPD_SESSION_SQLITE_STORE_H_
#define ACPD_SESSION_SQLITE_STORE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "session/checkpointer.h"
#include "session/event_log.h"
#include "session/reader_pool.h"
#include "session/state_dir.h"
#include "session/store.h"
#include "session/store_loader.h"
#include "session/store_meta.h"
#include "session/store_writer.h"
#include "session/stored_event_log.h"

namespace acpd::session {

// What tests change; the defaults are the daemon's.
struct SqliteStoreTuning {
  StoreWriter::Options writer;
  Checkpointer::Limits checkpoints;
  StorePruner::Options pruner;
  std::string boot_id = BootId();
};

// The Store over a SQLite file in state_dir, and its event log. It holds the threads: one that
// writes, one that moves the WAL into the database, two that read. Thread-safe but for Load and
// Close, which come first and last.
class SqliteStore : public Store {
 public:
  using PostToLoop = std::function<void(std::function<void()>)>;

  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(StoreOptions options, PostToLoop post,
                                                           SqliteStoreTuning tuning = {});
  ~SqliteStore() override;

  EventLog* log() { return &log_; }

  absl::StatusOr<LoadedState> Load() override;
  const std::string& epoch() const override { return meta_.epoch; }
  const std::string& store_id() const override { return meta_.store_id; }
  uint64_t generation() const override { return meta_.generation; }
  const std::string& fingerprint_key() const override { return meta_.fingerprint_key; }
  void Commit(std::vector<Record> group, CommitDone done) override;
  size_t uncommitted_bytes() const override;
  absl::Status health() const override;
  bool Close(milliseconds timeout) override;
  void FindTurn(TurnQuery query, std::function<void(std::optional<FoundTurn>)> done) override;
  void ListTurns(TurnListQuery query, std::function<void(std::vector<FoundTurn>)> done) override;
  void FindQuestion(std::string session_id, std::string question_id,
                    std::function<void(std::optional<QuestionRow>)> done) override;

 private:
  SqliteStore(StoreOptions options, PostToLoop post, SqliteStoreTuning tuning, StateLock lock,
              std::unique_ptr<Database> db, StoreMeta meta);
  absl::StatusOr<LoadedState> StartThreads(StoredState stored);
  Committer::Options CommitterOptions() const;
  absl::Status StartReaders();

  const StoreOptions options_;
  const PostToLoop post_;
  const SqliteStoreTuning tuning_;
  const std::string path_;
  StateLock lock_;
  std::unique_ptr<Database> db_;  // until Load gives it to the writer
  StoreMeta meta_;
  StoredEventLog log_;
  std::unique_ptr<ReaderPool> readers_;
  std::unique_ptr<Checkpointer> checkpointer_;
  std::unique_ptr<StoreWriter> writer_;
  bool closed_ = false;
  bool closed_clean_ = true;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_SQLITE_STORE_H_
