#include "server/active_calls.h"

#include <utility>
#include <vector>

namespace acpd::server {

bool ActiveCalls::Add(const void* call) {
  session::MutexLock lock(mutex_);
  calls_.emplace(call, std::weak_ptr<Endable>());
  return !draining_;
}

void ActiveCalls::AddStream(const void* call, std::weak_ptr<Endable> stream) {
  bool end = false;
  {
    session::MutexLock lock(mutex_);
    calls_[call] = stream;
    end = draining_;
  }
  const auto endable = end ? stream.lock() : nullptr;
  if (endable) endable->EndForShutdown();
}

void ActiveCalls::Remove(const void* call) {
  session::MutexLock lock(mutex_);
  calls_.erase(call);
  if (calls_.empty()) none_.NotifyAll();
}

size_t ActiveCalls::CountStreams() {
  session::MutexLock lock(mutex_);
  size_t streams = 0;
  for (const auto& [call, stream] : calls_) {
    if (!stream.expired()) ++streams;
  }
  return streams;
}

// The streams take their own locks and come back here when they are done: so they are ended outside
// of ours.
void ActiveCalls::Drain() {
  std::vector<std::shared_ptr<Endable>> streams;
  {
    session::MutexLock lock(mutex_);
    draining_ = true;
    for (const auto& [call, stream] : calls_) {
      if (auto endable = stream.lock()) streams.push_back(std::move(endable));
    }
  }
  for (const auto& stream : streams) stream->EndForShutdown();
}

bool ActiveCalls::AwaitNone(std::chrono::steady_clock::time_point deadline) {
  session::MutexLock lock(mutex_);
  while (!calls_.empty() && std::chrono::steady_clock::now() < deadline)
    none_.WaitUntil(mutex_, deadline);
  return calls_.empty();
}

}  // namespace acpd::server
