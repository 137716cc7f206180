#ifndef ACPD_SERVER_SUBSCRIPTION_H_
#define ACPD_SERVER_SUBSCRIPTION_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "server/active_calls.h"
#include "server/call.h"
#include "server/event_feed.h"
#include "server/requests.h"
#include "server/status.h"
#include "server/subscription_start.h"
#include "session/mutex.h"

namespace acpd::server {

// One stream of events: a cursor that pulls pages from the log and writes them as they lie there,
// one write in flight. It holds one page at most, so a slow reader costs no more than that.
// Reactions come from gRPC's threads, pages from the log's, the start and the heartbeat from the
// loop; all meet under one lock, and each holds its own reference while it is inside (OnDone on
// another thread drops the stream's own). It owns itself until OnDone.
class Subscription final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                           public Endable,
                           public std::enable_shared_from_this<Subscription> {
 public:
  // SessionManager::Chat, or a test's stand-in.
  using Chat = std::function<awaitable<absl::StatusOr<session::ChatReply>>(
      session::CallPtr, session::ChatRequest,
      std::function<void(const session::ChatReply&)> accepted)>;

  struct Surroundings {
    CallContext calls;
    StartSources sources;
    Chat chat;
  };

  // For the service's methods: the reactor to return.
  static grpc::ServerWriteReactor<grpc::ByteBuffer>* Start(const Surroundings& surroundings,
                                                           grpc::CallbackServerContext* context,
                                                           SubscribeParams params);
  // Chat first; then the turn's events, up to its end. Of `params` only omit_json and heartbeat
  // count.
  static grpc::ServerWriteReactor<grpc::ByteBuffer>* StartChat(const Surroundings& surroundings,
                                                               grpc::CallbackServerContext* context,
                                                               session::ChatRequest chat,
                                                               SubscribeParams params);
  // A stream that ends at once.
  static grpc::ServerWriteReactor<grpc::ByteBuffer>* Refuse(grpc::CallbackServerContext* context,
                                                            const absl::Status& status);

  void EndForShutdown() override;

 private:
  Subscription(const Surroundings& surroundings, grpc::CallbackServerContext* context);
  static std::shared_ptr<Subscription> Make(const Surroundings& surroundings,
                                            grpc::CallbackServerContext* context);

  // Loop.
  static awaitable<void> Open(std::shared_ptr<Subscription> self, SubscribeParams params,
                              std::optional<session::ChatReply> accepted);
  static awaitable<void> OpenChat(std::shared_ptr<Subscription> self, session::ChatRequest chat,
                                  SubscribeParams params);
  static awaitable<void> Beat(std::weak_ptr<Subscription> weak,
                              std::shared_ptr<asio::steady_timer> timer, SteadyTime first);
  void SpawnOnLoop(std::function<awaitable<void>()> work);
  void Begin(const SubscribeParams& params, StreamStart start,
             const std::optional<session::ChatReply>& accepted);
  void SendIds(const session::ChatReply& reply);
  // When to look again; nullopt: never.
  std::optional<SteadyTime> OnBeat();

  // Any thread, without the lock.
  void Pump();
  void OnPage(uint64_t fetch, uint64_t horizon, session::EventLog::Page page);
  void End(absl::Status status);
  void ForgetPage();

  bool Advance() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishOnce(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint64_t Reached() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  const Surroundings surroundings_;
  session::EventLog* const log_;
  grpc::CallbackServerContext* const context_;
  const session::CallPtr call_;
  std::shared_ptr<Subscription> self_;

  session::Mutex mutex_;
  std::optional<EventFeed> feed_ ABSL_GUARDED_BY(mutex_);  // none before the start is known
  Metadata trailers_ ABSL_GUARDED_BY(mutex_);
  // The write in flight and the message after it: only who knows the next one may ask gRPC to hold
  // this one back.
  StreamMessage current_ ABSL_GUARDED_BY(mutex_), next_ ABSL_GUARDED_BY(mutex_);
  bool next_ready_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  // The first write carries the headers and must not be held back.
  bool wrote_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  // To finish with once nothing is in flight.
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  uint64_t sent_position_ ABSL_GUARDED_BY(mutex_) = 0;
  // The page that was asked for, while it is.
  bool fetching_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t fetch_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t ticket_ ABSL_GUARDED_BY(mutex_) = 0;
  milliseconds heartbeat_ ABSL_GUARDED_BY(mutex_){0};
  SteadyTime last_write_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<asio::steady_timer> beat_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace acpd::server

#endif  // ACPD_SERVER_SUBSCRIPTION_H_
