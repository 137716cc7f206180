#include "server/service.h"

#include <utility>

#include "server/convert.h"
#include "server/list_pages.h"
#include "server/request_checks.h"
#include "server/requests.h"
#include "server/status.h"
#include "session/errors.h"

namespace acpd::server {
namespace {

using grpc::ByteBuffer;

// Waits for what the domain returns and hands it to `fill`.
template <class Result, class Fill>
awaitable<absl::Status> Answer(awaitable<absl::StatusOr<Result>> work, Fill fill) {
  const absl::StatusOr<Result> result = co_await std::move(work);
  if (!result.ok()) co_return result.status();
  fill(*result);
  co_return absl::OkStatus();
}

// The same for the methods that return a whole session.
awaitable<absl::Status> AnswerSession(UnaryCall& call,
                                      awaitable<absl::StatusOr<session::SessionView>> work,
                                      v1::Session* response) {
  return Answer(std::move(work), [&call, response](const session::SessionView& view) {
    ToProto(view, SessionDetail::kFull, response);
    call.AddTrailer(kSessionIdKey, view.session_id);
  });
}

void AddIds(UnaryCall& call, const session::TurnView& turn) {
  call.AddTrailer(kSessionIdKey, turn.session_id);
  call.AddTrailer(kTurnIdKey, turn.turn_id);
}

template <class Message>
bool Parse(const ByteBuffer& bytes, Message* message) {
  ByteBuffer copy(bytes);  // shares the slices
  return grpc::SerializationTraits<Message>::Deserialize(&copy, message).ok();
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

}  // namespace

Service::Service(session::SessionManager* manager, session::EventLog* log, session::Store* store,
                 asio::any_io_executor loop, ActiveCalls* active)
    : manager_(manager),
      epoch_(store->epoch()),
      hash_key_(store->fingerprint_key()),
      calls_(MakeCallContext(manager, std::move(loop), active)),
      streams_(MakeStreams(manager, log, store, calls_)) {}

Service::Reactor* Service::Chat(Context* context, const v1::ChatRequest* request,
                                v1::ChatResponse* response) {
  auto chat = ChatFrom(*request, hash_key_);
  if (!chat.ok()) return Refuse(context, chat.status());
  return Serve(context, [this, chat = *std::move(chat), response](UnaryCall& call) {
    auto accepted = [weak = call.weak_from_this()](const session::ChatReply& reply) {
      if (const auto self = weak.lock()) self->SendHeaders(HeadersOf(reply));
    };
    return Answer(manager_->Chat(call.call(), chat, accepted),
                  [&call, response](const session::ChatReply& reply) {
                    ToProto(reply, response);
                    AddIds(call, reply.turn);
                  });
  });
}

Service::Reactor* Service::Cancel(Context* context, const v1::CancelRequest* request,
                                  v1::CancelResponse* response) {
  auto query = CancelFrom(*request);
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
  auto chat = ChatFrom(request.chat(), hash_key_);
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

Service::Reactor* Service::CreateSession(Context* context, const v1::CreateSessionRequest* request,
                                         v1::Session* response) {
  auto setup = SetupFrom(*request, hash_key_);
  if (!setup.ok()) return Refuse(context, setup.status());
  return Serve(context, [this, setup = *std::move(setup), response](UnaryCall& call) {
    return AnswerSession(call, manager_->CreateSession(call.call(), setup), response);
  });
}

Service::Reactor* Service::GetSession(Context* context, const v1::GetSessionRequest* request,
                                      v1::Session* response) {
  if (auto status = CheckSessionId(request->session_id()); !status.ok())
    return Refuse(context, status);
  return Serve(context, [this, request, response](UnaryCall& call) {
    return AnswerSession(call, manager_->GetSession(call.call(), request->session_id()), response);
  });
}

Service::Reactor* Service::ListSessions(Context* context, const v1::ListSessionsRequest* request,
                                        v1::ListSessionsResponse* response) {
  auto params = ListSessionsFrom(*request);
  if (!params.ok()) return Refuse(context, params.status());
  return Serve(context, [this, request, params = *std::move(params), response](UnaryCall& call) {
    return Answer(manager_->ListSessions(call.call(), params.query),
                  [this, request, params, response](const session::SessionPage& page) {
                    FillPage(*request, params, page, response);
                    response->set_epoch(epoch_);
                  });
  });
}

Service::Reactor* Service::CloseSession(Context* context, const v1::CloseSessionRequest* request,
                                        v1::Session* response) {
  if (auto status = CheckSessionId(request->session_id()); !status.ok())
    return Refuse(context, status);
  return Serve(context, [this, request, response](UnaryCall& call) {
    return AnswerSession(
        call, manager_->CloseSession(call.call(), request->session_id(), request->force()),
        response);
  });
}

Service::Reactor* Service::DeleteSession(Context* context, const v1::DeleteSessionRequest* request,
                                         v1::DeleteSessionResponse*) {
  if (auto status = CheckSessionId(request->session_id()); !status.ok())
    return Refuse(context, status);
  return Serve(context, [this, request](UnaryCall& call) {
    call.AddTrailer(kSessionIdKey, request->session_id());
    return manager_->DeleteSession(call.call(), request->session_id(), request->force());
  });
}

Service::Reactor* Service::ListAgents(Context* context, const v1::ListAgentsRequest*,
                                      v1::ListAgentsResponse* response) {
  return Serve(context, [this, response](UnaryCall& call) {
    return Answer(manager_->ListAgents(call.call()),
                  [response](const std::vector<session::AgentView>& agents) {
                    for (const auto& agent : agents) ToProto(agent, response->add_agents());
                  });
  });
}

Service::Reactor* Service::ProbeAgent(Context* context, const v1::ProbeAgentRequest* request,
                                      v1::Agent* response) {
  return Serve(context, [this, request, response](UnaryCall& call) {
    return Answer(manager_->ProbeAgent(call.call(), request->agent()),
                  [response](const session::AgentView& agent) { ToProto(agent, response); });
  });
}

Service::Reactor* Service::ListEvents(Context* context, const v1::ListEventsRequest*,
                                      v1::ListEventsResponse*) {
  return Refuse(context, NotImplemented("ListEvents"));
}

Service::Reactor* Service::SetSessionOption(Context* context, const v1::SetSessionOptionRequest*,
                                            v1::Session*) {
  return Refuse(context, NotImplemented("SetSessionOption"));
}

Service::Reactor* Service::ForkSession(Context* context, const v1::ForkSessionRequest*,
                                       v1::Session*) {
  return Refuse(context, NotImplemented("ForkSession"));
}

Service::Reactor* Service::ListAgentSessions(Context* context, const v1::ListAgentSessionsRequest*,
                                             v1::ListAgentSessionsResponse*) {
  return Refuse(context, NotImplemented("ListAgentSessions"));
}

}  // namespace acpd::server
