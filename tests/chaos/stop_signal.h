#ifndef ACPD_TESTS_CHAOS_STOP_SIGNAL_H_
#define ACPD_TESTS_CHAOS_STOP_SIGNAL_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace acpd::chaos {

// Tells actors that the run is over. Thread-safe.
class StopSignal {
 public:
  void Stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  // The pace of an actor. False: the run is over.
  bool Sleep(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, time, [this] { return stopped_; });
  }
  bool stopped() { return !Sleep(std::chrono::milliseconds(0)); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
};

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_STOP_SIGNAL_H_
