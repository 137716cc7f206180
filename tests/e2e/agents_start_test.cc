// Agents that cannot be started or set up: the turn ends FAILED, and that is the Chat's error.

#include <filesystem>

#include "tests/e2e/agents_support.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct BadStart {
  const char* name;
  const char* command;  // below the test's folder, or absolute; empty: the fake agent
  json script;
  grpc::StatusCode code;
  const char* reason;
  std::vector<std::string> says;
};

std::ostream& operator<<(std::ostream& out, const BadStart& start) { return out << start.name; }

json Steps(std::initializer_list<json> steps) { return json::array_t(steps); }

constexpr auto kPrecondition = grpc::StatusCode::FAILED_PRECONDITION;
constexpr auto kUnavailable = grpc::StatusCode::UNAVAILABLE;

const BadStart kBadStarts[] = {
    {"NoSuchCommand",
     "no-such-agent",
     {},
     kPrecondition,
     "AGENT_START_FAILED",
     {"no such command", "no-such-agent"}},
    {"NoSuchCommandAnywhere",
     "/no/such/agent",
     {},
     kPrecondition,
     "AGENT_START_FAILED",
     {"no such command", "/no/such/agent"}},
    {"NotExecutable",
     "plain-file",
     {},
     kPrecondition,
     "AGENT_START_FAILED",
     {"not executable", "plain-file"}},
    {"AFolder", "folder", {}, kPrecondition, "AGENT_START_FAILED", {"not executable", "folder"}},
    {"NoInterpreter",
     "broken-script",
     {},
     kPrecondition,
     "AGENT_START_FAILED",
     {"cannot be started", "broken-script"}},
    {"ExitsAtOnce",
     "",
     {{"start", Steps({Do("stderr", "error: no config found\n"), Do("exit", 3)})}},
     kUnavailable,
     "AGENT_START_FAILED",
     {"initialize", "exit code 3", "error: no config found"}},
    {"ExitsAtOnceWithoutAWord",
     "",
     {{"start", Steps({Do("exit", 0)})}},
     kUnavailable,
     "AGENT_START_FAILED",
     {"initialize", "exit code 0"}},
    {"IsKilledAtOnce",
     "",
     {{"start", Steps({Do("stderr", "last line"), Do("crash", "KILL")})}},
     kUnavailable,
     "AGENT_START_FAILED",
     {"signal 9", "last line"}},
    {"ExitsInSessionNew",
     "",
     {{"session/new", Steps({Do("stderr", "no disk\n"), Do("exit", 4)})}},
     kUnavailable,
     "AGENT_START_FAILED",
     {"session/new", "exit code 4", "no disk"}},
    {"ExitsBehindItsAnswerToInitialize",
     "",
     {{"initialize", Steps({"reply", Do("stderr", "lost my mind\n"), Do("exit", 5)})}},
     kUnavailable,
     "AGENT_START_FAILED",
     {"session/new", "exit code 5", "lost my mind"}},
    {"SpeaksAnotherVersion",
     "",
     {{"initialize",
       Steps({Do("reply", {{"protocolVersion", 2}, {"agentCapabilities", json::object()}})})}},
     kPrecondition,
     "PROTOCOL_MISMATCH",
     {"version 2", "version 1"}},
    {"AnswersInitializeWithNothing",
     "",
     {{"initialize", Steps({Do("reply", json::object())})}},
     kPrecondition,
     "PROTOCOL_MISMATCH",
     {"initialize"}},
    {"AnswersInitializeWithANumber",
     "",
     {{"initialize", Steps({Do("reply", 7)})}},
     kPrecondition,
     "PROTOCOL_MISMATCH",
     {"initialize"}},
    {"AnswersSessionNewWithoutAnId",
     "",
     {{"session/new", Steps({Do("reply", json::object())})}},
     kPrecondition,
     "PROTOCOL_MISMATCH",
     {"session/new"}},
    {"RefusesInitialize",
     "",
     {{"initialize", Steps({Do("error", Steps({-32603, "database is locked"}))})}},
     kUnavailable,
     "AGENT_START_FAILED",
     {"initialize", "database is locked"}},
    {"RefusesSessionNew",
     "",
     {{"session/new", Steps({Do("error", Steps({-32603, "Internal error", "quota used up"}))})}},
     kUnavailable,
     "AGENT_START_FAILED",
     {"session/new", "Internal error", "quota used up"}},
    {"WantsALogin",
     "",
     {{"session/new", Steps({Do("error", Steps({-32000, "Authentication required"}))})}},
     kPrecondition,
     "AGENT_AUTH_REQUIRED",
     {"login", "Authentication required"}},
    {"WantsALoginAtInitialize",
     "",
     {{"initialize", Steps({Do("error", Steps({-32000, "Please log in"}))})}},
     kPrecondition,
     "AGENT_AUTH_REQUIRED",
     {"Please log in"}},
};

