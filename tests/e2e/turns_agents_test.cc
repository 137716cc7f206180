// The configured agents, a probe of one, and what model providers become in an agent's
// environment.

#include <algorithm>
#include <filesystem>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Code = grpc::StatusCode;

class AgentsTest : public TurnsTest {
 protected:
  std::map<std::string, api::Agent> List() {
    const auto listed = client().Call(&Client::Stub::ListAgents, api::ListAgentsRequest());
    EXPECT_TRUE(listed.ok()) << listed.ToString();
    std::map<std::string, api::Agent> agents;
    for (const auto& agent : listed.response.agents()) agents[agent.name()] = agent;
    return agents;
  }
  Called<api::Agent> Probe(const std::string& name) {
    api::ProbeAgentRequest request;
    request.set_agent(name);
    return client().Call(&Client::Stub::ProbeAgent, request);
  }
};

TEST_F(AgentsTest, AreListed) {
  options().agents["gone"] = {.command = "/no/such/agent", .args = {"--acp"}, .env = {}};
  StartDaemon();
  const auto agents = List();
  EXPECT_EQ(agents.size(), 4u);
  EXPECT_TRUE(agents.at("fake").is_default());
  EXPECT_TRUE(agents.at("fake").available());
  EXPECT_EQ(agents.at("fake").command(0), ProgramPath("fake_agent"));
  EXPECT_FALSE(agents.at("demo").is_default());
  EXPECT_FALSE(agents.at("gone").available());
  EXPECT_FALSE(agents.at("gone").unavailable_reason().empty());
  EXPECT_EQ(agents.at("gone").command_size(), 2);
  EXPECT_TRUE(log().Pids().empty());
}

TEST_F(AgentsTest, AProbeSaysWhatInitializeSays) {
  UseScript({{"auth_methods", json::array({{{"id", "login"}, {"name", "Log in"}}})}});
  StartDaemon();
  EXPECT_EQ(List().at("fake").version(), "");
  const auto probed = Probe("fake");
  ASSERT_TRUE(probed.ok()) << probed.ToString();
  EXPECT_EQ(probed.response.version(), "1");
  EXPECT_TRUE(json::parse(probed.response.capabilities_json()).at("loadSession"));
  EXPECT_EQ(json::parse(probed.response.auth_methods_json()).at(0).at("id"), "login");
  EXPECT_EQ(List().at("fake").version(), "1");
  ASSERT_EQ(log().Pids().size(), 1u);
  EXPECT_TRUE(WaitUntil([&] { return !IsAlive(log().Pids()[0]); }));
  EXPECT_TRUE(log().Received("session/new").empty());
}

TEST_F(AgentsTest, AProbeThatFails) {
  json script = json::object();
  script["initialize"] = Steps("silent");
  options().agents["deaf"] = FakeAgent(script);
  options().agents["deaf"].extra = {{"start_timeout", "500ms"}, {"stop_grace", "300ms"}};
  script["initialize"] = Steps(Step("stderr", "no key\n"), Step("exit", 7));
  options().agents["broken"] = FakeAgent(script);
  options().agents["gone"] = {.command = "/no/such/agent", .args = {}, .env = {}};
  StartDaemon();
  const auto deaf = Probe("deaf");
  EXPECT_EQ(deaf.code(), Code::UNAVAILABLE) << deaf.ToString();
  EXPECT_EQ(deaf.reason(), "START_TIMEOUT");
  const auto broken = Probe("broken");
  EXPECT_EQ(broken.code(), Code::UNAVAILABLE) << broken.ToString();
  EXPECT_EQ(broken.reason(), "AGENT_START_FAILED");
  EXPECT_THAT(broken.status.error_message(), HasSubstr("no key"));
  const auto gone = Probe("gone");
  EXPECT_EQ(gone.code(), Code::FAILED_PRECONDITION) << gone.ToString();
  EXPECT_EQ(gone.reason(), "AGENT_START_FAILED");
  const auto unknown = Probe("never-configured");
  EXPECT_EQ(unknown.code(), Code::NOT_FOUND);
  EXPECT_EQ(unknown.reason(), "AGENT_NOT_FOUND");
}

