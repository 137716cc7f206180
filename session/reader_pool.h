#ifndef ACPD_SESSION_READER_POOL_H_
#define ACPD_SESSION_READER_POOL_H_

#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "session/mutex.h"
#include "session/store_reader.h"

namespace acpd::session {

// The reader threads: each has a connection of its own and takes the oldest job. Thread-safe. Owned
// by the store.
class ReaderPool {
 public:
  using Job = std::function<void(StoreReader&)>;

  explicit ReaderPool(std::vector<std::unique_ptr<StoreReader>> readers);
  ~ReaderPool();

  // False once stopped: the job will not run.
  bool Submit(Job job);
  // Runs what was submitted and joins the threads.
  void Stop();

 private:
  void Run(StoreReader& reader);

  std::vector<std::unique_ptr<StoreReader>> readers_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Job> jobs_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_READER_POOL_H_
