// The AdminService of an acpd that has nothing to do. What it does with sessions is tested end to
// end.
#include "server/config_keys.h"
#include "server/config_reader.h"
#include "server/server_info.h"
#include "server/strings.h"
#include "tests/server/service_server_harness.h"

namespace acpd::server {
namespace {

using Stub = v1::AdminService::Stub;
using std::chrono::milliseconds;

// What became of a call.
template <class Response>
struct Answer {
  grpc::StatusCode code;
  std::string reason;
  Response response;
};

class AdminTest : public RealServerTest {
 protected:
  void SetUp() override {
    config_.state_dir = "/some/where";
    ASSERT_TRUE(Start({"127.0.0.1:0"}).ok());
    server_->SetServing(true);
  }
  template <class Service, class Request, class Response>
  Answer<Response> Call(Service& service,
                        grpc::Status (Service::*method)(grpc::ClientContext*, const Request&,
                                                        Response*),
                        const Request& request) {
    Answer<Response> answer;
    const auto context = NewContext();
    answer.code = (service.*method)(context.get(), request, &answer.response).error_code();
    answer.reason = ValueOf(context->GetServerTrailingMetadata(), "acpd-reason");
    return answer;
  }
  v1::GetServerInfoResponse Info() {
    const auto answer = Call(*admin_, &Stub::GetServerInfo, v1::GetServerInfoRequest());
    EXPECT_EQ(answer.code, grpc::OK) << answer.reason;
    return answer.response;
  }
  Answer<v1::DrainResponse> Drain(bool resume) {
    v1::DrainRequest request;
    request.set_resume(resume);
    return Call(*admin_, &Stub::Drain, request);
  }
  // The reason of a Chat's refusal.
  std::string Chat() {
    v1::ChatRequest request;
    request.set_project_id("p");
    request.set_prompt("hello");
    return Call(*stub_, &v1::SessionService::Stub::Chat, request).reason;
  }
};

TEST_F(AdminTest, InfoSaysWhatThisIs) {
  const v1::GetServerInfoResponse info = Info();
  EXPECT_EQ(info.version(), ACPD_VERSION);
  EXPECT_EQ(info.epoch(), store_.store()->epoch());
  EXPECT_EQ(info.pid(), getpid());
  EXPECT_EQ(info.state_dir(), "/some/where");
  EXPECT_GT(info.start_time().seconds(), 1'700'000'000);
  EXPECT_LT(info.uptime().seconds(), 100);
  EXPECT_FALSE(info.draining());
  EXPECT_EQ(info.counts().ByteSizeLong(), 0u);
  EXPECT_EQ(info.shutdown_workers(), v1::WORKERS_AT_SHUTDOWN_KEEP);
  EXPECT_EQ(info.store_error(), "");
  EXPECT_EQ(info.wire_logged_session_ids_size(), 0);
  EXPECT_EQ(info.limits_size(), static_cast<int>(LimitsKeys().size()));
  EXPECT_EQ(info.limits().at("max_queued_turns"), "32");
  EXPECT_EQ(info.limits().at("max_line"), "32MiB");
  EXPECT_EQ(info.limits().at("orphan_timeout"), "1h");
}

TEST_F(AdminTest, StreamsAreCounted) {
  TestReader reader;
  v1::SubscribeProgressRequest request;
  request.set_everything(true);
  reader.Subscribe(*stub_, request);
  EXPECT_EQ(reader.Lines(2), "subscription_started caught_up ");
  EXPECT_EQ(Info().counts().subscribers(), 1u);
  reader.Cancel();
  EXPECT_EQ(reader.Finish().error_code(), grpc::CANCELLED);
}

TEST_F(AdminTest, DrainRefusesNewTurnsUntilItIsOver) {
  EXPECT_EQ(Chat(), "AGENT_NOT_FOUND");  // it would be taken
  const auto drained = Drain(false);
  EXPECT_EQ(drained.code, grpc::OK) << drained.reason;
  EXPECT_TRUE(drained.response.drained());
  EXPECT_TRUE(Info().draining());
  EXPECT_EQ(Chat(), "DRAINING");
  v1::ListSessionsRequest list;
  EXPECT_EQ(Call(*stub_, &v1::SessionService::Stub::ListSessions, list).code, grpc::OK);

  const auto resumed = Drain(true);
  EXPECT_EQ(resumed.code, grpc::OK) << resumed.reason;
  EXPECT_FALSE(resumed.response.drained());
  EXPECT_FALSE(Info().draining());
  EXPECT_EQ(Chat(), "AGENT_NOT_FOUND");
}

TEST_F(AdminTest, DrainEndsWhenAcpdStops) {
  ASSERT_TRUE(store_.loop().Call([this] { manager_->RefuseNew(); }, kPatience));
  EXPECT_EQ(Drain(false).reason, "SHUTTING_DOWN");
}

TEST_F(AdminTest, TheWireLogWantsASession) {
  v1::SetWireLogRequest request;
  request.set_on(true);
  auto answer = Call(*admin_, &Stub::SetWireLog, request);
  EXPECT_EQ(answer.code, grpc::INVALID_ARGUMENT);
  EXPECT_EQ(answer.reason, "INVALID_SESSION_ID");
  for (const bool on : {true, false}) {
    request.set_session_id("nobody");
    request.set_on(on);
    answer = Call(*admin_, &Stub::SetWireLog, request);
    EXPECT_EQ(answer.code, grpc::NOT_FOUND) << on;
    EXPECT_EQ(answer.reason, "SESSION_NOT_FOUND") << on;
  }
}

TEST_F(AdminTest, ShutdownPassesOnWhatToDo) {
  v1::ShutdownRequest request;
  request.set_workers(static_cast<v1::WorkersAtShutdown>(7));
  auto answer = Call(*admin_, &Stub::Shutdown, request);
  EXPECT_EQ(answer.code, grpc::INVALID_ARGUMENT);
  EXPECT_EQ(answer.reason, "INVALID_REQUEST");

  request.set_workers(v1::WORKERS_AT_SHUTDOWN_STOP);
  EXPECT_EQ(Call(*admin_, &Stub::Shutdown, request).code, grpc::OK);
  request.set_workers(v1::WORKERS_AT_SHUTDOWN_KEEP);
  answer = Call(*admin_, &Stub::Shutdown, request);
  EXPECT_EQ(answer.code, grpc::UNAVAILABLE);
  EXPECT_EQ(answer.reason, "SHUTTING_DOWN");
  request.clear_workers();
  Call(*admin_, &Stub::Shutdown, request);

  const std::vector<std::optional<Workers>> asked = {Workers::kStop, Workers::kKeep, std::nullopt};
  EXPECT_EQ(stops_, asked);
}

// What is shown can be pasted into a config.
TEST(ServerInfoTest, LimitsAreShownAsTheConfigWritesThem) {
  session::Limits limits;
  limits.max_depth = 77;
  limits.max_queued_bytes = 3 << 20;
  limits.max_message_in = 4097;
  limits.request_id_ttl = milliseconds(1500);
  std::string text;
  for (const auto& [key, value] : FormatLimits(limits)) {
    const bool number = value.find_first_not_of("0123456789") == std::string::npos;
    const std::string quote = number ? "" : "\"";
    text += Cat(text.empty() ? "" : ", ", "\"", key, "\": ", quote, value, quote);
  }
  DaemonConfig read;
  const absl::Status status = ReadConfig(
      Cat("{\"limits\": {", text, R"(}, "agent_servers": {"demo": {"extends": "demo"}}})"), &read);
  EXPECT_TRUE(status.ok()) << status << text;
  EXPECT_EQ(FormatLimits(read.limits), FormatLimits(limits));
  EXPECT_EQ(read.limits.max_depth, 77u);
  EXPECT_EQ(read.limits.max_message_in, 4097u);
  EXPECT_EQ(read.limits.request_id_ttl, milliseconds(1500));
}

TEST(ServerInfoTest, CountsAreShown) {
  session::ManagerCounts counts;
  counts.sessions = {{session::SessionState::kIdle, 3}, {session::SessionState::kReplaced, 1}};
  counts.queued_turns = 1;
  counts.running_turns = 2;
  counts.workers = 4;
  counts.open_questions = 5;
  v1::GetServerInfoResponse::Counts out;
  ToProto(counts, &out);
  ASSERT_EQ(out.sessions_size(), 2);
  EXPECT_EQ(out.sessions(0).state(), v1::Session::STATE_IDLE);
  EXPECT_EQ(out.sessions(0).count(), 3u);
  EXPECT_EQ(out.sessions(1).state(), v1::Session::STATE_REPLACED);
  EXPECT_EQ(out.queued_turns(), 1u);
  EXPECT_EQ(out.running_turns(), 2u);
  EXPECT_EQ(out.workers(), 4u);
  EXPECT_EQ(out.open_questions(), 5u);
  EXPECT_EQ(ToProto(Workers::kStop), v1::WORKERS_AT_SHUTDOWN_STOP);
}

}  // namespace
}  // namespace acpd::server
