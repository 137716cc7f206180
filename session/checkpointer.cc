#include "session/checkpointer.h"

#include <utility>

namespace acpd::session {

Checkpointer::Checkpointer(std::unique_ptr<Database> db, Limits limits)
    : db_(std::move(db)), limits_(limits), thread_([this] { Run(); }) {}

Checkpointer::~Checkpointer() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void Checkpointer::WalHas(size_t bytes) {
  MutexLock lock(mutex_);
  if (bytes < last_step_) last_step_ = 0;  // it has started anew
  if (bytes > limits_.bound) {
    wanted_ = Work::kTruncate;
    changed_.NotifyAll();
    while (!stop_ && (wanted_ != Work::kNone || busy_)) changed_.Wait(mutex_);
  } else if (bytes - last_step_ >= limits_.step) {
    last_step_ = bytes;
    if (wanted_ == Work::kNone) wanted_ = Work::kPassive;
    changed_.NotifyAll();
  }
}

Checkpointer::Work Checkpointer::NextWork() {
  MutexLock lock(mutex_);
  busy_ = false;
  changed_.NotifyAll();
  while (!stop_ && wanted_ == Work::kNone) changed_.Wait(mutex_);
  if (stop_) return Work::kNone;
  busy_ = true;
  return std::exchange(wanted_, Work::kNone);
}

void Checkpointer::Run() {
  for (Work work = NextWork(); work != Work::kNone; work = NextWork()) {
    // The result does not matter: whatever stays in the WAL is taken the next time.
    sqlite3_wal_checkpoint_v2(
        db_->handle(), nullptr,
        work == Work::kTruncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE, nullptr,
        nullptr);
  }
}

}  // namespace acpd::session
