#include "server/call.h"

#include <utility>

#include "server/trace.h"
#include "session/errors.h"

namespace acpd::server {
namespace {

constexpr auto kAnswerAhead = std::chrono::milliseconds(200);
// Deadlines farther away than this are none; it keeps sums of time points from overflowing.
constexpr auto kFarAway = std::chrono::hours(24 * 365);

}  // namespace

CallContext MakeCallContext(session::SessionManager* manager, asio::any_io_executor loop,
                            ActiveCalls* active) {
  return {std::move(loop), [manager](const session::CallPtr& call) { manager->Leave(call); },
          active};
}

grpc::ServerUnaryReactor* Refuse(grpc::CallbackServerContext* context, const absl::Status& status) {
  AddTrailers(TrailersOf(status), *context);
  auto* reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

SteadyTime AnswerDeadline(const grpc::CallbackServerContext& context) {
  const auto left = context.deadline() - std::chrono::system_clock::now();
  if (left > kFarAway) return SteadyTime::max();
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<SteadyTime::duration>(left) -
         kAnswerAhead;
}

// Callers have no names yet.
std::string PrincipalOf(const grpc::CallbackServerContext&) { return ""; }

session::CallPtr MakeCall(const grpc::CallbackServerContext& context) {
  auto call = std::make_shared<session::Call>();
  call->principal = PrincipalOf(context);
  call->deadline = AnswerDeadline(context);
  call->trace = TraceFrom(context);
  return call;
}

Metadata HeadersOf(const session::ChatReply& reply) {
  return {{kSessionIdKey, reply.turn.session_id},
          {kTurnIdKey, reply.turn.turn_id},
          {kAfterPositionKey, std::to_string(reply.turn.after_position)},
          {kEpochKey, reply.epoch}};
}

UnaryCall::UnaryCall(const CallContext& surroundings, grpc::CallbackServerContext* context)
    : surroundings_(surroundings), context_(context), call_(MakeCall(*context)) {}

grpc::ServerUnaryReactor* UnaryCall::Start(const CallContext& surroundings,
                                           grpc::CallbackServerContext* context, Work work) {
  std::shared_ptr<UnaryCall> self(new UnaryCall(surroundings, context));
  self->self_ = self;
  const bool welcome = surroundings.active->Add(self.get());
  asio::post(surroundings.loop, [self, work = std::move(work), welcome]() mutable {
    if (!welcome) {
      self->End(
          session::MakeError("SHUTTING_DOWN", "acpd is shutting down; try again when it is back."));
      return;
    }
    Spawn(self->surroundings_.loop, Run(self, std::move(work)), [self](const std::string& what) {
      self->End(session::MakeError("INTERNAL", "a defect of acpd ended this call: " + what));
    });
  });
  return self.get();
}

awaitable<void> UnaryCall::Run(std::shared_ptr<UnaryCall> self, Work work) {
  const absl::Status status = co_await work(*self);
  self->End(status);
}

void UnaryCall::SendHeaders(const Metadata& metadata) {
  for (const auto& [key, value] : Fitting(metadata)) context_->AddInitialMetadata(key, value);
  StartSendInitialMetadata();
}

void UnaryCall::End(const absl::Status& status) {
  if (std::exchange(ended_, true)) return;
  AddTrailers(status.ok() ? trailers_ : TrailersOf(status), *context_);
  Finish(ToGrpcStatus(status));
}

void UnaryCall::OnCancel() {
  asio::post(surroundings_.loop, [self = shared_from_this()] {
    if (!self->ended_) self->surroundings_.leave(self->call_);
  });
}

void UnaryCall::OnDone() {
  const auto keep = std::move(self_);
  surroundings_.active->Remove(this);
}

}  // namespace acpd::server
