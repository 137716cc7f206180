#include <utility>

#include "server/convert.h"
#include "server/subscription.h"

// How a stream begins, all of it on the loop.
namespace acpd::server {
namespace {

v1::ProgressEvent StartedEvent(const session::LogBounds& bounds, const std::string& epoch) {
  v1::ProgressEvent event;
  auto* started = event.mutable_subscription_started();
  started->set_epoch(epoch);
  started->set_oldest_seq(bounds.oldest_seq);
  started->set_newest_seq(bounds.newest_seq);
  started->set_newest_position(bounds.newest_position);
  started->set_oldest_position(bounds.oldest_position);
  return event;
}

v1::ProgressEvent AcceptedEvent(const session::ChatReply& reply) {
  v1::ProgressEvent event;
  event.set_project_id(reply.turn.project_id);
  event.set_session_id(reply.turn.session_id);
  event.set_turn_id(reply.turn.turn_id);
  ToProto(reply, event.mutable_chat_accepted()->mutable_response());
  return event;
}

}  // namespace

awaitable<void> Subscription::Open(std::shared_ptr<Subscription> self, SubscribeParams params,
                                   std::optional<session::ChatReply> accepted) {
  absl::StatusOr<StreamStart> start =
      co_await FindStart(self->surroundings_.sources, self->call_, params);
  if (!start.ok()) {
    self->End(start.status());
    co_return;
  }
  self->Begin(params, *std::move(start), accepted);
}

awaitable<void> Subscription::OpenChat(std::shared_ptr<Subscription> self,
                                       session::ChatRequest chat, SubscribeParams params) {
  std::weak_ptr<Subscription> weak = self;
  std::function<void(const session::ChatReply&)> accepted =
      [weak](const session::ChatReply& reply) {
        if (const auto stream = weak.lock()) stream->SendIds(reply);
      };
  const absl::StatusOr<session::ChatReply> reply =
      co_await self->surroundings_.chat(self->call_, std::move(chat), accepted);
  if (!reply.ok()) {
    self->End(reply.status());
    co_return;
  }
  params.query.scope = {session::LogScope::Kind::kSession, reply->turn.session_id};
  params.query.until_turn_id = reply->turn.turn_id;
  params.start = SubscribeParams::Start::kAfterPosition;
  params.after = reply->turn.after_position;
  co_await Open(self, std::move(params), *reply);
}

// The first write carries them.
void Subscription::SendIds(const session::ChatReply& reply) {
  session::MutexLock lock(mutex_);
  if (finished_ || wrote_ || !trailers_.empty()) return;
  trailers_ = {{kSessionIdKey, reply.turn.session_id}, {kTurnIdKey, reply.turn.turn_id}};
  for (const auto& [key, value] : Fitting(HeadersOf(reply)))
    context_->AddInitialMetadata(key, value);
}

void Subscription::Begin(const SubscribeParams& params, StreamStart start,
                         const std::optional<session::ChatReply>& accepted) {
  EventFeed::Options options;
  options.scope = start.scope;
  options.cursor = start.cursor;
  options.next_seq = start.next_seq;
  options.past_end = start.past_end;
  options.filter = params.filter;
  options.omit_json = params.omit_json;
  options.replay_only = params.replay_only;
  options.until_turn_id = params.query.until_turn_id;
  options.until_turn_ended = start.until_turn_ended;
  options.labels_of = [log = log_](const std::string& session_id) {
    return log->LabelsOf(session_id);
  };
  {
    session::MutexLock lock(mutex_);
    if (finished_) return;
    EventFeed& feed = feed_.emplace(std::move(options));
    if (accepted) feed.Push(AcceptedEvent(*accepted));
    feed.Push(StartedEvent(start.bounds, surroundings_.sources.epoch));
    if (start.gap) {
      v1::ProgressEvent event;
      *event.mutable_gap() = *start.gap;
      feed.Push(std::move(event));
    }
    for (auto& [position, event] : start.open_questions)
      feed.PushResent(position, std::move(event));
    sent_position_ = start.cursor;
    heartbeat_ = params.heartbeat;
    last_write_ = std::chrono::steady_clock::now();
    beat_ = std::make_shared<asio::steady_timer>(surroundings_.calls.loop);
    Spawn(surroundings_.calls.loop, Beat(weak_from_this(), beat_, last_write_ + heartbeat_),
          [](const std::string&) {});
  }
  Pump();
}

}  // namespace acpd::server
