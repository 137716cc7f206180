#include "session/reader_pool.h"

#include <utility>

namespace acpd::session {

ReaderPool::ReaderPool(std::vector<std::unique_ptr<StoreReader>> readers)
    : readers_(std::move(readers)) {
  for (const auto& reader : readers_) {
    threads_.emplace_back([this, reader = reader.get()] { Run(*reader); });
  }
}

ReaderPool::~ReaderPool() { Stop(); }

bool ReaderPool::Submit(Job job) {
  MutexLock lock(mutex_);
  if (stop_) return false;
  jobs_.push_back(std::move(job));
  changed_.NotifyOne();
  return true;
}

void ReaderPool::Stop() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void ReaderPool::Run(StoreReader& reader) {
  while (true) {
    Job job;
    {
      MutexLock lock(mutex_);
      while (jobs_.empty() && !stop_) changed_.Wait(mutex_);
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job(reader);
  }
}

}  // namespace acpd::session