class ModelProviderTest : public TurnsTest {
 protected:
  static constexpr char kKey[] = "sk-never-to-be-written-4711";

  void SetUp() override {
    auto& env = options().agents["fake"].env;
    env["MODEL_KEY"] = "${model.api_key}";
    env["MODEL_URL"] = "${model.base_url}";
    env["MODEL_NAME"] = "${model.model}";
    env["WHERE"] = "${project_id} ${cwd}";
    options().extra = {{"secrets", {{"team-a", "sk-from-the-config"}}}};
    options().env = {{"ACPD_OWN_SECRET", "do not leak"}};
    StartDaemon();
  }
  api::ChatRequest Request(const std::string& session_id, const std::string& prompt) {
    return ChatOf(kProject, session_id, prompt, api::WAIT_FOR_FINISHED);
  }
  api::ChatRequest KeyedRequest(const std::string& session_id, const std::string& prompt) {
    api::ChatRequest request = Request(session_id, prompt);
    request.mutable_model_provider()->set_api_key(kKey);
    return request;
  }
  std::string AgentEnvironment() {
    std::string text = ReadFile("/proc/" + std::to_string(log().Pids().back()) + "/environ");
    std::replace(text.begin(), text.end(), '\0', '\n');
    return text;
  }
  // Whether the key stands in a file of the state, in acpd's log or in an event.
  void ExpectKeyNowhere() {
    size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir() / "state")) {
      if (!entry.is_regular_file()) continue;
      ++files;
      EXPECT_THAT(ReadFile(entry.path()), Not(HasSubstr(kKey))) << entry.path();
    }
    EXPECT_GT(files, 0u);
    EXPECT_THAT(daemon().Log(), Not(HasSubstr(kKey)));
    for (const Event& event : AllEvents()) {
      EXPECT_THAT(event.SerializeAsString(), Not(HasSubstr(kKey)));
    }
    for (const api::Session& session : AllSessions()) {
      EXPECT_THAT(session.SerializeAsString(), Not(HasSubstr(kKey)));
    }
  }
};

TEST_F(ModelProviderTest, TemplatesAreFilledAndEmptyOnesLeftOut) {
  api::ChatRequest request = Request("", Scripted(Steps(Step("say_env", "MODEL_NAME"))));
  request.mutable_model_provider()->set_model("big-one");
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().text(), "MODEL_NAME=big-one");
  const auto where =
      client().Say(kProject, chat.response.session_id(), Scripted(Steps(Step("say_env", "WHERE"))));
  EXPECT_EQ(where.response.result().text(),
            std::string("WHERE=") + kProject + " " + daemon().ProjectFolder(kProject));
  for (const char* name : {"MODEL_KEY", "MODEL_URL", "ACPD_OWN_SECRET"}) {
    const auto unset =
        client().Say(kProject, chat.response.session_id(), Scripted(Steps(Step("say_env", name))));
    EXPECT_EQ(unset.response.result().text(), std::string(name) + " is not set");
  }
  EXPECT_EQ(client().GetSession(chat.response.session_id()).response.model(), "big-one");
}

TEST_F(ModelProviderTest, AnApiKeyReachesTheAgentAndNoFile) {
  const auto chat = client().Chat(KeyedRequest("", "hello"));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_THAT(AgentEnvironment(), HasSubstr(std::string("MODEL_KEY=") + kKey + "\n"));
  const auto turn = client().GetTurn(chat.response.turn_id());
  EXPECT_EQ(turn.response.request().model_provider().api_key(), "");
  ExpectKeyNowhere();
  KillAndRestartDaemon();
  ExpectKeyNowhere();
}

