#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/client_unary_call.h>
#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>

#include "tests/server/service_server_harness.h"

namespace acpd::server {
namespace {

using grpc::ByteBuffer;
using std::chrono::milliseconds;
using std::chrono::seconds;

ByteBuffer BufferOf(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return ByteBuffer(&slice, 1);
}

std::string BytesOf(const ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const auto& slice : slices)
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

class ServerTest : public RealServerTest {
 protected:
  // grpc.health.v1.HealthCheckResponse.status of a service: 1 serving, 2 not.
  int Health(const std::string& service) {
    const auto context = NewContext();
    const grpc::internal::RpcMethod method("/grpc.health.v1.Health/Check",
                                           grpc::internal::RpcMethod::NORMAL_RPC);
    std::string request;
    if (!service.empty())
      request = std::string("\x0a") + static_cast<char>(service.size()) + service;
    ByteBuffer response;
    const grpc::Status status = grpc::internal::BlockingUnaryCall<ByteBuffer, ByteBuffer>(
        channel_.get(), method, context.get(), BufferOf(request), &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    const std::string bytes = BytesOf(response);
    return bytes.size() == 2 ? bytes[1] : -1;
  }
  // The status and reason of a stream opened with these bytes.
  std::pair<grpc::StatusCode, std::string> OpenStream(const std::string& bytes) {
    const auto context = NewContext();
    const grpc::internal::RpcMethod method("/acpd.v1.SessionService/SubscribeProgress",
                                           grpc::internal::RpcMethod::SERVER_STREAMING);
    std::unique_ptr<grpc::ClientReader<ByteBuffer>> reader(
        grpc::internal::ClientReaderFactory<ByteBuffer>::Create(channel_.get(), method,
                                                                context.get(), BufferOf(bytes)));
    const grpc::StatusCode code = reader->Finish().error_code();
    return {code, ValueOf(context->GetServerTrailingMetadata(), "acpd-reason")};
  }
};

TEST_F(ServerTest, ListensWhereItSays) {
  TempFolder folder;
  const std::string unix_address = "unix:" + folder.File("acpd.sock");
  ASSERT_TRUE(Start({"127.0.0.1:0", unix_address, "localhost:0"}).ok());
  ASSERT_EQ(server_->addresses().size(), 3u);
  EXPECT_EQ(server_->addresses()[1], unix_address);
  EXPECT_EQ(server_->addresses()[2].rfind("localhost:", 0), 0u);
  EXPECT_NE(server_->addresses()[2], "localhost:0");
  for (const std::string& address : server_->addresses()) {
    channel_ = grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
    EXPECT_EQ(Health(""), 2) << address;
  }
}

TEST_F(ServerTest, AUsedPortIsAnErrorThatNamesIt) {
  ASSERT_TRUE(Start({"127.0.0.1:0"}).ok());
  const std::string used = server_->addresses()[0];
  const auto first = std::move(server_);
  const absl::Status status = Start({used});
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find(used), std::string::npos) << status;
  EXPECT_FALSE(Start({"127.0.0.1:0", "no-such-host.invalid:0"}).ok());
}

TEST_F(ServerTest, HealthSaysWhatItIsTold) {
  ASSERT_TRUE(Start({"127.0.0.1:0"}).ok());
  for (const bool serving : {false, true, false}) {
    server_->SetServing(serving);
    EXPECT_EQ(Health(""), serving ? 1 : 2);
    EXPECT_EQ(Health("acpd.v1.SessionService"), serving ? 1 : 2);
    EXPECT_EQ(Health("acpd.v1.AdminService"), serving ? 1 : 2);
  }
}

TEST_F(ServerTest, ReflectionNamesTheServices) {
  ASSERT_TRUE(Start({"127.0.0.1:0"}).ok());
  grpc::GenericStub stub(channel_);
  const auto context = NewContext();
  grpc::CompletionQueue queue;
  auto call = stub.PrepareCall(
      context.get(), "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
  const auto next = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  call->StartCall(nullptr);
  ASSERT_TRUE(next());
  call->WriteLast(BufferOf("\x3a\x01*"), {}, nullptr);  // list_services: "*"
  ASSERT_TRUE(next());
  ByteBuffer response;
  call->Read(&response, nullptr);
  ASSERT_TRUE(next());
  EXPECT_NE(BytesOf(response).find("acpd.v1.SessionService"), std::string::npos);
  EXPECT_NE(BytesOf(response).find("acpd.v1.AdminService"), std::string::npos);
  grpc::Status status;
  call->Finish(&status, nullptr);
  ASSERT_TRUE(next());
  EXPECT_TRUE(status.ok()) << status.error_message();
  queue.Shutdown();
}

TEST_F(ServerTest, CallsReachTheManager) {
  ASSERT_TRUE(Start({"127.0.0.1:0"}).ok());
  v1::GetSessionRequest request;
  request.set_session_id("unknown");
  v1::Session session;
  const auto context = NewContext();
  EXPECT_EQ(stub_->GetSession(context.get(), request, &session).error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(ValueOf(context->GetServerTrailingMetadata(), "acpd-reason"), "SESSION_NOT_FOUND");
  v1::ListAgentsResponse agents;
  EXPECT_TRUE(stub_->ListAgents(NewContext().get(), v1::ListAgentsRequest(), &agents).ok());
  v1::ListSessionsResponse sessions;
  EXPECT_TRUE(stub_->ListSessions(NewContext().get(), v1::ListSessionsRequest(), &sessions).ok());
  EXPECT_EQ(sessions.epoch(), store_.store()->epoch());
}

TEST_F(ServerTest, BadRequestsChangeNothingAndSayWhy) {
  ASSERT_TRUE(Start({"127.0.0.1:0"}).ok());
  v1::ChatRequest request;
  v1::ChatResponse response;
  for (const auto& [project, reason] : {std::pair("", "INVALID_PROJECT_ID"),
                                        {"../x", "INVALID_PROJECT_ID"},
                                        {"p", "EMPTY_PROMPT"}}) {
    request.set_project_id(project);
    const auto context = NewContext();
    EXPECT_EQ(stub_->Chat(context.get(), request, &response).error_code(), grpc::INVALID_ARGUMENT);
    EXPECT_EQ(ValueOf(context->GetServerTrailingMetadata(), "acpd-reason"), reason);
  }
  EXPECT_EQ(store_.log()->newest_position(), 0u);
}

TEST_F(ServerTest, StreamsAreParsedBeforeAnythingElse) {
  ASSERT_TRUE(Start({"127.0.0.1:0"}).ok());
  EXPECT_EQ(OpenStream("\xff\xff"),
            std::pair(grpc::INVALID_ARGUMENT, std::string("INVALID_REQUEST")));
  EXPECT_EQ(OpenStream(""), std::pair(grpc::INVALID_ARGUMENT, std::string("INVALID_REQUEST")))
      << "no scope";
  EXPECT_EQ(OpenStream("\x0a\x01\xff"),
            std::pair(grpc::INVALID_ARGUMENT, std::string("INVALID_REQUEST")))
      << "not UTF-8";
  EXPECT_EQ(OpenStream("\x0a\x07unknown"),
            std::pair(grpc::NOT_FOUND, std::string("SESSION_NOT_FOUND")));
}

// The size of a message at and over the limit.
TEST_F(ServerTest, RefusesMessagesOverTheLimit) {
  config_.limits.max_message_in = 64 << 10;
  ASSERT_TRUE(Start({"127.0.0.1:0"}).ok());
  v1::GetTurnRequest request;
  v1::Turn turn;
  request.set_turn_id(std::string((64 << 10) - 4, 'x'));
  ASSERT_EQ(request.ByteSizeLong(), 64u << 10);
  EXPECT_EQ(stub_->GetTurn(NewContext().get(), request, &turn).error_code(), grpc::INVALID_ARGUMENT)
      << "acpd's own limit";
  request.set_turn_id(request.turn_id() + "x");
  EXPECT_EQ(stub_->GetTurn(NewContext().get(), request, &turn).error_code(),
            grpc::RESOURCE_EXHAUSTED);
}

TEST_F(ServerTest, ACallThatNeverEndsDoesNotHoldUpTheShutdown) {
  // A loop that stands still answers nobody. The call needs it as long as the process lives.
  auto& still = *new asio::io_context;
  const auto work = asio::make_work_guard(still);
  GrpcServer::Options options = Options({"127.0.0.1:0"});
  options.loop = still.get_executor();
  auto server = GrpcServer::Start(options);
  ASSERT_TRUE(server.ok()) << server.status();
  channel_ = grpc::CreateChannel((*server)->addresses()[0], grpc::InsecureChannelCredentials());
  stub_ = v1::SessionService::NewStub(channel_);
  const auto context = NewContext();
  grpc::CompletionQueue queue;
  const auto call = stub_->AsyncListAgents(context.get(), v1::ListAgentsRequest(), &queue);
  v1::ListAgentsResponse response;
  grpc::Status status;
  call->Finish(&response, &status, &queue);
  ASSERT_EQ(still.run_one_for(kPatience), 1u);  // the call has come
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_FALSE((*server)->Shutdown(milliseconds(100)));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, seconds(10));
  void* tag = nullptr;
  bool ok = false;
  EXPECT_TRUE(queue.Next(&tag, &ok));
  EXPECT_FALSE(status.ok());
  queue.Shutdown();
}

TEST_F(ServerTest, ShutdownEndsEverythingInTime) {
  ASSERT_TRUE(Start({"127.0.0.1:0"}).ok());
  server_->SetServing(true);
  store_.Append("s", {Say("a")});
  v1::SubscribeProgressRequest request;
  request.set_everything(true);
  request.set_after_position(0);
  std::vector<std::unique_ptr<TestReader>> readers;
  for (int i = 0; i < 50; ++i) {
    readers.push_back(std::make_unique<TestReader>());
    readers.back()->Subscribe(*stub_, request);
    EXPECT_EQ(readers.back()->Lines(3), "subscription_started a@1 caught_up ");
  }
  // A health watcher stays until it is cancelled.
  grpc::GenericStub generic(channel_);
  const auto watch_context = NewContext();
  grpc::CompletionQueue queue;
  auto watch = generic.PrepareCall(watch_context.get(), "/grpc.health.v1.Health/Watch", &queue);
  void* tag = nullptr;
  bool ok = false;
  watch->StartCall(nullptr);
  ASSERT_TRUE(queue.Next(&tag, &ok) && ok);
  watch->WriteLast(BufferOf(""), {}, nullptr);
  ASSERT_TRUE(queue.Next(&tag, &ok) && ok);
  ByteBuffer response;
  watch->Read(&response, nullptr);
  ASSERT_TRUE(queue.Next(&tag, &ok) && ok);

  const auto begin = std::chrono::steady_clock::now();
  server_->Shutdown(seconds(20));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(10)) << "the deadline is no pause";
  for (const auto& reader : readers) {
    EXPECT_EQ(reader->Rest(), "");
    EXPECT_EQ(reader->Finish().error_code(), grpc::UNAVAILABLE);
    EXPECT_EQ(reader->Trailer("acpd-reason"), "SHUTTING_DOWN");
    EXPECT_EQ(reader->Trailer("acpd-position"), "1");
  }
  // The status comes behind the last message: NOT_SERVING is read first.
  do {
    watch->Read(&response, nullptr);
    ASSERT_TRUE(queue.Next(&tag, &ok));
  } while (ok);
  grpc::Status status;
  watch->Finish(&status, nullptr);
  ASSERT_TRUE(queue.Next(&tag, &ok));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(10));
  queue.Shutdown();
}

// Clients may ping every 5 s, also without calls: here as often as that allows, with nothing else
// on the connection.
TEST_F(ServerTest, AcceptsPingsWithoutCalls) {
  ASSERT_TRUE(Start({"127.0.0.1:0"}).ok());
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 5'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  channel_ = grpc::CreateCustomChannel(server_->addresses()[0], grpc::InsecureChannelCredentials(),
                                       arguments);
  EXPECT_EQ(Health(""), 2);
  // Three early pings would be answered with GOAWAY / too_many_pings and the connection be lost.
  EXPECT_FALSE(channel_->WaitForStateChange(GRPC_CHANNEL_READY,
                                            std::chrono::system_clock::now() + seconds(17)));
  EXPECT_EQ(channel_->GetState(false), GRPC_CHANNEL_READY);
}

}  // namespace
}  // namespace acpd::server
