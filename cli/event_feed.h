#ifndef ACPD_CLI_EVENT_FEED_H_
#define ACPD_CLI_EVENT_FEED_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "cli/connection.h"

namespace acpd::cli {

// Opens and reads a stream of events on a thread of its own (both block, the one until there is a
// connection), so that its owner can wait for them by poll(2) together with other things. Bounded:
// the thread waits while the owner is behind. Everything else happens on the owner's thread.
class EventFeed {
 public:
  using Stream = grpc::ClientReader<acpd::v1::ProgressEvent>;

  using Open = std::function<std::unique_ptr<Stream>()>;

  // `context` is the stream's and must outlive it.
  EventFeed(Open open, grpc::ClientContext* context);
  ~EventFeed();  // cancels a stream that has not ended
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;

  // Readable when there is something to take.
  int fd() const { return wake_; }
  // The events that have come since, possibly none.
  std::deque<acpd::v1::ProgressEvent> Take();
  // The last event has been taken, and `status` is the stream's.
  bool ended() const { return taken_all_; }
  const grpc::Status& status() const { return status_; }

 private:
  void Read();
  void Wake() const;

  Open open_;
  grpc::ClientContext* context_;
  int wake_;  // eventfd
  bool taken_all_ = false;
  std::mutex mutex_;
  std::condition_variable room_;
  std::deque<acpd::v1::ProgressEvent> events_;
  bool stream_ended_ = false;
  bool abandoned_ = false;
  grpc::Status status_;  // written before stream_ended_ is set
  std::thread thread_;
};

}  // namespace acpd::cli

#endif  // ACPD_CLI_EVENT_FEED_H_
