// Bad ids and scopes in the calls that name a session, a turn or a question.

#include "tests/e2e/input_support.h"

namespace acpd::e2e {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;

class BadCallTest : public InputTest {
 protected:
  template <class Request, class Response>
  void Try(grpc::Status (Client::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
           const Request& request, StatusCode code, const std::string& reason) {
    SCOPED_TRACE(Request::descriptor()->name() + " " + request.ShortDebugString());
    const std::string before = World();
    const auto called = client().Call(method, request);
    ExpectRefused(RefusalOf(called), code, reason, before);
  }

  // A call that has nothing but a session_id and what `set` adds.
  template <class Request, class Response>
  void TrySessionIds(
      grpc::Status (Client::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
      std::function<void(Request&)> set = [](Request&) {}) {
    Request request;
    set(request);
    request.set_session_id("no-such-session");
    Try(method, request, StatusCode::NOT_FOUND, "SESSION_NOT_FOUND");
    request.set_session_id("a/b");
    Try(method, request, StatusCode::INVALID_ARGUMENT, "INVALID_SESSION_ID");
  }

  void TryCancel(const std::function<void(api::CancelRequest&)>& set, StatusCode code,
                 const std::string& reason) {
    api::CancelRequest request;
    set(request);
    Try(&Client::Stub::Cancel, request, code, reason);
  }
};

TEST_F(BadCallTest, SessionsThatNobodyKnows) {
  TrySessionIds<api::CancelRequest>(&Client::Stub::Cancel);
  TrySessionIds<api::GetSessionRequest>(&Client::Stub::GetSession);
  TrySessionIds<api::CloseSessionRequest>(&Client::Stub::CloseSession,
                                          [](auto& close) { close.set_force(true); });
  TrySessionIds<api::DeleteSessionRequest>(&Client::Stub::DeleteSession,
                                           [](auto& remove) { remove.set_force(true); });
  TrySessionIds<api::ListTurnsRequest>(&Client::Stub::ListTurns);
  TrySessionIds<api::RespondRequest>(&Client::Stub::Respond, [](auto& respond) {
    respond.set_question_id("q");
    respond.set_option_id("allow");
  });
  for (const char* empty : {"get", "close", "delete", "respond"}) {
    SCOPED_TRACE(empty);
    const std::string before = World(), call = empty;
    const Refusal refusal =
        call == "get"     ? RefusalOf(client().GetSession(""))
        : call == "close" ? RefusalOf(client().CloseSession(""))
        : call == "delete"
            ? RefusalOf(client().Call(&Client::Stub::DeleteSession, api::DeleteSessionRequest()))
            : RefusalOf(client().Respond("", "q", "allow"));
    ExpectRefused(refusal, StatusCode::INVALID_ARGUMENT, "INVALID_SESSION_ID", before);
  }
}

TEST_F(BadCallTest, TurnsThatNobodyKnows) {
  api::GetTurnRequest turn;
  Try(&Client::Stub::GetTurn, turn, StatusCode::INVALID_ARGUMENT, "INVALID_REQUEST");
  turn.set_turn_id("no-such-turn");
  Try(&Client::Stub::GetTurn, turn, StatusCode::NOT_FOUND, "TURN_NOT_FOUND");
  turn.set_wait_for(api::WAIT_FOR_FINISHED);
  Try(&Client::Stub::GetTurn, turn, StatusCode::NOT_FOUND, "TURN_NOT_FOUND");
  api::GetTurnRequest request;
  request.set_project_id("shop");
  request.set_request_id("no-such-request");
  Try(&Client::Stub::GetTurn, request, StatusCode::NOT_FOUND, "TURN_NOT_FOUND");
  TryCancel([](auto& cancel) { cancel.set_turn_id("no-such-turn"); }, StatusCode::NOT_FOUND,
            "TURN_NOT_FOUND");
}

TEST_F(BadCallTest, CancelsWhoseScopeIsMissingOrDisagrees) {
  const auto invalid = StatusCode::INVALID_ARGUMENT;
  TryCancel([](auto&) {}, invalid, "INVALID_REQUEST");
  TryCancel([](auto& cancel) { cancel.set_include_queued(true); }, invalid, "INVALID_REQUEST");
  TryCancel([](auto& cancel) { cancel.set_project_id("../x"); }, invalid, "INVALID_PROJECT_ID");
  TryCancel(
      [&](auto& cancel) {
        cancel.set_session_id(yard_session_);
        cancel.mutable_grace()->set_seconds(-1);
      },
      invalid, "INVALID_REQUEST");
  const std::function<void(api::CancelRequest&)> mismatches[] = {
      [&](auto& cancel) {
        cancel.set_everything(true);
        cancel.set_session_id(yard_session_);
      },
      [&](auto& cancel) {
        cancel.set_everything(true);
        cancel.set_project_id("yard");
      },
      [&](auto& cancel) {
        cancel.set_everything(true);
        cancel.set_turn_id(yard_turn_);
      },
      [&](auto& cancel) {
        cancel.set_session_id(yard_session_);
        cancel.set_project_id("shop");
      },
      [&](auto& cancel) {
        cancel.set_turn_id(yard_turn_);
        cancel.set_session_id(shop_session_);
      },
      [&](auto& cancel) {
        cancel.set_turn_id(yard_turn_);
        cancel.set_project_id("shop");
      },
      [&](auto& cancel) {
        cancel.set_turn_id(shop_turn_);  // ended
        cancel.set_session_id(yard_session_);
      },
      [&](auto& cancel) {
        cancel.set_turn_id(shop_turn_);
        cancel.set_project_id("yard");
      },
  };
  for (const auto& set : mismatches) TryCancel(set, invalid, "SCOPE_MISMATCH");
  EXPECT_EQ(client().GetTurn(yard_turn_).response.state(), api::TURN_STATE_RUNNING);
}

TEST_F(BadCallTest, ACancelOfAProjectThatWasNeverNamedFindsNothing) {
  const std::string before = World();
  api::CancelRequest request;
  request.set_project_id("never-named");
  const auto cancelled = client().Cancel(request);
  ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
  EXPECT_EQ(cancelled.response.outcome(), api::CancelResponse::OUTCOME_NOTHING_RUNNING);
  EXPECT_EQ(cancelled.response.turns_size(), 0);
  EXPECT_EQ(World(), before);
}

TEST_F(BadCallTest, AnswersToQuestionsThatWereNotAsked) {
  const auto invalid = StatusCode::INVALID_ARGUMENT;
  api::RespondRequest respond;
  respond.set_session_id(yard_session_);
  Try(&Client::Stub::Respond, respond, invalid, "INVALID_REQUEST");
  respond.set_question_id("no-such-question");
  Try(&Client::Stub::Respond, respond, invalid, "INVALID_ANSWER");
  respond.set_option_id("allow");
  Try(&Client::Stub::Respond, respond, StatusCode::NOT_FOUND, "QUESTION_NOT_FOUND");
  respond.set_cancelled(true);
  Try(&Client::Stub::Respond, respond, StatusCode::NOT_FOUND, "QUESTION_NOT_FOUND");
  respond.set_option_kind(static_cast<api::PermissionOptionKind>(99));
  Try(&Client::Stub::Respond, respond, invalid, "INVALID_ANSWER");
  respond.set_accept_json("no json");
  Try(&Client::Stub::Respond, respond, invalid, "INVALID_ANSWER");
  respond.set_accept_json("{}");
  Try(&Client::Stub::Respond, respond, StatusCode::NOT_FOUND, "QUESTION_NOT_FOUND");
  respond.set_decline(false);
  Try(&Client::Stub::Respond, respond, invalid, "INVALID_ANSWER");
  respond.set_decline(true);
  Try(&Client::Stub::Respond, respond, StatusCode::NOT_FOUND, "QUESTION_NOT_FOUND");
}

TEST_F(BadCallTest, AgentsThatAreNotThere) {
  api::ProbeAgentRequest probe;
  probe.set_agent("no-such-agent");
  Try(&Client::Stub::ProbeAgent, probe, StatusCode::NOT_FOUND, "AGENT_NOT_FOUND");
}

TEST_F(BadCallTest, ChangesAndCopiesThatCannotBe) {
  const auto invalid = StatusCode::INVALID_ARGUMENT;
  api::SetSessionOptionRequest option;
  option.set_session_id(shop_session_);
  Try(&Client::Stub::SetSessionOption, option, invalid, "INVALID_REQUEST");
  option.set_mode_id("");
  Try(&Client::Stub::SetSessionOption, option, invalid, "INVALID_REQUEST");
  option.mutable_config()->set_config_id("model");
  Try(&Client::Stub::SetSessionOption, option, invalid, "INVALID_REQUEST");
  api::ForkSessionRequest fork;
  Try(&Client::Stub::ForkSession, fork, invalid, "INVALID_SESSION_ID");
  api::ListAgentSessionsRequest list;
  list.set_page_token("nonsense");
  Try(&Client::Stub::ListAgentSessions, list, invalid, "INVALID_PAGE_TOKEN");
}

}  // namespace
}  // namespace acpd::e2e
