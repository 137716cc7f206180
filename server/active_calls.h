#ifndef ACPD_SERVER_ACTIVE_CALLS_H_
#define ACPD_SERVER_ACTIVE_CALLS_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "session/mutex.h"

namespace acpd::server {

// A call that goes on until somebody ends it.
class Endable {
 public:
  virtual ~Endable() = default;
  // The server is going down.
  virtual void EndForShutdown() = 0;
};

// The calls under way, so that shutting down can end the streams, refuse new calls and wait for the
// rest. Thread-safe. Owned by the GrpcServer; every call is gone from it before it goes.
class ActiveCalls {
 public:
  // False: the server is going down, the call is to be refused (it counts all the same until
  // Remove).
  bool Add(const void* call);
  // Its stream ends with the server. Ends it at once when that has begun.
  void AddStream(const void* call, std::weak_ptr<Endable> stream);
  void Remove(const void* call);
  size_t CountStreams();

  // From now on Add says no; ends the streams.
  void Drain();
  // True when no call is left, false when `deadline` came first.
  bool AwaitNone(std::chrono::steady_clock::time_point deadline);

 private:
  session::Mutex mutex_;
  session::CondVar none_;
  std::unordered_map<const void*, std::weak_ptr<Endable>> calls_ ABSL_GUARDED_BY(mutex_);
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace acpd::server

#endif  // ACPD_SERVER_ACTIVE_CALLS_H_
