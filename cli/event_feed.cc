#include "cli/event_feed.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace acpd::cli {
namespace {

constexpr size_t kMostEvents = 1024;

}  // namespace

EventFeed::EventFeed(Open open, grpc::ClientContext* context)
    : open_(std::move(open)),
      context_(context),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { Read(); }) {}

EventFeed::~EventFeed() {
  if (!taken_all_) context_->TryCancel();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    abandoned_ = true;
  }
  room_.notify_all();
  thread_.join();
  close(wake_);
}

std::deque<acpd::v1::ProgressEvent> EventFeed::Take() {
  uint64_t count = 0;
  std::deque<acpd::v1::ProgressEvent> events;
  // Before the events are taken, so that none that comes meanwhile goes unnoticed.
  if (read(wake_, &count, sizeof count) < 0) return events;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    events.swap(events_);
    taken_all_ = stream_ended_;
  }
  room_.notify_all();
  return events;
}

void EventFeed::Read() {
  const std::unique_ptr<Stream> stream = open_();
  acpd::v1::ProgressEvent event;
  while (stream->Read(&event)) {
    std::unique_lock<std::mutex> lock(mutex_);
    room_.wait(lock, [this] { return events_.size() < kMostEvents || abandoned_; });
    events_.push_back(std::move(event));
    Wake();
  }
  const grpc::Status status = stream->Finish();
  const std::lock_guard<std::mutex> lock(mutex_);
  status_ = status;
  stream_ended_ = true;
  Wake();
}

void EventFeed::Wake() const {
  const uint64_t one = 1;
  if (write(wake_, &one, sizeof one) < 0) std::abort();
}

}  // namespace acpd::cli
