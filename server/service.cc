#include "server/service.h"

#include <utility>

#include "server/convert.h"
#include "server/list_events.h"
#include "server/list_pages.h"
#include "server/requests.h"
#include "server/service_answer.h"
#include "server/status.h"
#include "server/trace.h"
#include "session/errors.h"

namespace acpd::server {
namespace {

using grpc::ByteBuffer;

void AddIds(UnaryCall& call, const session::TurnView& turn) {
  call.AddTrailer(kSessionIdKey, turn.session_id);
  call.AddTrailer(kTurnIdKey, turn.turn_id);
}

template <class Message>
bool Parse(const ByteBuffer& bytes, Message* message) {
  ByteBuffer copy(bytes);  // shares the slices
  return grpc::SerializationTraits<Message>::Deserialize(&copy, message).ok();
}

awaitable<absl::Status> ListSessionEvents(session::SessionManager& manager, session::EventLog* log,
                                          asio::any_io_executor loop, UnaryCall& call,
                                          ListEventsParams params, ByteBuffer* response) {
  absl::Status known = manager.CheckSession(params.range.session_id);
  if (!known.ok()) co_return known;
  call.AddTrailer(kSessionIdKey, params.range.session_id);
  const absl::Status listed =
      co_await ListEvents(log, std::move(loop), call.call(), std::move(params), response);
  co_return listed;
}

absl::Status NotParsed() {
  return session::MakeError("INVALID_REQUEST", "the request is not a message of this method.");
}

Subscription::Surroundings MakeStreams(session::SessionManager* manager, session::EventLog* log,
                                       session::Store* store, const CallContext& calls) {
  Subscription::Surroundings streams;
  streams.calls = calls;
  streams.sources.log = log;
  streams.sources.epoch = store->epoch();
  streams.sources.turn_ended = [store](const std::string& turn_id, std::function<void(bool)> done) {
    store->FindTurn({turn_id, "", ""},
                    [done = std::move(done)](std::optional<session::FoundTurn> turn) {
                      done(turn && turn->row.state == session::TurnState::kEnded);
                    });
  };
  streams.sources.plan = [manager](session::CallPtr call, session::SubscriptionQuery query) {
    return manager->PlanSubscription(std::move(call), std::move(query));
  };
  streams.chat = [manager](session::CallPtr call, session::ChatRequest chat,
                           std::function<void(const session::ChatReply&)> accepted) {
    return manager->Chat(std::move(call), std::move(chat), std::move(accepted));
  };
  return streams;
}

RequestRules RulesOf(const session::Config& config, const session::Store& store) {
  RequestRules rules;
  rules.hash_key = store.fingerprint_key();
  rules.max_line = config.limits.max_line;
  rules.store_mcp_secrets = config.store_mcp_secrets;
  return rules;
}

}  // namespace

Service::Service(session::SessionManager* manager, session::EventLog* log, session::Store* store,
                 const session::Config& config, asio::any_io_executor loop, ActiveCalls* active)
    : manager_(manager),
      epoch_(store->epoch()),
      rules_(RulesOf(config, *store)),
      calls_(MakeCallContext(manager, std::move(loop), active)),
      streams_(MakeStreams(manager, log, store, calls_)) {}

Service::Reactor* Service::Chat(Context* context, const v1::ChatRequest* request,
                                v1::ChatResponse* response) {
  auto chat = ChatFrom(*request, rules_, TraceFrom(*context));
  if (!chat.ok()) return Refuse(context, chat.status());
  return Serve(context, [this, chat = *std::move(chat), response](UnaryCall& call) mutable {
    auto accepted = [weak = call.weak_from_this()](const session::ChatReply& reply) {
      if (const auto self = weak.lock()) self->SendHeaders(HeadersOf(reply));
    };
    return Answer(manager_->Chat(call.call(), std::move(chat), accepted),
                  [&call, response](const session::ChatReply& reply) {
                    ToProto(reply, response);
                    AddIds(call, reply.turn);
                  });
  });
}

Service::Reactor* Service::Cancel(Context* context, const v1::CancelRequest* request,
                                  v1::CancelResponse* response) {
  auto query = CancelFrom(*request, TraceFrom(*context));
  if (!query.ok()) return Refuse(context, query.status());
  return Serve(context, [this, query = *std::move(query), response](UnaryCall& call) {
    return Answer(manager_->Cancel(call.call(), query),
                  [&call, response](const session::CancelReply& reply) {
                    ToProto(reply, response);
                    if (reply.turns.size() != 1) return;
                    call.AddTrailer(kSessionIdKey, reply.turns[0].session_id);
                    call.AddTrailer(kTurnIdKey, reply.turns[0].turn_id);
                  });
  });
}

Service::Stream* Service::SubscribeProgress(Context* context, const ByteBuffer* bytes) {
  v1::SubscribeProgressRequest request;
  if (!Parse(*bytes, &request)) return Subscription::Refuse(context, NotParsed());
  auto params = SubscribeFrom(request);
  if (!params.ok()) return Subscription::Refuse(context, params.status());
  return Subscription::Start(streams_, context, *std::move(params));
}

Service::Stream* Service::ChatStream(Context* context, const ByteBuffer* bytes) {
  v1::ChatStreamRequest request;
  if (!Parse(*bytes, &request)) return Subscription::Refuse(context, NotParsed());
  auto chat = ChatFrom(request.chat(), rules_, TraceFrom(*context));
  if (!chat.ok()) return Subscription::Refuse(context, chat.status());
  const auto heartbeat = HeartbeatFrom(request.has_heartbeat(), request.heartbeat());
  if (!heartbeat.ok()) return Subscription::Refuse(context, heartbeat.status());
  SubscribeParams params;
  params.omit_json = request.omit_json();
  params.heartbeat = *heartbeat;
  return Subscription::StartChat(streams_, context, *std::move(chat), std::move(params));
}

Service::Reactor* Service::GetTurn(Context* context, const v1::GetTurnRequest* request,
                                   v1::Turn* response) {
  auto params = GetTurnFrom(*request);
  if (!params.ok()) return Refuse(context, params.status());
  return Serve(context, [this, params = *std::move(params), response](UnaryCall& call) {
    return Answer(manager_->GetTurn(call.call(), params.query, params.wait_for),
                  [&call, response](const session::TurnView& turn) {
                    ToProto(turn, TurnDetail::kWhole, response);
                    AddIds(call, turn);
                  });
  });
}

Service::Reactor* Service::ListTurns(Context* context, const v1::ListTurnsRequest* request,
                                     v1::ListTurnsResponse* response) {
  auto params = ListTurnsFrom(*request);
  if (!params.ok()) return Refuse(context, params.status());
  return Serve(context, [this, request, params = *std::move(params), response](UnaryCall& call) {
    return Answer(manager_->ListTurns(call.call(), params.query),
                  [this, request, params, response](const session::TurnPage& page) {
                    FillPage(*request, params, page, response);
                    response->set_epoch(epoch_);
                  });
  });
}

Service::Reactor* Service::ListEvents(Context* context, const ByteBuffer* bytes,
                                      ByteBuffer* response) {
  v1::ListEventsRequest request;
  if (!Parse(*bytes, &request)) return Refuse(context, NotParsed());
  auto params = ListEventsFrom(request);
  if (!params.ok()) return Refuse(context, params.status());
  return Serve(context, [this, params = *std::move(params), response](UnaryCall& call) {
    return ListSessionEvents(*manager_, streams_.sources.log, calls_.loop, call, params, response);
  });
}

Service::Reactor* Service::Respond(Context* context, const v1::RespondRequest* request,
                                   v1::RespondResponse* response) {
  auto query = RespondFrom(*request);
  if (!query.ok()) return Refuse(context, query.status());
  return Serve(context, [this, query = *std::move(query), response](UnaryCall& call) {
    return Answer(manager_->Respond(call.call(), query),
                  [&call, response](const session::RespondReply& reply) {
                    ToProto(reply.resolution, response->mutable_resolved());
                    call.AddTrailer(kSessionIdKey, reply.session_id);
                    call.AddTrailer(kTurnIdKey, reply.turn_id);
                  });
  });
}

}  // namespace acpd::server
