#ifndef ACPD_TESTS_E2E_HARNESS_CLIENT_H_
#define ACPD_TESTS_E2E_HARNESS_CLIENT_H_

#include <grpcpp/grpcpp.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>

#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/subscription.h"
#include "tests/e2e/harness/wait.h"

namespace acpd::e2e {

using Metadata = std::map<std::string, std::string>;

// What became of one call.
template <class Response>
struct Called {
  grpc::Status status;
  Response response;
  Metadata initial;
  Metadata trailers;

  bool ok() const { return status.ok(); }
  grpc::StatusCode code() const { return status.error_code(); }
  // The reason code of an error.
  std::string reason() const {
    const auto found = trailers.find("acpd-reason");
    return found == trailers.end() ? "" : found->second;
  }
  // For failure messages of tests.
  std::string ToString() const {
    return ok() ? response.ShortDebugString()
                : std::to_string(code()) + " " + reason() + ": " + status.error_message();
  }
};

// The turns that were accepted in a test, whoever asked for them, with their sessions: I1 is
// checked on them. Thread-safe.
class AcceptedTurns {
 public:
  void Add(const std::string& turn_id, const std::string& session_id);
  std::map<std::string, std::string> All() const;  // session ids by turn id

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> turns_;
};

// A gRPC client of one acpd, with short-hand for tests. Every call has a deadline. Thread-safe.
class Client {
 public:
  using Stub = api::SessionService::Stub;
  using AdminStub = api::AdminService::Stub;

  Client(const std::string& address, AcceptedTurns* accepted);

  // Any unary call of a service: Call(&Client::Stub::GetTurn, request).
  template <class Service, class Request, class Response>
  Called<Response> Call(grpc::Status (Service::*method)(grpc::ClientContext*, const Request&,
                                                        Response*),
                        const Request& request, milliseconds patience = kPatience) {
    Service* stub = nullptr;
    if constexpr (std::is_same_v<Service, AdminStub>) {
      stub = admin_stub_.get();
    } else {
      stub = stub_.get();
    }
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + patience);
    context.set_wait_for_ready(true);
    Called<Response> called;
    called.status = (stub->*method)(&context, request, &called.response);
    called.initial = Copy(context.GetServerInitialMetadata());
    called.trailers = Copy(context.GetServerTrailingMetadata());
    return called;
  }

  Called<api::ChatResponse> Chat(const api::ChatRequest& request,
                                 milliseconds patience = kPatience);
  // A Chat that waits for the turn's end; an empty session_id: a new session.
  Called<api::ChatResponse> Say(const std::string& project, const std::string& session_id,
                                const std::string& prompt);
  // A Chat that waits until the agent has the prompt.
  Called<api::ChatResponse> Begin(const std::string& project, const std::string& session_id,
                                  const std::string& prompt);
  Called<api::CancelResponse> Cancel(const api::CancelRequest& request,
                                     milliseconds patience = kPatience);
  Called<api::CancelResponse> CancelSession(const std::string& session_id);
  Called<api::Session> GetSession(const std::string& session_id);
  Called<api::Session> CloseSession(const std::string& session_id);
  Called<api::Turn> GetTurn(const std::string& turn_id,
                            api::WaitFor wait_for = api::WAIT_FOR_UNSPECIFIED);
  Called<api::RespondResponse> Respond(const std::string& session_id,
                                       const std::string& question_id,
                                       const std::string& option_id);

  std::unique_ptr<Subscription> Subscribe(const api::SubscribeProgressRequest& request);
  // From the session's first event on.
  std::unique_ptr<Subscription> SubscribeSession(const std::string& session_id,
                                                 uint64_t after_seq = 0);
  std::unique_ptr<Subscription> ChatStream(const api::ChatRequest& request);

  Stub* stub() { return stub_.get(); }

 private:
  static Metadata Copy(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata);

  std::unique_ptr<Stub> stub_;
  std::unique_ptr<AdminStub> admin_stub_;
  AcceptedTurns* accepted_;
};

api::ChatRequest ChatOf(const std::string& project, const std::string& session_id,
                        const std::string& prompt, api::WaitFor wait_for);

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_E2E_HARNESS_CLIENT_H_
