// The trace context of a call is in `_meta` of all that its agent is asked because of it, and of
// nothing else.

#include <array>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Code = grpc::StatusCode;

// What a call brings along.
using Entries = std::vector<std::pair<std::string, std::string>>;

std::string Parent(int number) {
  const std::string digits = std::to_string(number);
  return "00-4bf92f3577b34da6a3ce929d0e0e4736-" + std::string(16 - digits.size(), '0') + digits +
         "-01";
}

Entries Trace(int number) {
  const std::string text = std::to_string(number);
  return {
      {"traceparent", Parent(number)}, {"tracestate", "shop=" + text}, {"baggage", "n=" + text}};
}

// `_meta` with Trace(number) and nothing else.
json Meta(int number) {
  json meta = json::object();
  for (const auto& [key, value] : Trace(number)) meta[key] = value;
  return meta;
}

class TraceTest : public TurnsTest {
 protected:
  template <class Service, class Request, class Response>
  grpc::Status Call(grpc::Status (Service::Stub::*method)(grpc::ClientContext*, const Request&,
                                                          Response*),
                    const Request& request, const Entries& trace, Response* response) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    context.set_wait_for_ready(true);
    for (const auto& [key, value] : trace) context.AddMetadata(key, value);
    const auto stub = Service::NewStub(
        grpc::CreateChannel(daemon().address(), grpc::InsecureChannelCredentials()));
    return (stub.get()->*method)(&context, request, response);
  }
  template <class Service = api::SessionService, class Request, class Response>
  Response Do(grpc::Status (Service::Stub::*method)(grpc::ClientContext*, const Request&,
                                                    Response*),
              const Request& request, const Entries& trace) {
    Response response;
    const grpc::Status status = Call<Service>(method, request, trace, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  api::ChatResponse Chat(const api::ChatRequest& request, const Entries& trace) {
    return Do(&api::SessionService::Stub::Chat, request, trace);
  }
  api::ChatResponse Say(const std::string& session_id, const Entries& trace) {
    return Chat(ChatOf(kProject, session_id, "COUNT", api::WAIT_FOR_FINISHED), trace);
  }
  void UseSessionCapability(const std::string& name) {
    UseScript({{"capabilities", {{"sessionCapabilities", {{name, json::object()}}}}}});
  }
  // Of all requests and notifications of this method; null: it had no `_meta`.
  std::vector<json> MetaOf(const std::string& method) {
    std::vector<json> metas;
    for (const json& message : log().Received(method))
      metas.push_back(message.value("params", json::object()).value("_meta", json()));
    return metas;
  }
  void ExpectNoneAtInitialize() {
    EXPECT_THAT(MetaOf("initialize"), Not(IsEmpty()));
    EXPECT_THAT(MetaOf("initialize"), Each(json()));
  }
};

TEST_F(TraceTest, AChatsGoesWithItsSetUpAndItsPrompt) {
  StartDaemon();
  const std::string id = Say("", Trace(1)).session_id();
  Say(id, Trace(2));
  Say(id, {});
  EXPECT_THAT(MetaOf("session/new"), ElementsAre(Meta(1)));
  EXPECT_THAT(MetaOf("session/prompt"), ElementsAre(Meta(1), Meta(2), json()));
  ExpectNoneAtInitialize();
}

TEST_F(TraceTest, AChatStreamsGoesLikeAChats) {
  StartDaemon();
  api::ChatStreamRequest request;
  *request.mutable_chat() = ChatOf(kProject, "", "COUNT", api::WAIT_FOR_UNSPECIFIED);
  Subscription stream([&](grpc::ClientContext* context) {
    for (const auto& [key, value] : Trace(1)) context->AddMetadata(key, value);
    return client().stub()->ChatStream(context, request);
  });
  const auto end = stream.WaitForEnd();
  ASSERT_TRUE(end && end->ok());
  EXPECT_THAT(MetaOf("session/new"), ElementsAre(Meta(1)));
  EXPECT_THAT(MetaOf("session/prompt"), ElementsAre(Meta(1)));
}

TEST_F(TraceTest, ACreateSessionsGoesWithTheSetUp) {
  StartDaemon();
  api::CreateSessionRequest request;
  request.mutable_setup()->set_project_id(kProject);
  const std::string id =
      Do(&api::SessionService::Stub::CreateSession, request, Trace(1)).session_id();
  Say(id, Trace(2));
  EXPECT_THAT(MetaOf("session/new"), ElementsAre(Meta(1)));
  EXPECT_THAT(MetaOf("session/prompt"), ElementsAre(Meta(2)));
}

TEST_F(TraceTest, AChatsGoesWithTheLoginThatItsSetUpNeeds) {
  UseScript({{"require_auth", true}, {"auth_methods", {{{"id", "key"}}}}});
  SetFake("auth_method", "key");
  StartDaemon();
  Say("", Trace(1));
  EXPECT_THAT(MetaOf("authenticate"), ElementsAre(Meta(1)));
  EXPECT_THAT(MetaOf("session/new"), ElementsAre(Meta(1)));
}

// Of an agent under another name, that the config tells what acpd knows of the built-in ones.
TEST_F(TraceTest, AChatsGoesWithTheLoginByVariableThatItsSetUpNeeds) {
  UseScript({{"require_auth", true}, {"auth_methods", {{{"id", "key"}}}}});
  SetFake("auth_by_variable", {{{"variable", "FAKE_KEY"}, {"method", "key"}}});
  options().agents["fake"].env["FAKE_KEY"] = "dummy-not-a-key";
  StartDaemon();
  Say("", Trace(1));
  EXPECT_THAT(MetaOf("authenticate"), ElementsAre(Meta(1)));
  EXPECT_THAT(MetaOf("session/new"), ElementsAre(Meta(1), Meta(1)));
}

TEST_F(TraceTest, AChatsGoesWithTheEndOfTheWorkerThatIsInItsWay) {
  StartDaemon();
  const std::string id = Say("", Trace(1)).session_id();
  api::ChatRequest changed = ChatOf(kProject, id, "COUNT", api::WAIT_FOR_FINISHED);
  changed.set_clear_mcp_servers(true);
  changed.mutable_model_provider()->set_model("large");
  Chat(changed, Trace(2));
  EXPECT_THAT(MetaOf("session/close"), ElementsAre(Meta(2)));
  EXPECT_THAT(MetaOf("session/resume"), ElementsAre(Meta(2)));
  EXPECT_THAT(MetaOf("session/prompt"), ElementsAre(Meta(1), Meta(2)));
}

TEST_F(TraceTest, AChatsGoesWithTheCancelOfTheTurnThatItInterrupts) {
  StartDaemon();
  const auto running = BeginAt("hold");
  api::ChatRequest request =
      ChatOf(kProject, running.session_id(), "COUNT", api::WAIT_FOR_FINISHED);
  request.set_busy_policy(api::BUSY_POLICY_INTERRUPT);
  Chat(request, Trace(1));
  EXPECT_THAT(MetaOf("session/cancel"), ElementsAre(Meta(1)));
  EXPECT_THAT(MetaOf("session/prompt"), ElementsAre(json(), Meta(1)));
}

TEST_F(TraceTest, ACancelsGoesWithTheCancelAndNotThatOfItsTurn) {
  StartDaemon();
  const auto running =
      Chat(ChatOf(kProject, "", Scripted(Steps(Barrier("hold"))), api::WAIT_FOR_STARTED), Trace(1));
  ASSERT_TRUE(barriers().WaitReached("hold"));
  api::CancelRequest request;
  request.set_session_id(running.session_id());
  const auto cancelled = Do(&api::SessionService::Stub::Cancel, request, Trace(2));
  EXPECT_EQ(cancelled.outcome(), api::CancelResponse::OUTCOME_CANCELLED);
  EXPECT_THAT(MetaOf("session/cancel"), ElementsAre(Meta(2)));
}

TEST_F(TraceTest, ASetSessionOptionsGoesWithTheChange) {
  const json modes = {
      {"currentModeId", "code"},
      {"availableModes", {{{"id", "code"}, {"name", "Code"}}, {{"id", "plan"}, {"name", "Plan"}}}}};
  const json fast = {
      {"id", "fast"}, {"name", "Fast"}, {"type", "boolean"}, {"currentValue", false}};
  UseScript({{"setup", {{"modes", modes}, {"configOptions", {fast}}}}});
  StartDaemon();
  const std::string id = Say("", Trace(1)).session_id();
  api::SetSessionOptionRequest request;
  request.set_session_id(id);
  request.set_mode_id("plan");
  Do(&api::SessionService::Stub::SetSessionOption, request, Trace(2));
  request.mutable_config()->set_config_id("fast");
  request.mutable_config()->set_boolean(true);
  Do(&api::SessionService::Stub::SetSessionOption, request, Trace(3));
  EXPECT_THAT(MetaOf("session/set_mode"), ElementsAre(Meta(2)));
  EXPECT_THAT(MetaOf("session/set_config_option"), ElementsAre(Meta(3)));
  // What was set is applied again to a new worker because of the Chat that needs it.
  ASSERT_TRUE(client().CloseSession(id).ok());
  Say(id, Trace(4));
  EXPECT_THAT(MetaOf("session/set_mode"), ElementsAre(Meta(2), Meta(4)));
  EXPECT_THAT(MetaOf("session/set_config_option"), ElementsAre(Meta(3), Meta(4)));
}

TEST_F(TraceTest, AForksGoesWithTheFork) {
  UseSessionCapability("fork");
  StartDaemon();
  api::ForkSessionRequest request;
  request.set_session_id(Say("", Trace(1)).session_id());
  const std::string copy =
      Do(&api::SessionService::Stub::ForkSession, request, Trace(2)).session_id();
  Do(&api::SessionService::Stub::ForkSession, request, {});
  EXPECT_THAT(MetaOf("session/fork"), ElementsAre(Meta(2), json()));
  Say(copy, Trace(3));
  EXPECT_THAT(MetaOf("session/prompt"), ElementsAre(Meta(1), Meta(3)));
}

TEST_F(TraceTest, ACloseSessionsGoesWithTheCancelsAndTheClose) {
  StartDaemon();
  const auto running =
      Chat(ChatOf(kProject, "", Scripted(Steps(Barrier("hold"))), api::WAIT_FOR_STARTED), Trace(1));
  ASSERT_TRUE(barriers().WaitReached("hold"));
  api::CloseSessionRequest request;
  request.set_session_id(running.session_id());
  request.set_force(true);
  Do(&api::SessionService::Stub::CloseSession, request, Trace(2));
  EXPECT_THAT(MetaOf("session/cancel"), ElementsAre(Meta(2)));
  EXPECT_THAT(MetaOf("session/close"), ElementsAre(Meta(2)));
}

TEST_F(TraceTest, ADeleteSessionsGoesWithTheDeleteAndTheClose) {
  UseSessionCapability("delete");
  StartDaemon();
  api::DeleteSessionRequest request;
  request.set_session_id(Say("", Trace(1)).session_id());
  Do(&api::SessionService::Stub::DeleteSession, request, Trace(2));
  EXPECT_THAT(MetaOf("session/delete"), ElementsAre(Meta(2)));
  EXPECT_THAT(MetaOf("session/close"), ElementsAre(Meta(2)));
}

TEST_F(TraceTest, WhatAcpdDoesByItselfHasNone) {
  SetFake("idle_timeout", "50ms");
  StartDaemon();
  Say("", Trace(1));
  ASSERT_TRUE(log().WaitForReceived("session/close"));
  EXPECT_THAT(MetaOf("session/close"), ElementsAre(json()));
}

TEST_F(TraceTest, AListsGoesWithTheListAndItsLogin) {
  UseScript({{"capabilities", {{"sessionCapabilities", {{"list", json::object()}}}}},
             {"session_pages", {{"", {{"sessions", json::array()}}}}},
             {"require_auth", true},
             {"auth_methods", {{{"id", "key"}}}}});
  SetFake("auth_method", "key");
  StartDaemon();
  api::ListAgentSessionsRequest request;
  request.set_agent("fake");
  Do(&api::SessionService::Stub::ListAgentSessions, request, Trace(1));
  Do(&api::SessionService::Stub::ListAgentSessions, request, {});
  EXPECT_THAT(MetaOf("authenticate"), ElementsAre(Meta(1), json()));
  EXPECT_THAT(MetaOf("session/list"), ElementsAre(Meta(1), json()));
  ExpectNoneAtInitialize();
}

TEST_F(TraceTest, ALoginsAndALogoutsGoWithThem) {
  UseScript({{"capabilities", {{"auth", {{"logout", json::object()}}}}},
             {"auth_methods", {{{"id", "key"}}}}});
  StartDaemon();
  api::LoginAgentRequest login;
  login.set_agent("fake");
  login.set_method_id("key");
  const auto logged_in =
      Do<api::AdminService>(&api::AdminService::Stub::LoginAgent, login, Trace(1));
  EXPECT_TRUE(logged_in.logged_in());
  api::LogoutAgentRequest logout;
  logout.set_agent("fake");
  Do<api::AdminService>(&api::AdminService::Stub::LogoutAgent, logout, Trace(2));
  EXPECT_THAT(MetaOf("authenticate"), ElementsAre(Meta(1)));
  EXPECT_THAT(MetaOf("logout"), ElementsAre(Meta(2)));
  ExpectNoneAtInitialize();
}

class TraceRestartTest : public TraceTest {
 protected:
  // A turn that stands at "hold", and one that waits behind it.
  void QueueBehindAnother() {
    StartDaemon();
    const auto running = BeginAt("hold");
    session_ = running.session_id();
    queued_ = Chat(ChatOf(kProject, session_, "COUNT", api::WAIT_FOR_ACCEPTED), Trace(2)).turn_id();
  }

  std::string session_, queued_;
};

TEST_F(TraceRestartTest, AQueuedTurnsComesBackFromTheStore) {
  QueueBehindAnother();
  LoseAllAndRestart();
  EXPECT_EQ(WaitForTurn(queued_).result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_THAT(MetaOf("session/resume"), ElementsAre(Meta(2)));
  EXPECT_THAT(MetaOf("session/prompt"), ElementsAre(json(), Meta(2)));
}

TEST_F(TraceRestartTest, AQueuedTurnsIsThereBehindATurnThatWasTakenOver) {
  QueueBehindAnother();
  KillAndRestartDaemon();
  barriers().Release("hold");
  EXPECT_EQ(WaitForTurn(queued_).result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_THAT(MetaOf("session/resume"), IsEmpty());
  EXPECT_THAT(MetaOf("session/prompt"), ElementsAre(json(), Meta(2)));
}

TEST_F(TraceTest, WhatIsMalformedOrTooLongIsLeftOut) {
  const std::string baggage_limit(8192, 'b');
  const struct {
    Entries sent;
    json meta;
  } rows[] = {
      {{{"traceparent", "00-4bf9-00f0-01"}, {"tracestate", "a=1"}, {"baggage", "b=2"}},
       {{"baggage", "b=2"}}},
      {{{"traceparent", "00-" + std::string(32, 'G') + "-00f067aa0ba902b7-01"}}, json()},
      {{{"traceparent", Parent(1)}, {"traceparent", Parent(2)}, {"baggage", "b=2"}},
       {{"baggage", "b=2"}}},
      {{{"tracestate", "a=1"}}, json()},
      {{{"traceparent", Parent(1)}, {"tracestate", std::string(512, 's')}},
       {{"traceparent", Parent(1)}, {"tracestate", std::string(512, 's')}}},
      {{{"traceparent", Parent(1)}, {"tracestate", std::string(513, 's')}, {"baggage", "b=2"}},
       {{"traceparent", Parent(1)}, {"baggage", "b=2"}}},
      {{{"traceparent", Parent(1)}, {"baggage", baggage_limit}},
       {{"traceparent", Parent(1)}, {"baggage", baggage_limit}}},
      {{{"traceparent", Parent(1)}, {"tracestate", "a=1"}, {"baggage", baggage_limit + "b"}},
       {{"traceparent", Parent(1)}, {"tracestate", "a=1"}}},
  };
  StartDaemon();
  const std::string id = Say("", {}).session_id();
  std::vector<json> expected = {json()};
  for (const auto& row : rows) {
    Say(id, row.sent);
    expected.push_back(row.meta);
  }
  EXPECT_EQ(MetaOf("session/prompt"), expected);
}

}  // namespace
}  // namespace acpd::e2e
