// The agent has lost a session, and acpd's own record of it stands in.

#include <filesystem>

#include "tests/agents/agent_test.h"

namespace acpd::e2e {
namespace {

using TranscriptTest = AgentTest;

INSTANTIATE_TEST_SUITE_P(Agents, TranscriptTest,
                         ::testing::ValuesIn(AgentNames([](const RealAgent& agent) {
                           return !agent.sessions_folder.empty();
                         })),
                         AgentTestName);

TEST_P(TranscriptTest, GivesTheLostContextBack) {
  const std::string session_id = RememberAndClose();
  const std::string folder = dir() / ("home/" + agent().sessions_folder);
  ASSERT_GT(std::filesystem::remove_all(folder), 1u) << folder << " was empty";
  api::ChatRequest request = ChatOf(kProject, session_id, kRecall, api::WAIT_FOR_FINISHED);
  request.mutable_resume_policy()->set_mode(api::ResumePolicy::MODE_FALLBACK_WITH_TRANSCRIPT);
  const auto chat = client().Chat(request, kAgentPatience);
  ExpectAnswer(chat, api::SessionOrigin::KIND_FALLBACK, "42");
  EXPECT_TRUE(chat.response.origin().transcript_injected()) << chat.ToString();
  EXPECT_NE(chat.response.session_id(), session_id);
}

}  // namespace
}  // namespace acpd::e2e
