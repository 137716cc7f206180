// Large requests: what is over a limit is refused; what is taken never makes an answer or event
// that a client with gRPC's own limits cannot receive.

#include "tests/e2e/input_support.h"

namespace acpd::e2e {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr size_t kKiB = 1u << 10, kMiB = 1u << 20;
constexpr size_t kMaxMessageOut = 3 * kMiB;

class LargeTest : public InputTest {
 protected:
  // Each call of this test has to be answered, in messages below 3 MiB.
  template <class Response>
  void ExpectFits(const Called<Response>& called) {
    EXPECT_TRUE(called.ok()) << called.ToString();
    EXPECT_LT(called.response.ByteSizeLong(), kMaxMessageOut);
  }
  void ExpectAllFits(const std::string& session_id, const std::string& turn_id) {
    ExpectFits(client().GetTurn(turn_id));
    ExpectFits(client().GetSession(session_id));
    ExpectFits(client().Call(&Client::Stub::ListTurns, api::ListTurnsRequest()));
    api::ListSessionsRequest sessions;
    sessions.set_view(api::SESSION_VIEW_FULL);
    ExpectFits(client().Call(&Client::Stub::ListSessions, sessions));
    for (const Event& event : AllEvents()) EXPECT_LT(event.ByteSizeLong(), kMaxMessageOut);
  }
  std::optional<Event> Find(const std::function<bool(const Event&)>& fits) {
    for (const Event& event : AllEvents()) {
      if (fits(event)) return event;
    }
    return std::nullopt;
  }
};

TEST_F(LargeTest, TextsOverTheirLimitAreRefused) {
  const std::string before = World(), large(5 * kMiB, 'x');
  const std::function<void(api::ChatRequest&)> spoilers[] = {
      [&](auto& chat) { (*chat.mutable_labels())["name"] = large; },
      [&](auto& chat) { chat.mutable_model_provider()->set_model(large); },
      [&](auto& chat) { chat.mutable_model_provider()->set_base_url(large); },
      [&](auto& chat) { chat.set_cwd("/" + large); },
      [&](auto& chat) { chat.set_agent(large); },
      [&](auto& chat) { chat.set_request_id(large); },
  };
  for (const auto& spoil : spoilers) {
    api::ChatRequest request = ChatOf("shop", "", "hello", api::WAIT_FOR_FINISHED);
    spoil(request);
    const auto chat = client().Chat(request);
    EXPECT_EQ(chat.code(), StatusCode::INVALID_ARGUMENT) << chat.ToString();
    EXPECT_EQ(chat.reason(), "INVALID_REQUEST") << chat.ToString();
  }
  api::CancelRequest cancel;
  cancel.set_session_id(yard_session_);
  cancel.set_reason(large);
  ExpectRefused(RefusalOf(client().Cancel(cancel)), StatusCode::INVALID_ARGUMENT, "INVALID_REQUEST",
                before);
  api::RespondRequest respond;
  respond.set_session_id(yard_session_);
  respond.set_question_id("q");
  respond.set_option_id("allow");
  respond.set_comment(large);
  ExpectRefused(RefusalOf(client().Call(&Client::Stub::Respond, respond)),
                StatusCode::INVALID_ARGUMENT, "INVALID_REQUEST", before);
}

TEST_F(LargeTest, WhatIsAtItsLimitCanBeReadEverywhere) {
  api::ChatRequest request = ChatOf("shop", "", std::string(5 * kMiB, 'x'), api::WAIT_FOR_FINISHED);
  request.set_request_id(std::string(256, 'r'));
  (*request.mutable_labels())["name"] = std::string(16 * kKiB - 4, 'l');
  request.mutable_model_provider()->set_model(std::string(4 * kKiB, 'm'));
  request.mutable_model_provider()->set_base_url(std::string(4 * kKiB, 'u'));
  (*request.mutable_model_provider()->mutable_options())["o"] = std::string(16 * kKiB - 1, 'o');
  const auto chat = client().Chat(request);
  ExpectFits(chat);
  const std::string turn_id = chat.response.turn_id();
  ExpectAllFits(chat.response.session_id(), turn_id);

  const api::Turn turn = client().GetTurn(turn_id).response;
  EXPECT_THAT(turn.request().prompt(), SizeIs(512 * kKiB));
  EXPECT_THAT(turn.prompt(), SizeIs(64 * kKiB));
  const auto queued = Find(
      [&](const Event& event) { return event.has_turn_queued() && event.turn_id() == turn_id; });
  ASSERT_TRUE(queued);
  EXPECT_THAT(queued->turn_queued().prompt(), SizeIs(64 * kKiB));
  EXPECT_TRUE(queued->turn_queued().prompt_truncated());
  // The agent has it whole.
  const std::vector<json> prompts = log().Received("session/prompt");
  EXPECT_THAT(prompts.back()["params"]["prompt"][0]["text"].get<std::string>(), SizeIs(5 * kMiB));
}

TEST_F(LargeTest, AReasonAndACommentAtTheirLimitCanBeRead) {
  const json options = {{{"optionId", "allow"}, {"kind", "allow_once"}}};
  const json steps = {{{"ask", {{"id", "q"}, {"options", options}, {"wait", true}}}},
                      {{"barrier", "asked"}}};
  const auto chat = client().Begin("shop", "", Scripted(steps));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const auto stream = client().SubscribeSession(chat.response.session_id());
  const auto asked = stream->WaitFor(Is(Event::kPermissionRequested));
  ASSERT_TRUE(asked);
  api::RespondRequest respond;
  respond.set_session_id(chat.response.session_id());
  respond.set_question_id(asked->permission_requested().question_id());
  respond.set_option_id("allow");
  respond.set_comment(std::string(4 * kKiB, 'c'));
  const auto answered = client().Call(&Client::Stub::Respond, respond);
  ExpectFits(answered);
  EXPECT_THAT(answered.response.resolved().comment(), SizeIs(4 * kKiB));
  api::CancelRequest cancel;
  cancel.set_session_id(chat.response.session_id());
  cancel.set_reason(std::string(4 * kKiB, 'r'));
  ExpectFits(client().Cancel(cancel));
  ExpectAllFits(chat.response.session_id(), chat.response.turn_id());
  const auto ended = stream->WaitFor(EndOf(chat.response.turn_id()));
  ASSERT_TRUE(ended);
  EXPECT_THAT(ended->turn_ended().result().cancel_reason(), SizeIs(4 * kKiB));

  // Callers have no names.
  const auto queued = stream->WaitFor(Is(Event::kTurnQueued));
  const auto resolved = stream->WaitFor(Is(Event::kQuestionResolved));
  ASSERT_TRUE(queued && resolved);
  EXPECT_EQ(queued->turn_queued().principal(), "");
  EXPECT_EQ(resolved->question_resolved().principal(), "");
  EXPECT_EQ(resolved->question_resolved().by(), api::QuestionResolved::BY_CALLER);
  EXPECT_EQ(answered.response.resolved().principal(), "");
  EXPECT_EQ(ended->turn_ended().result().cancelled_by(), "caller");
}

TEST_F(LargeTest, LabelsOfASessionAddUpToTheLimitOnly) {
  const auto chat_with = [&](int from, int to, const std::string& value) {
    api::ChatRequest request = ChatOf("shop", shop_session_, "hello", api::WAIT_FOR_FINISHED);
    for (int i = from; i < to; ++i) (*request.mutable_labels())[std::to_string(i)] = value;
    return client().Chat(request);
  };
  EXPECT_TRUE(chat_with(0, 40, "x").ok());
  EXPECT_TRUE(chat_with(40, 64, "x").ok());
  const std::string before = World();
  const auto one_more = chat_with(64, 65, "x");
  EXPECT_THAT(one_more.status.error_message(), HasSubstr("64"));
  ExpectRefused(RefusalOf(one_more), StatusCode::INVALID_ARGUMENT, "INVALID_REQUEST", before);
  ExpectRefused(RefusalOf(chat_with(0, 1, std::string(16 * kKiB - 1, 'x'))),
                StatusCode::INVALID_ARGUMENT, "INVALID_REQUEST", before);
  EXPECT_TRUE(chat_with(63, 64, "other").ok()) << "one that it has";
  const auto labels = client().GetSession(shop_session_).response.labels();
  EXPECT_EQ(labels.size(), 64u);
  EXPECT_EQ(labels.at("63"), "other");
}

TEST_F(LargeTest, AQuestionWithTooManyOptionsIsRefusedToTheAgent) {
  const auto ask = [](size_t size, const json& answer) -> json {
    const json options = {
        {{"optionId", "allow"}, {"kind", "allow_once"}, {"name", std::string(size, 'n')}}};
    json expected = answer;
    expected["id"] = "q";
    return {{{"ask", {{"id", "q"}, {"options", options}}}}, {{"expect_answer", expected}}};
  };
  api::ChatRequest request = ChatOf("shop", "", "", api::WAIT_FOR_FINISHED);
  request.set_permission_mode(api::PERMISSION_MODE_ALLOW);
  // With its id and a little for each option: 64 KiB.
  const size_t most = 64 * kKiB - 16 - 5;
  request.set_prompt(Scripted(ask(most, {{"outcome", "selected"}})));
  const auto allowed = client().Chat(request);
  EXPECT_EQ(allowed.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED)
      << allowed.ToString();
  request.set_prompt(Scripted(ask(most + 1, {{"code", -32602}})));
  const auto refused = client().Chat(request);
  EXPECT_EQ(refused.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED)
      << refused.ToString();
  EXPECT_EQ(client().GetSession(refused.response.session_id()).response.permission_mode(),
            api::PERMISSION_MODE_ALLOW);
}

class MessageLimitTest : public E2eTest {};

TEST_F(MessageLimitTest, ARequestOverItIsRefusedByGrpcItself) {
  options().extra = {{"limits", {{"max_message_in", "64KiB"}}}};
  StartDaemon();
  api::ChatRequest request = ChatOf("shop", "", "", api::WAIT_FOR_FINISHED);
  const size_t rest = request.ByteSizeLong() + 4;  // tag and length of the prompt
  request.set_prompt(std::string(64 * kKiB - rest, 'x'));
  ASSERT_EQ(request.ByteSizeLong(), 64 * kKiB);
  const auto taken = client().Chat(request);
  EXPECT_TRUE(taken.ok()) << taken.ToString();
  request.mutable_prompt()->append("x");
  const auto refused = client().Chat(request);
  EXPECT_EQ(refused.code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(refused.reason(), "");
}

class AgentFactsTest : public E2eTest {
 protected:
  bool WantsLogin() {
    const auto listed = client().Call(&Client::Stub::ListAgents, api::ListAgentsRequest());
    EXPECT_TRUE(listed.ok()) << listed.ToString();
    for (const auto& agent : listed.response.agents()) {
      if (agent.name() == "fake") return agent.auth_required();
    }
    ADD_FAILURE() << "there is no agent fake";
    return false;
  }
};

TEST_F(AgentFactsTest, ALoginIsWantedAsLongAsTheAgentSaysSo) {
  const json refusal = {{{"error", {-32000, "Authentication required"}}}};
  UseScript({{"session/new", {refusal, json::array()}}});
  StartDaemon();
  EXPECT_FALSE(WantsLogin());
  EXPECT_EQ(client().Say("shop", "", "hello").reason(), "AGENT_AUTH_REQUIRED");
  EXPECT_TRUE(WantsLogin());
  const auto chat = client().Say("shop", "", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_FALSE(WantsLogin());
  const auto refused = client().Say("shop", chat.response.session_id(), Scripted(refusal));
  ASSERT_TRUE(refused.ok()) << refused.ToString();
  EXPECT_EQ(refused.response.result().outcome(), api::TurnResult::OUTCOME_FAILED);
  EXPECT_TRUE(WantsLogin()) << "a prompt can be refused so, too";
  EXPECT_TRUE(client().Say("shop", chat.response.session_id(), "hello").ok());
  EXPECT_FALSE(WantsLogin());
}

TEST_F(AgentFactsTest, AProbeSeesAnotherVersionOfTheProtocol) {
  UseScript({{"initialize", {{{"reply", {{"protocolVersion", 2}}}}}}});
  StartDaemon();
  api::ProbeAgentRequest probe;
  probe.set_agent("fake");
  const auto probed = client().Call(&Client::Stub::ProbeAgent, probe);
  EXPECT_EQ(probed.code(), StatusCode::FAILED_PRECONDITION) << probed.ToString();
  EXPECT_EQ(probed.reason(), "PROTOCOL_MISMATCH");
  EXPECT_THAT(probed.status.error_message(), HasSubstr("version 2"));
}

}  // namespace
}  // namespace acpd::e2e
