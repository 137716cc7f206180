#ifndef ACPD_SESSION_CHECKPOINTER_H_
#define ACPD_SESSION_CHECKPOINTER_H_

#include <cstddef>
#include <memory>
#include <thread>

#include "session/mutex.h"
#include "session/sqlite.h"

namespace acpd::session {

// Moves the WAL into the database on its own thread and connection, so that no commit stalls for
// it: PASSIVE whenever the WAL has grown by a step. Past the bound the writer waits until all of
// the WAL has been moved, and it starts anew. Thread-safe. Owned by the store.
class Checkpointer {
 public:
  struct Limits {
    size_t step = 4u << 20;
    size_t bound = 256u << 20;
  };
  Checkpointer(std::unique_ptr<Database> db, Limits limits);
  ~Checkpointer();

  // Told by the writer after each commit. Returns when the WAL is within its bound, or could not be
  // brought there: a full disk or a long reader; the next commit tries again.
  void WalHas(size_t bytes);

 private:
  enum class Work { kNone, kPassive, kTruncate };

  void Run();
  Work NextWork();

  const std::unique_ptr<Database> db_;
  const Limits limits_;
  Mutex mutex_;
  CondVar changed_;
  Work wanted_ ABSL_GUARDED_BY(mutex_) = Work::kNone;
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  size_t last_step_ ABSL_GUARDED_BY(mutex_) = 0;  // the size at which a checkpoint was asked for
  std::thread thread_;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_CHECKPOINTER_H_
