// Permissions by the kinds of their options, as a policy, the config or an "always" of before
// decides them, and questions that the agent takes back.

#include <algorithm>
#include <ostream>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using PermissionAnswer = api::QuestionResolved;

class PermissionKindsTest : public TurnsTest {
 protected:
  static json OptionsOf(const std::vector<std::string>& kinds) {
    json options = json::array();
    for (const std::string& kind : kinds)
      options.push_back({{"optionId", "id-of-" + kind}, {"kind", kind}});
    return options;
  }
  static json AllKinds() {
    return OptionsOf({"reject_always", "allow_always", "reject_once", "allow_once"});
  }
  static json Call(const std::string& title, const std::string& kind = "edit") {
    return {{"toolCallId", "call-1"},
            {"title", title},
            {"kind", kind},
            {"locations", {{{"path", "/srv/a.txt"}}}}};
  }
  // A turn whose agent asks for this and waits.
  Called<api::ChatResponse> Ask(const std::string& session_id, const json& call,
                                const json& options = AllKinds()) {
    const json ask = {{"id", "q"}, {"toolCall", call}, {"options", options}, {"wait", true}};
    return client().Begin(kProject, session_id, Scripted(Steps(Step("ask", ask))));
  }
  void Answer(const std::string& session_id, const std::string& option_id) {
    ASSERT_TRUE(WaitForState(session_id, api::Session::STATE_WAITING));
    const auto session = client().GetSession(session_id);
    ASSERT_EQ(session.response.open_questions_size(), 1);
    const std::string question =
        session.response.open_questions(0).permission_requested().question_id();
    const auto answered = client().Respond(session_id, question, option_id);
    ASSERT_TRUE(answered.ok()) << answered.ToString();
  }
  // How the last question of the turn's session was resolved, once the turn has ended.
  PermissionAnswer ResolvedIn(const Called<api::ChatResponse>& chat) {
    WaitForTurn(chat.response.turn_id());
    PermissionAnswer answer;
    for (const Event& event : EventsOf(chat.response.session_id())) {
      if (event.has_question_resolved()) answer = event.question_resolved();
    }
    return answer;
  }
};

// ---- By policy.

struct KindsRow {
  const char* name;
  const char* mode;  // of the config
  std::vector<std::string> kinds;
  std::string chosen;  // the option's id; empty: cancelled
  PermissionAnswer::By by;
};

void PrintTo(const KindsRow& row, std::ostream* out) { *out << row.name; }

class ByConfigTest : public PermissionKindsTest, public ::testing::WithParamInterface<KindsRow> {};

