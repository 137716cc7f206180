#include "tests/agents/agent_test.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tests/agents/cell_record.h"

namespace acpd::e2e {
namespace {

using ::testing::EndsWith;

std::string EnvironmentOr(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

bool IsChosen(const std::string& agent) {
  std::istringstream chosen(EnvironmentOr("ACPD_AGENTS", agent));
  for (std::string name; std::getline(chosen, name, ',');) {
    if (name == agent) return true;
  }
  return false;
}

bool HasSaid(const Subscription& stream, const std::string& turn_id, const std::string& text) {
  return TextOf(stream.Events(), turn_id).find(text) != std::string::npos;
}

}  // namespace

std::string AgentTest::AgentsFolder() { return EnvironmentOr("ACPD_AGENTS_DIR", ""); }

void AgentTest::SetUp() {
  const std::string agents = AgentsFolder();
  if (agents.empty()) GTEST_SKIP() << "ACPD_AGENTS_DIR is not set (tests/agents/README.md)";
  if (!IsChosen(GetParam())) GTEST_SKIP() << "ACPD_AGENTS does not name " << GetParam();
  const std::string node = NodeProgram(agents), program = ProgramOf(agent(), agents);
  ASSERT_TRUE(std::filesystem::exists(node)) << node << " is missing: run tests/agents/install";
  ASSERT_TRUE(std::filesystem::exists(program))
      << program << " is missing: run tests/agents/install";
  model_ = std::make_unique<FakeModel>(node, agents + "/fake_model.mjs", dir());
  const AgentPlace place{.agents = agents,
                         .home = dir().MakeFolder("home"),
                         .model_url = model_->url(),
                         .logged_in = logged_in_};
  AgentSpec spec = SpecOf(agent(), place);
  spec.extra.update(extra_);
  // Several of the agents do not exit when their stdin is closed: the first step of a stop is in
  // vain.
  spec.extra["stop_grace"] = "1s";
  options().agents = {{GetParam(), spec}};
  options().default_agent = GetParam();
  Configure();
  StartDaemon();
}

void AgentTest::TearDown() {
  E2eTest::TearDown();
  RecordCell(GetParam(), cannot_);
  if (HasFailure() && model_ != nullptr) {
    std::fprintf(stderr, "---- the model was asked:\n%s----\n", model_->Log().c_str());
  }
}

bool AgentTest::Cannot(Ability ability) {
  const auto found = agent().cannot.find(ability);
  if (found == agent().cannot.end()) return false;
  cannot_ = found->second;
  return true;
}

Called<api::ChatResponse> AgentTest::Say(const std::string& session_id, const std::string& prompt) {
  return client().Chat(ChatOf(kProject, session_id, prompt, api::WAIT_FOR_FINISHED),
                       kAgentPatience);
}

Called<api::ChatResponse> AgentTest::Begin(const std::string& session_id,
                                           const std::string& prompt) {
  return client().Chat(ChatOf(kProject, session_id, prompt, api::WAIT_FOR_STARTED), kAgentPatience);
}

std::string AgentTest::Remember() {
  const auto chat = Say("", kRemember);
  ExpectAnswer(chat, api::SessionOrigin::KIND_NEW, kRemembered);
  return chat.response.session_id();
}

std::string AgentTest::RememberAndClose() {
  const std::string session_id = Remember();
  api::CloseSessionRequest request;
  request.set_session_id(session_id);
  const auto closed = client().Call(&Client::Stub::CloseSession, request, kAgentPatience);
  EXPECT_TRUE(closed.ok()) << closed.ToString();
  EXPECT_EQ(closed.response.state(), api::Session::STATE_DORMANT);
  return session_id;
}

std::string AgentTest::BeginLongAnswer(const std::string& session_id) {
  const auto chat = Begin(session_id, agent().long_prompt);
  EXPECT_TRUE(chat.ok()) << chat.ToString();
  if (!chat.ok()) return "";
  const std::string turn_id = chat.response.turn_id();
  const auto stream = client().SubscribeSession(chat.response.session_id());
  const bool begun = WaitUntil(
      [&] { return HasSaid(*stream, turn_id, agent().long_answer_begins); }, kAgentPatience);
  EXPECT_TRUE(begun) << "the agent does not stream its answer";
  return begun ? turn_id : "";
}

api::TurnResult AgentTest::WaitForEnd(const std::string& turn_id, milliseconds patience) {
  api::GetTurnRequest request;
  request.set_turn_id(turn_id);
  request.set_wait_for(api::WAIT_FOR_FINISHED);
  const auto turn = client().Call(&Client::Stub::GetTurn, request, patience);
  EXPECT_TRUE(turn.ok()) << turn.ToString();
  EXPECT_EQ(turn.response.state(), api::TURN_STATE_ENDED) << "the turn does not end";
  return turn.response.result();
}

int AgentTest::EndsOf(const std::string& turn_id) {
  const std::vector<Event> events = AllEvents();
  return std::count_if(events.begin(), events.end(), EndOf(turn_id));
}

void AgentTest::ExpectText(const std::string& said, const std::string& text) const {
  if (!agent().only_answer.empty()) {
    EXPECT_THAT(said, EndsWith(agent().only_answer));
  } else if (agent().adds_text) {
    EXPECT_THAT(said, EndsWith(text));
  } else {
    EXPECT_EQ(said, text);
  }
}

void AgentTest::ExpectAnswer(const Called<api::ChatResponse>& chat, api::SessionOrigin::Kind kind,
                             const std::string& text) const {
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.state(), api::TURN_STATE_ENDED) << chat.ToString();
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED)
      << chat.ToString();
  ExpectText(chat.response.result().text(), text);
  EXPECT_EQ(api::SessionOrigin::Kind_Name(chat.response.origin().kind()),
            api::SessionOrigin::Kind_Name(kind))
      << chat.ToString();
}

std::vector<std::string> AgentNames(bool (*fits)(const RealAgent&)) {
  std::vector<std::string> names;
  for (const RealAgent& agent : RealAgents()) {
    if (fits == nullptr || fits(agent)) names.push_back(agent.name);
  }
  return names;
}

std::string AgentTestName(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace acpd::e2e
