#ifndef ACPD_SERVER_CALL_H_
#define ACPD_SERVER_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "acp/asio.h"
#include "server/active_calls.h"
#include "server/status.h"
#include "session/session_manager.h"

namespace acpd::server {

// What every call needs of its surroundings. It outlives all calls.
struct CallContext {
  asio::any_io_executor loop;
  // Tells the domain, on the loop, that a caller has left.
  std::function<void(const session::CallPtr&)> leave;
  ActiveCalls* active = nullptr;
};

CallContext MakeCallContext(session::SessionManager* manager, asio::any_io_executor loop,
                            ActiveCalls* active);

// When the answer of a call has to be ready: 200 ms before its deadline, so that it gets there.
SteadyTime AnswerDeadline(const grpc::CallbackServerContext& context);
// The caller, as questions, cancels and events name it; empty where callers have no names.
std::string PrincipalOf(const grpc::CallbackServerContext& context);
session::CallPtr MakeCall(const grpc::CallbackServerContext& context);

// The headers of an accepted Chat: its ids and where its events begin.
Metadata HeadersOf(const session::ChatReply& reply);

// For a unary call that ends before it has begun.
grpc::ServerUnaryReactor* Refuse(grpc::CallbackServerContext* context, const absl::Status& status);

// A unary call: runs one coroutine of the domain on the loop and finishes once with what it
// returns. When the caller leaves, the domain is told and ends the wait; only the coroutine's end
// finishes the call, so that the response it fills stays valid until then. Methods are for the
// loop, reactions come from gRPC's threads. It owns itself until OnDone.
class UnaryCall final : public grpc::ServerUnaryReactor,
                        public std::enable_shared_from_this<UnaryCall> {
 public:
  // Returns the status to finish with; what is returned of the response was filled in before.
  // `call` outlives the coroutine.
  using Work = std::function<awaitable<absl::Status>(UnaryCall& call)>;

  // For the service's methods: the reactor to return.
  static grpc::ServerUnaryReactor* Start(const CallContext& surroundings,
                                         grpc::CallbackServerContext* context, Work work);

  const session::CallPtr& call() const { return call_; }
  // Travels at once, ahead of the answer. At most once, before the coroutine ends.
  void SendHeaders(const Metadata& metadata);
  void AddTrailer(const char* key, const std::string& value) { trailers_.emplace_back(key, value); }

 private:
  UnaryCall(const CallContext& surroundings, grpc::CallbackServerContext* context);
  static awaitable<void> Run(std::shared_ptr<UnaryCall> self, Work work);
  void End(const absl::Status& status);
  void OnCancel() override;
  void OnDone() override;

  const CallContext surroundings_;
  grpc::CallbackServerContext* const context_;
  const session::CallPtr call_;
  Metadata trailers_;   // loop
  bool ended_ = false;  // loop
  std::shared_ptr<UnaryCall> self_;
};

}  // namespace acpd::server

#endif  // ACPD_SERVER_CALL_H_
