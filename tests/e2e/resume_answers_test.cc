// What an agent answers to a resume, and what becomes of the Chat: with a fallback, and with
// MODE_REQUIRE.

#include <ostream>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;

struct Row {
  const char* name;
  json steps;  // of each session/load
  const char* reason;
  const char* detail;     // stands in the origin's detail
  uint32_t attempts;      // with the default max_retries
  bool same_worker;       // the fallback uses the worker that was asked
  grpc::StatusCode code;  // of a Chat with MODE_REQUIRE
  const char* require_reason;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

const json kNotFound = Error(-32002, "Resource not found");

std::vector<Row> Rows() {
  using Code = grpc::StatusCode;
  return {
      {"NotFoundCode", Steps(kNotFound), "SESSION_NOT_FOUND", "Resource not found", 1, true,
       Code::NOT_FOUND, "SESSION_NOT_RESUMABLE"},
      {"NotFoundText", Steps(Error(-32603, "Internal error", "No conversation found with it")),
       "SESSION_NOT_FOUND", "No conversation found", 1, true, Code::NOT_FOUND,
       "SESSION_NOT_RESUMABLE"},
      {"WeakSign", Steps(Error(-32603, "Query closed before response received")),
       "SESSION_NOT_FOUND", "Query closed", 2, true, Code::NOT_FOUND, "SESSION_NOT_RESUMABLE"},
      {"MethodNotFound", Steps(Error(-32601, "Method not found")), "RESUME_UNSUPPORTED",
       "Method not found", 1, true, Code::FAILED_PRECONDITION, "RESUME_UNSUPPORTED"},
      {"InvalidParams", Steps(Error(-32602, "Invalid params")), "RESUME_UNSUPPORTED",
       "Invalid params", 1, true, Code::FAILED_PRECONDITION, "RESUME_UNSUPPORTED"},
      {"AnythingElse", Steps(Error(-32603, "the disk is upside down")), "RESUME_FAILED",
       "the disk is upside down", 2, true, Code::UNAVAILABLE, "RESUME_FAILED"},
      {"Exited", Steps(Step("stderr", "lost my keys\n"), Step("exit", 3)), "AGENT_EXITED",
       "lost my keys", 1, false, Code::UNAVAILABLE, "AGENT_EXITED"},
      {"TimedOut", Steps("silent"), "RESUME_TIMEOUT", "", 1, false, Code::UNAVAILABLE,
       "RESUME_TIMEOUT"},
  };
}

class ResumeAnswerTest : public TurnsTest, public ::testing::WithParamInterface<Row> {
 protected:
  void SetUp() override {
    json script = json::object();
    script["session/load"] = GetParam().steps;
    UseScript(script);
    SetFake("resume", json::array({"session/load"}));
    SetFake("session_setup_timeout", "800ms");
    SetFake("stop_grace", "300ms");
    StartDaemon();
  }
};

INSTANTIATE_TEST_SUITE_P(Answers, ResumeAnswerTest, ::testing::ValuesIn(Rows()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(ResumeAnswerTest, FallsBackToANewSession) {
  const Row& row = GetParam();
  const std::string old_id = MakeDormant();
  const auto chat = client().Say(kProject, old_id, "what number did I say?");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const api::SessionOrigin& origin = chat.response.origin();
  EXPECT_EQ(origin.kind(), api::SessionOrigin::KIND_FALLBACK);
  EXPECT_EQ(origin.reason(), row.reason);
  EXPECT_THAT(origin.detail(), HasSubstr(row.detail));
  EXPECT_EQ(origin.attempts(), row.attempts);
  EXPECT_EQ(origin.requested_session_id(), old_id);
  EXPECT_NE(chat.response.session_id(), old_id);
  EXPECT_EQ(chat.response.result().text(), "UNKNOWN");
  EXPECT_EQ(log().Received("session/load").size(), row.attempts);
  EXPECT_EQ(log().Pids().size(), row.same_worker ? 2u : 3u);
  const auto old = client().GetSession(old_id);
  EXPECT_EQ(old.response.state(), api::Session::STATE_REPLACED);
  EXPECT_EQ(old.response.replaced_by(), chat.response.session_id());
}

TEST_P(ResumeAnswerTest, WithRequireNothingIsMade) {
  const Row& row = GetParam();
  const std::string id = MakeDormant();
  const auto before = client().GetSession(id);
  api::ChatRequest request = ChatOf(kProject, id, "hello", api::WAIT_FOR_FINISHED);
  request.mutable_resume_policy()->set_mode(api::ResumePolicy::MODE_REQUIRE);
  const auto chat = client().Chat(request);
  EXPECT_EQ(chat.code(), row.code) << chat.ToString();
  EXPECT_EQ(chat.reason(), row.require_reason);
  EXPECT_EQ(chat.trailers.at("acpd-session-id"), id);
  const api::Turn turn = WaitForTurn(chat.trailers.at("acpd-turn-id"));
  EXPECT_EQ(turn.result().outcome(), api::TurnResult::OUTCOME_FAILED);
  EXPECT_EQ(turn.result().error().reason(), row.require_reason);
  EXPECT_FALSE(turn.result().prompt_sent());

  EXPECT_EQ(AllSessions().size(), 1u);
  const auto after = client().GetSession(id);
  EXPECT_EQ(after.response.state(), api::Session::STATE_DORMANT);
  EXPECT_EQ(after.response.agent_session_id(), before.response.agent_session_id());
  EXPECT_EQ(log().Received("session/new").size(), 1u);
  EXPECT_EQ(log().Received("session/prompt").size(), 1u);
}

}  // namespace
}  // namespace acpd::e2e