INSTANTIATE_TEST_SUITE_P(
    Rows, ByConfigTest,
    ::testing::Values(
        KindsRow{"AllowOfAllFour",
                 "allow",
                 {"reject_always", "allow_always", "reject_once", "allow_once"},
                 "id-of-allow_once",
                 PermissionAnswer::BY_POLICY},
        KindsRow{"AllowOfOnlyAlways",
                 "allow",
                 {"reject_always", "allow_always"},
                 "id-of-allow_always",
                 PermissionAnswer::BY_POLICY},
        KindsRow{"AllowOfOnlyRejects",
                 "allow",
                 {"reject_always"},
                 "id-of-reject_always",
                 PermissionAnswer::BY_TIMEOUT},
        KindsRow{"AllowOfUnknownKinds", "allow", {"allow_twice"}, "", PermissionAnswer::BY_TIMEOUT},
        KindsRow{"AllowOfNothing", "allow", {}, "", PermissionAnswer::BY_TIMEOUT},
        KindsRow{"DenyOfAllFour",
                 "deny",
                 {"reject_always", "allow_always", "reject_once", "allow_once"},
                 "id-of-reject_once",
                 PermissionAnswer::BY_POLICY},
        KindsRow{"DenyOfOnlyAlways",
                 "deny",
                 {"allow_always", "reject_always"},
                 "id-of-reject_always",
                 PermissionAnswer::BY_POLICY},
        KindsRow{"DenyOfOnlyAllows",
                 "deny",
                 {"allow_once", "allow_always"},
                 "",
                 PermissionAnswer::BY_POLICY},
        KindsRow{"DenyOfNothing", "deny", {}, "", PermissionAnswer::BY_POLICY}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(ByConfigTest, IsAnsweredSo) {
  SetFake("permission_mode", GetParam().mode);
  SetFake("question_timeout", "300ms");
  StartDaemon();
  const auto chat = Ask("", Call("Write"), OptionsOf(GetParam().kinds));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const PermissionAnswer answer = ResolvedIn(chat);
  EXPECT_EQ(answer.by(), GetParam().by);
  EXPECT_EQ(answer.option_id(), GetParam().chosen);
  const std::vector<json> told = log().AnswersTo("q");
  ASSERT_EQ(told.size(), 1u);
  const json outcome = told[0]["result"]["outcome"];
  EXPECT_EQ(outcome["outcome"], GetParam().chosen.empty() ? "cancelled" : "selected");
  EXPECT_EQ(outcome.value("optionId", ""), GetParam().chosen);
}

// ---- Remembered.

struct AlwaysRow {
  const char* name;
  std::string answer, afterwards;
};

void PrintTo(const AlwaysRow& row, std::ostream* out) { *out << row.name; }

class AlwaysTest : public PermissionKindsTest, public ::testing::WithParamInterface<AlwaysRow> {};

INSTANTIATE_TEST_SUITE_P(
    Answers, AlwaysTest,
    ::testing::Values(AlwaysRow{"Allow", "id-of-allow_always", "id-of-allow_once"},
                      AlwaysRow{"Reject", "id-of-reject_always", "id-of-reject_once"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(AlwaysTest, IsRememberedForTheSameThingInThisSessionOnly) {
  StartDaemon();
  const auto first = Ask("", Call("Write"));
  const std::string id = first.response.session_id();
  Answer(id, GetParam().answer);
  EXPECT_EQ(ResolvedIn(first).by(), PermissionAnswer::BY_CALLER);
  const PermissionAnswer again = ResolvedIn(Ask(id, Call("Write")));
  EXPECT_EQ(again.by(), PermissionAnswer::BY_POLICY);
  EXPECT_EQ(again.option_id(), GetParam().afterwards);
  const PermissionAnswer only =
      ResolvedIn(Ask(id, Call("Write"), OptionsOf({"allow_always", "reject_always"})));
  EXPECT_EQ(only.by(), PermissionAnswer::BY_POLICY);
  EXPECT_EQ(only.option_id(), GetParam().answer);
  for (const json& other : {Call("Delete"), Call("Write", "delete")}) {
    const auto asked = Ask(id, other);
    Answer(id, "id-of-reject_once");
    EXPECT_EQ(ResolvedIn(asked).by(), PermissionAnswer::BY_CALLER);
  }
  const auto elsewhere = Ask("", Call("Write"));
  Answer(elsewhere.response.session_id(), "id-of-reject_once");
  EXPECT_EQ(ResolvedIn(elsewhere).by(), PermissionAnswer::BY_CALLER);
}

TEST_F(PermissionKindsTest, AnOnceIsNotRemembered) {
  StartDaemon();
  const auto first = Ask("", Call("Write"));
  const std::string id = first.response.session_id();
  Answer(id, "id-of-allow_once");
  WaitForTurn(first.response.turn_id());
  const auto again = Ask(id, Call("Write"));
  Answer(id, "id-of-allow_once");
  EXPECT_EQ(ResolvedIn(again).by(), PermissionAnswer::BY_CALLER);
}

TEST_F(PermissionKindsTest, TheSessionThatStandsInRemembersAndACopyDoesNot) {
  UseScript({{"capabilities", {{"sessionCapabilities", {{"fork", json::object()}}}}},
             {"session/resume", Steps(Error(-32002, "Resource not found"))}});
  StartDaemon();
  const auto first = Ask("", Call("Write"));
  const std::string id = first.response.session_id();
  Answer(id, "id-of-allow_always");
  WaitForTurn(first.response.turn_id());
  api::ForkSessionRequest fork;
  fork.set_session_id(id);
  const auto copy = client().Call(&Client::Stub::ForkSession, fork);
  ASSERT_TRUE(copy.ok()) << copy.ToString();
  const auto of_copy = Ask(copy.response.session_id(), Call("Write"));
  Answer(copy.response.session_id(), "id-of-reject_once");
  EXPECT_EQ(ResolvedIn(of_copy).by(), PermissionAnswer::BY_CALLER);
  ASSERT_TRUE(client().CloseSession(id).ok());
  const auto successor = Ask(id, Call("Write"));
  ASSERT_NE(successor.response.session_id(), id);
  EXPECT_EQ(ResolvedIn(successor).by(), PermissionAnswer::BY_POLICY);
}

// ---- Taken back.

TEST_F(PermissionKindsTest, ACancelRequestIsByTheIdAsTheAgentWroteIt) {
  StartDaemon();
  const auto take_back = [](const json& id) {
    return Step("notify", {{"method", "$/cancel_request"}, {"params", {{"requestId", id}}}});
  };
  const json form = {{"sessionId", "${sessionId}"},
                     {"mode", "form"},
                     {"message", "Which?"},
                     {"requestedSchema", {{"type", "object"}}}};
  // The number and the text are two ids.
  const json steps = Steps(
      Step("ask", {{"id", 7}, {"toolCall", Call("Write")}, {"options", AllKinds()}}),
      Step("request", {{"id", "7"}, {"method", "elicitation/create"}, {"params", form}}),
      take_back(8), take_back("7"),
      Step("expect_answer", {{"id", "7"}, {"result", {{"action", "cancel"}}}}), Barrier("form"),
      take_back(7), Step("expect_answer", {{"id", 7}, {"outcome", "cancelled"}}), take_back(7),
      Say("went on"));
  const auto chat = client().Begin(kProject, "", Scripted(steps));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string id = chat.response.session_id();
  ASSERT_TRUE(barriers().WaitReached("form"));
  const auto open = client().GetSession(id);
  ASSERT_EQ(open.response.open_questions_size(), 1);
  EXPECT_TRUE(open.response.open_questions(0).has_permission_requested());
  EXPECT_EQ(open.response.state(), api::Session::STATE_WAITING);
  barriers().Release("form");
  const api::Turn turn = WaitForTurn(chat.response.turn_id());
  EXPECT_EQ(turn.result().outcome(), api::TurnResult::OUTCOME_COMPLETED)
      << turn.result().error().agent_data();
  EXPECT_EQ(turn.result().text(), "went on");
  std::vector<PermissionAnswer::By> by;
  for (const Event& event : EventsOf(id)) {
    if (!event.has_question_resolved()) continue;
    by.push_back(event.question_resolved().by());
    EXPECT_EQ(event.question_resolved().outcome(), PermissionAnswer::OUTCOME_CANCELLED);
    // Nobody's answer comes through any more.
    EXPECT_EQ(
        client().Respond(id, event.question_resolved().question_id(), "id-of-allow_once").reason(),
        "ALREADY_ANSWERED");
  }
  EXPECT_EQ(by, (std::vector{PermissionAnswer::BY_AGENT, PermissionAnswer::BY_AGENT}));
  EXPECT_EQ(log().AnswersTo(7).size(), 1u);
  EXPECT_EQ(log().AnswersTo("7").size(), 1u);
}

}  // namespace
}  // namespace acpd::e2e
