#include "server/subscription.h"

#include <utility>

#include "session/errors.h"

namespace acpd::server {
namespace {

// What a reader holds at most, but for a single larger event.
constexpr size_t kPageBytes = 256u << 10;

class RefusedStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  explicit RefusedStream(grpc::Status status) { Finish(std::move(status)); }
  void OnDone() override { delete this; }
};

}  // namespace

Subscription::Subscription(const Surroundings& surroundings, grpc::CallbackServerContext* context)
    : surroundings_(surroundings),
      log_(surroundings.sources.log),
      context_(context),
      call_(MakeCall(*context)) {}

std::shared_ptr<Subscription> Subscription::Make(const Surroundings& surroundings,
                                                 grpc::CallbackServerContext* context) {
  std::shared_ptr<Subscription> self(new Subscription(surroundings, context));
  self->self_ = self;
  surroundings.calls.active->AddStream(self.get(), self);
  return self;
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* Subscription::Start(
    const Surroundings& surroundings, grpc::CallbackServerContext* context,
    SubscribeParams params) {
  const auto self = Make(surroundings, context);
  // A stream has no answer that has to be there before its deadline.
  self->call_->deadline = SteadyTime::max();
  self->SpawnOnLoop(
      [self, params = std::move(params)] { return Open(self, params, std::nullopt); });
  return self.get();
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* Subscription::StartChat(
    const Surroundings& surroundings, grpc::CallbackServerContext* context,
    session::ChatRequest chat, SubscribeParams params) {
  const auto self = Make(surroundings, context);
  chat.wait_for = session::WaitFor::kAccepted;
  self->SpawnOnLoop([self, chat = std::move(chat), params = std::move(params)] {
    return OpenChat(self, chat, params);
  });
  return self.get();
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* Subscription::Refuse(
    grpc::CallbackServerContext* context, const absl::Status& status) {
  AddTrailers(TrailersOf(status), *context);
  return new RefusedStream(ToGrpcStatus(status));
}

void Subscription::SpawnOnLoop(std::function<awaitable<void>()> work) {
  asio::post(surroundings_.calls.loop, [self = shared_from_this(), work = std::move(work)] {
    Spawn(self->surroundings_.calls.loop, work(), [self](const std::string& what) {
      self->End(session::MakeError("INTERNAL", "a defect of acpd ended this stream: " + what));
    });
  });
}

awaitable<void> Subscription::Beat(std::weak_ptr<Subscription> weak,
                                   std::shared_ptr<asio::steady_timer> timer, SteadyTime first) {
  for (SteadyTime at = first;;) {
    timer->expires_at(at);
    boost::system::error_code error;
    co_await timer->async_wait(asio::redirect_error(use_awaitable, error));
    const auto self = weak.lock();
    const auto next = self ? self->OnBeat() : std::nullopt;
    if (!next) co_return;
    at = *next;
  }
}

std::optional<SteadyTime> Subscription::OnBeat() {
  const SteadyTime now = std::chrono::steady_clock::now();
  SteadyTime next = now;
  {
    session::MutexLock lock(mutex_);
    if (finished_) return std::nullopt;
    if (now < last_write_ + heartbeat_) return last_write_ + heartbeat_;
    next = now + heartbeat_;
    if (writing_ || next_ready_ || !fetching_) return next;
    feed_->PushHeartbeat(Reached());
  }
  Pump();
  return next;
}

// A reader of several sessions moves on with the log where nothing of its scope lies behind its
// cursor. (A reader of one session stays: what lies behind may be its successor's.)
uint64_t Subscription::Reached() {
  if (feed_->scope().kind == session::LogScope::Kind::kSession) return feed_->cursor();
  const uint64_t horizon = log_->newest_position();
  return log_->Bounds(feed_->scope()).newest_position <= feed_->cursor() ? horizon
                                                                         : feed_->cursor();
}

// Does what there is to do: writes the next message, finishes, or asks for a page. Pages that come
// at once are taken here.
void Subscription::Pump() {
  for (;;) {
    session::LogScope scope;
    uint64_t cursor = 0, fetch = 0;
    bool past_only = false;
    {
      session::MutexLock lock(mutex_);
      if (!Advance()) return;
      fetching_ = true;
      fetch = ++fetch_;
      scope = feed_->scope();
      cursor = feed_->cursor();
      past_only = feed_->in_past();
    }
    const uint64_t horizon = log_->newest_position();
    session::EventLog::Page page;
    uint64_t ticket = 0;
    auto done = [weak = weak_from_this(), fetch, horizon](session::EventLog::Page later) {
      if (const auto self = weak.lock()) self->OnPage(fetch, horizon, std::move(later));
    };
    const bool at_once =
        log_->Next(scope, cursor, kPageBytes, past_only, &page, std::move(done), &ticket);
    bool forget = false;
    {
      session::MutexLock lock(mutex_);
      if (at_once) {
        fetching_ = false;
        feed_->Add(std::move(page), horizon);
        continue;
      }
      if (fetching_ && fetch_ == fetch) ticket_ = ticket;
      forget = finished_;
    }
    if (forget) ForgetPage();
    return;
  }
}

// True: a page is needed.
bool Subscription::Advance() {
  if (finished_ || writing_) return false;
  if (end_) {
    FinishOnce(*end_);
    return false;
  }
  if (!feed_) return false;
  if (!next_ready_) next_ready_ = feed_->Next(&next_);
  if (next_ready_) {
    WriteNext();
    return false;
  }
  if (feed_->ended()) {
    FinishOnce(feed_->end_status());
    return false;
  }
  return !fetching_;
}

void Subscription::WriteNext() {
  current_.Swap(next_);
  next_ready_ = feed_->Next(&next_);
  grpc::WriteOptions options;
  if (wrote_ && next_ready_) options.set_buffer_hint();
  wrote_ = true;
  writing_ = true;
  StartWrite(&current_.bytes, options);
}

void Subscription::FinishOnce(const absl::Status& status) {
  finished_ = true;
  if (session::SessionIdOf(status).empty()) AddTrailers(trailers_, *context_);
  AddTrailers(TrailersOf(status), *context_);
  if (feed_) context_->AddTrailingMetadata(kPositionKey, std::to_string(sent_position_));
  Finish(ToGrpcStatus(status));
}

void Subscription::OnPage(uint64_t fetch, uint64_t horizon, session::EventLog::Page page) {
  {
    session::MutexLock lock(mutex_);
    if (finished_ || !fetching_ || fetch != fetch_) return;
    fetching_ = false;
    ticket_ = 0;
    feed_->Add(std::move(page), horizon);
  }
  Pump();
}

// With a write in flight, OnWriteDone finishes.
void Subscription::End(absl::Status status) {
  {
    session::MutexLock lock(mutex_);
    if (!end_) end_ = std::move(status);
  }
  ForgetPage();
  Pump();
}

void Subscription::EndForShutdown() {
  End(session::MakeError(
      "SHUTTING_DOWN",
      "acpd is shutting down; subscribe again after acpd-position when it is back."));
}

void Subscription::ForgetPage() {
  uint64_t ticket = 0;
  {
    session::MutexLock lock(mutex_);
    ticket = std::exchange(ticket_, 0);
  }
  if (ticket != 0) log_->Forget(ticket);
}

void Subscription::OnWriteDone(bool ok) {
  const auto keep = shared_from_this();
  {
    session::MutexLock lock(mutex_);
    writing_ = false;
    last_write_ = std::chrono::steady_clock::now();
    if (ok) sent_position_ = std::max(sent_position_, current_.position);
    if (!ok && !end_) end_ = absl::CancelledError("the reader has left");
  }
  Pump();
}

void Subscription::OnCancel() {
  const auto keep = shared_from_this();
  asio::post(surroundings_.calls.loop, [keep] { keep->surroundings_.calls.leave(keep->call_); });
  End(absl::CancelledError("the reader has left"));
}

void Subscription::OnDone() {
  const auto keep = std::move(self_);
  ForgetPage();
  surroundings_.calls.active->Remove(this);
  std::shared_ptr<asio::steady_timer> beat;
  {
    session::MutexLock lock(mutex_);
    beat = std::move(beat_);
  }
  // Timers belong to the loop.
  if (beat) asio::post(surroundings_.calls.loop, [beat] { beat->cancel(); });
}

}  // namespace acpd::server
