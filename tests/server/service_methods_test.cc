// That each method of the services is there, checks its request and asks the domain.
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/client_unary_call.h>

#include "tests/server/service_server_harness.h"

namespace acpd::server {
namespace {

class MethodsTest : public RealServerTest {
 protected:
  void SetUp() override {
    config_.limits.max_line = 8u << 10;
    ASSERT_TRUE(Start({"127.0.0.1:0"}).ok());
  }
  // What becomes of a call that asks for nothing.
  grpc::StatusCode CodeOfNothing(const std::string& method_name) {
    const auto context = NewContext();
    const grpc::internal::RpcMethod method(method_name.c_str(),
                                           grpc::internal::RpcMethod::NORMAL_RPC);
    const grpc::Slice nothing("");
    grpc::ByteBuffer response;
    return grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
               channel_.get(), method, context.get(), grpc::ByteBuffer(&nothing, 1), &response)
        .error_code();
  }
  template <class Stub, class Request, class Response>
  void ExpectReason(Stub& stub,
                    grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                    const Request& request, Response response, const std::string& reason) {
    const auto context = NewContext();
    EXPECT_FALSE((stub.*method)(context.get(), request, &response).ok());
    EXPECT_EQ(ValueOf(context->GetServerTrailingMetadata(), "acpd-reason"), reason)
        << request.GetTypeName();
  }
};

TEST_F(MethodsTest, NoMethodIsMissing) {
  for (const std::string name : {"acpd.v1.SessionService", "acpd.v1.AdminService"}) {
    const auto* service =
        google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(name);
    ASSERT_NE(service, nullptr);
    for (int i = 0; i < service->method_count(); ++i) {
      const std::string method = "/" + name + "/" + service->method(i)->name();
      EXPECT_NE(CodeOfNothing(method), grpc::UNIMPLEMENTED) << method;
    }
  }
}

TEST_F(MethodsTest, BadRequestsOfSessionsAndAgents) {
  using Stub = v1::SessionService::Stub;
  v1::SetSessionOptionRequest option;
  option.set_session_id("s");
  ExpectReason(*stub_, &Stub::SetSessionOption, option, v1::Session(), "INVALID_REQUEST");
  ExpectReason(*stub_, &Stub::ForkSession, v1::ForkSessionRequest(), v1::Session(),
               "INVALID_SESSION_ID");
  v1::ListAgentSessionsRequest list;
  list.set_page_token("x");
  ExpectReason(*stub_, &Stub::ListAgentSessions, list, v1::ListAgentSessionsResponse(),
               "INVALID_PAGE_TOKEN");
  using Admin = v1::AdminService::Stub;
  ExpectReason(*admin_, &Admin::LoginAgent, v1::LoginAgentRequest(), v1::LoginAgentResponse(),
               "INVALID_REQUEST");
  v1::LoginAgentRequest login;
  login.set_agent("demo");
  login.set_method_id(std::string((4 << 10) + 1, 'x'));
  ExpectReason(*admin_, &Admin::LoginAgent, login, v1::LoginAgentResponse(), "INVALID_REQUEST");
  ExpectReason(*admin_, &Admin::LogoutAgent, v1::LogoutAgentRequest(), v1::LogoutAgentResponse(),
               "INVALID_REQUEST");
}

TEST_F(MethodsTest, SessionsAndAgentsThatNobodyKnows) {
  using Stub = v1::SessionService::Stub;
  v1::SetSessionOptionRequest option;
  option.set_session_id("unknown");
  option.set_title("x");
  ExpectReason(*stub_, &Stub::SetSessionOption, option, v1::Session(), "SESSION_NOT_FOUND");
  v1::ForkSessionRequest fork;
  fork.set_session_id("unknown");
  ExpectReason(*stub_, &Stub::ForkSession, fork, v1::Session(), "SESSION_NOT_FOUND");
  v1::ListAgentSessionsRequest list;
  list.set_agent("unknown");
  ExpectReason(*stub_, &Stub::ListAgentSessions, list, v1::ListAgentSessionsResponse(),
               "AGENT_NOT_FOUND");
  using Admin = v1::AdminService::Stub;
  v1::LoginAgentRequest login;
  login.set_agent("unknown");
  ExpectReason(*admin_, &Admin::LoginAgent, login, v1::LoginAgentResponse(), "AGENT_NOT_FOUND");
  v1::LogoutAgentRequest logout;
  logout.set_agent("unknown");
  ExpectReason(*admin_, &Admin::LogoutAgent, logout, v1::LogoutAgentResponse(), "AGENT_NOT_FOUND");
}

// A prompt is measured by the limit of this config.
TEST_F(MethodsTest, APromptHasToFitIntoTheAgentsLine) {
  v1::ChatRequest request;
  request.set_project_id("p");
  request.set_prompt(std::string(9u << 10, 'x'));
  v1::ChatResponse response;
  const auto context = NewContext();
  const grpc::Status status = stub_->Chat(context.get(), request, &response);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(ValueOf(context->GetServerTrailingMetadata(), "acpd-reason"), "INVALID_REQUEST");
  EXPECT_NE(status.error_message().find("8192"), std::string::npos) << status.error_message();
}

}  // namespace
}  // namespace acpd::server