TEST_F(ModelProviderTest, AfterARestartTheKeyIsNeededAgain) {
  const auto first = client().Chat(KeyedRequest("", "remember the number 42"));
  ASSERT_TRUE(first.ok()) << first.ToString();
  const std::string id = first.response.session_id();
  RestartDaemon();
  const size_t before = EventsOf(id).size();
  const auto refused = client().Chat(Request(id, "hello"));
  EXPECT_EQ(refused.code(), Code::FAILED_PRECONDITION) << refused.ToString();
  EXPECT_EQ(refused.reason(), "CREDENTIALS_NEEDED");
  EXPECT_EQ(EventsOf(id).size(), before);
  const auto second = client().Chat(KeyedRequest(id, "what number did I say?"));
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_EQ(second.response.session_id(), id);
  EXPECT_EQ(second.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(second.response.result().text(), "42");
  EXPECT_THAT(AgentEnvironment(), HasSubstr(kKey));
  const auto third = client().Chat(Request(id, "what number did I say?"));
  EXPECT_TRUE(third.ok()) << third.ToString();
}

TEST_F(ModelProviderTest, AQueuedTurnWhoseKeyIsGoneEndsFailed) {
  api::ChatRequest request = KeyedRequest("", Scripted(Steps(Barrier("hold"))));
  request.set_wait_for(api::WAIT_FOR_STARTED);
  const auto running = client().Chat(request);
  ASSERT_TRUE(running.ok()) << running.ToString();
  const std::string queued = Accept(running.response.session_id(), Steps(Say("x")));
  LoseAllAndRestart();
  const api::Turn turn = WaitForTurn(queued);
  EXPECT_EQ(turn.result().outcome(), api::TurnResult::OUTCOME_FAILED);
  EXPECT_EQ(turn.result().error().reason(), "CREDENTIALS_NEEDED");
  EXPECT_FALSE(turn.result().prompt_sent());
}

TEST_F(ModelProviderTest, AKeyThatTheAgentHasIsNotAskedForAgain) {
  api::ChatRequest request = KeyedRequest("", Scripted(Steps(Barrier("hold"))));
  request.set_wait_for(api::WAIT_FOR_STARTED);
  const auto running = client().Chat(request);
  ASSERT_TRUE(running.ok()) << running.ToString();
  const std::string queued = Accept(running.response.session_id(), Steps(Say("x")));
  KillAndRestartDaemon();
  barriers().Release("hold");
  EXPECT_EQ(WaitForTurn(queued).result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  // The agent dies; the next one is started with the same key, which only it had.
  KillAgent();
  ASSERT_TRUE(WaitForState(running.response.session_id(), api::Session::STATE_DORMANT));
  const auto next = client().Say(kProject, running.response.session_id(), "hello");
  EXPECT_TRUE(next.ok()) << next.ToString();
}

TEST_F(ModelProviderTest, AnApiKeyRefSurvivesARestart) {
  api::ChatRequest request = Request("", "remember the number 42");
  request.mutable_model_provider()->set_api_key_ref("team-a");
  const auto first = client().Chat(request);
  ASSERT_TRUE(first.ok()) << first.ToString();
  EXPECT_THAT(AgentEnvironment(), HasSubstr("MODEL_KEY=sk-from-the-config\n"));
  RestartDaemon();
  const auto second = client().Say(kProject, first.response.session_id(), "what number did I say?");
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_EQ(second.response.result().text(), "42");
  EXPECT_THAT(AgentEnvironment(), HasSubstr("MODEL_KEY=sk-from-the-config\n"));
  request.mutable_model_provider()->set_api_key_ref("team-b");
  EXPECT_EQ(client().Chat(request).reason(), "CREDENTIALS_NEEDED");
}

TEST_F(ModelProviderTest, AnotherModelStartsTheSessionAnew) {
  api::ChatRequest request = Request("", "remember the number 42");
  request.mutable_model_provider()->set_model("small");
  const auto first = client().Chat(request);
  ASSERT_TRUE(first.ok()) << first.ToString();
  request = Request(first.response.session_id(), "what number did I say?");
  request.mutable_model_provider()->set_model("big");
  const auto second = client().Chat(request);
  ASSERT_TRUE(second.ok()) << second.ToString();
  EXPECT_EQ(second.response.session_id(), first.response.session_id());
  EXPECT_EQ(second.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(second.response.result().text(), "42");
  EXPECT_THAT(AgentEnvironment(), HasSubstr("MODEL_NAME=big\n"));
  EXPECT_EQ(log().Pids().size(), 2u);
}

}  // namespace
}  // namespace acpd::e2e