class BadStartTest : public E2eTest, public ::testing::WithParamInterface<BadStart> {
 protected:
  void SetUp() override {
    WriteFile(dir() / "plain-file", "#!/bin/sh\n");
    std::filesystem::permissions(dir() / "plain-file", std::filesystem::perms(0644));
    WriteFile(dir() / "broken-script", "#!/no/such/interpreter\n");
    std::filesystem::permissions(dir() / "broken-script", std::filesystem::perms(0755));
    dir().MakeFolder("folder");
    UseScript(GetParam().script.is_null() ? json::object() : GetParam().script);
    const std::string command = GetParam().command;
    if (!command.empty()) {
      options().agents["fake"].command = command[0] == '/' ? command : dir() / command;
    }
    StartDaemon();
  }

  void ExpectTheError(const Called<api::ChatResponse>& chat) {
    EXPECT_EQ(chat.code(), GetParam().code) << chat.ToString();
    EXPECT_EQ(chat.reason(), GetParam().reason);
    for (const std::string& words : GetParam().says) {
      EXPECT_THAT(chat.status.error_message(), HasSubstr(words));
    }
    EXPECT_LE(chat.status.error_message().size(), 1024u);
    EXPECT_FALSE(chat.trailers.at("acpd-turn-id").empty());
    EXPECT_EQ(chat.trailers.at("acpd-turn-id"), chat.initial.at("acpd-turn-id"));
    EXPECT_EQ(chat.trailers.at("acpd-session-id"), chat.initial.at("acpd-session-id"));
  }

  void ExpectTheFailedTurn(const std::string& turn_id) {
    const auto turn = client().GetTurn(turn_id, api::WAIT_FOR_FINISHED);
    ASSERT_TRUE(turn.ok()) << turn.ToString();
    const api::TurnResult& result = turn.response.result();
    EXPECT_EQ(result.outcome(), api::TurnResult::OUTCOME_FAILED);
    EXPECT_EQ(result.error().reason(), GetParam().reason);
    EXPECT_EQ(result.error().retryable(), GetParam().code == kUnavailable);
    for (const std::string& words : GetParam().says) {
      EXPECT_THAT(result.error().message(), HasSubstr(words));
    }
    EXPECT_FALSE(result.prompt_sent());
    const auto session = client().GetSession(turn.response.session_id());
    ASSERT_TRUE(session.ok()) << session.ToString();
    EXPECT_EQ(session.response.state(), api::Session::STATE_DORMANT);
    EXPECT_EQ(session.response.last_error().reason(), GetParam().reason);
  }
};

INSTANTIATE_TEST_SUITE_P(Agents, BadStartTest, ::testing::ValuesIn(kBadStarts),
                         [](const auto& info) { return info.param.name; });

TEST_P(BadStartTest, EndsTheTurnAndIsTheChatsError) {
  for (const api::WaitFor wait_for :
       {api::WAIT_FOR_UNSPECIFIED, api::WAIT_FOR_STARTED, api::WAIT_FOR_FINISHED}) {
    const auto chat = client().Chat(ChatOf("shop", "", "hello", wait_for));
    ExpectTheError(chat);
    ExpectTheFailedTurn(chat.trailers.at("acpd-turn-id"));
  }
  const auto accepted = client().Chat(ChatOf("shop", "", "hello", api::WAIT_FOR_ACCEPTED));
  ASSERT_TRUE(accepted.ok()) << accepted.ToString();
  ExpectTheFailedTurn(accepted.response.turn_id());
  const std::vector<Event> events = AllEvents();
  for (const auto never : {Event::kTurnStarted, Event::kSessionReady, Event::kSessionUpdate,
                           Event::kSessionReplaced}) {
    EXPECT_EQ(IndexOf(events, Is(never)), events.size());
  }
  EXPECT_THAT(log().Received("session/prompt"), IsEmpty());
  for (const int pid : log().Pids()) EXPECT_FALSE(IsAlive(pid));
}

TEST_F(E2eTest, AnAgentThatIsInstalledLaterRunsTheNextChatOfTheSession) {
  const std::string command = dir() / "agent";
  options().agents["fake"].command = command;
  StartDaemon();
  const auto failed = client().Say("shop", "", "hello");
  EXPECT_EQ(failed.reason(), "AGENT_START_FAILED");
  std::filesystem::create_symlink(ProgramPath("fake_agent"), command);
  const std::string session_id = failed.trailers.at("acpd-session-id");
  const auto chat = client().Say("shop", session_id, "COUNT");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.session_id(), session_id);
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_NEW);
  EXPECT_EQ(chat.response.result().text(), "1");
  EXPECT_FALSE(client().GetSession(session_id).response.has_last_error());
}

}  // namespace
}  // namespace acpd::e2e
