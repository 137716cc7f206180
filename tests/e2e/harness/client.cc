#include "tests/e2e/harness/client.h"

namespace acpd::e2e {
namespace {

std::string ValueOf(const Metadata& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : found->second;
}

}  // namespace

void AcceptedTurns::Add(const std::string& turn_id, const std::string& session_id) {
  const std::lock_guard lock(mutex_);
  if (!turn_id.empty()) turns_[turn_id] = session_id;
}

std::map<std::string, std::string> AcceptedTurns::All() const {
  const std::lock_guard lock(mutex_);
  return turns_;
}

Client::Client(const std::string& address, AcceptedTurns* accepted) : accepted_(accepted) {
  grpc::ChannelArguments arguments;
  // A connection of its own: clients of one test do not share what one of them breaks.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // Back soon after a restart of acpd at the same address.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  const auto channel =
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  stub_ = api::SessionService::NewStub(channel);
  admin_stub_ = api::AdminService::NewStub(channel);
}

Called<api::ChatResponse> Client::Chat(const api::ChatRequest& request, milliseconds patience) {
  auto called = Call(&Stub::Chat, request, patience);
  // An accepted turn's ids are there whatever becomes of the call.
  accepted_->Add(ValueOf(called.initial, "acpd-turn-id"),
                 ValueOf(called.initial, "acpd-session-id"));
  accepted_->Add(called.response.turn_id(), called.response.session_id());
  return called;
}

Called<api::ChatResponse> Client::Say(const std::string& project, const std::string& session_id,
                                      const std::string& prompt) {
  return Chat(ChatOf(project, session_id, prompt, api::WAIT_FOR_FINISHED));
}

Called<api::ChatResponse> Client::Begin(const std::string& project, const std::string& session_id,
                                        const std::string& prompt) {
  return Chat(ChatOf(project, session_id, prompt, api::WAIT_FOR_STARTED));
}

Called<api::CancelResponse> Client::Cancel(const api::CancelRequest& request,
                                           milliseconds patience) {
  return Call(&Stub::Cancel, request, patience);
}

Called<api::CancelResponse> Client::CancelSession(const std::string& session_id) {
  api::CancelRequest request;
  request.set_session_id(session_id);
  return Cancel(request);
}

Called<api::Session> Client::GetSession(const std::string& session_id) {
  api::GetSessionRequest request;
  request.set_session_id(session_id);
  return Call(&Stub::GetSession, request);
}

Called<api::Session> Client::CloseSession(const std::string& session_id) {
  api::CloseSessionRequest request;
  request.set_session_id(session_id);
  return Call(&Stub::CloseSession, request);
}

Called<api::Turn> Client::GetTurn(const std::string& turn_id, api::WaitFor wait_for) {
  api::GetTurnRequest request;
  request.set_turn_id(turn_id);
  request.set_wait_for(wait_for);
  return Call(&Stub::GetTurn, request);
}

Called<api::RespondResponse> Client::Respond(const std::string& session_id,
                                             const std::string& question_id,
                                             const std::string& option_id) {
  api::RespondRequest request;
  request.set_session_id(session_id);
  request.set_question_id(question_id);
  request.set_option_id(option_id);
  return Call(&Stub::Respond, request);
}

std::unique_ptr<Subscription> Client::Subscribe(const api::SubscribeProgressRequest& request) {
  return std::make_unique<Subscription>([this, &request](grpc::ClientContext* context) {
    return stub_->SubscribeProgress(context, request);
  });
}

std::unique_ptr<Subscription> Client::SubscribeSession(const std::string& session_id,
                                                       uint64_t after_seq) {
  api::SubscribeProgressRequest request;
  request.set_session_id(session_id);
  request.set_after_seq(after_seq);
  return Subscribe(request);
}

std::unique_ptr<Subscription> Client::ChatStream(const api::ChatRequest& request) {
  api::ChatStreamRequest stream;
  *stream.mutable_chat() = request;
  return std::make_unique<Subscription>(
      [this, &stream](grpc::ClientContext* context) { return stub_->ChatStream(context, stream); });
}

Metadata Client::Copy(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata) {
  Metadata copy;
  for (const auto& [key, value] : metadata) {
    copy[std::string(key.data(), key.size())] = std::string(value.data(), value.size());
  }
  return copy;
}

api::ChatRequest ChatOf(const std::string& project, const std::string& session_id,
                        const std::string& prompt, api::WaitFor wait_for) {
  api::ChatRequest request;
  request.set_project_id(project);
  request.set_session_id(session_id);
  request.set_prompt(prompt);
  request.set_wait_for(wait_for);
  return request;
}

}  // namespace acpd::e2e
