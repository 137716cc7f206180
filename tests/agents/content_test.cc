// What the agent gets beside the text, and what it does through acpd: images, servers of tools,
// files.

#include "tests/agents/agent_test.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A red square of 16 x 16 pixels.
constexpr unsigned char kImage[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x10, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x91, 0x68,
    0x36, 0x00, 0x00, 0x00, 0x16, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0xb8, 0xa0, 0xa0, 0x40,
    0x12, 0x62, 0x18, 0xd5, 0x30, 0xaa, 0x61, 0xf8, 0x6a, 0x00, 0x00, 0x4b, 0x7f, 0x10, 0x10, 0x7a,
    0x0c, 0xa9, 0x32, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
};

class ContentTest : public AgentTest {
 protected:
  // A Chat in a new session whose tools need no answer of ours.
  static api::ChatRequest Freely(const std::string& prompt) {
    api::ChatRequest request = ChatOf(kProject, "", prompt, api::WAIT_FOR_FINISHED);
    request.set_permission_mode(api::PERMISSION_MODE_ALLOW);
    return request;
  }
  std::vector<api::FileAccess> WritesThroughAcpd();
};

std::vector<api::FileAccess> ContentTest::WritesThroughAcpd() {
  std::vector<api::FileAccess> writes;
  for (const Event& event : AllEvents()) {
    if (event.has_file_access() && event.file_access().write()) {
      writes.push_back(event.file_access());
    }
  }
  return writes;
}

INSTANTIATE_TEST_SUITE_P(Agents, ContentTest, ::testing::ValuesIn(AgentNames()), AgentTestName);

TEST_P(ContentTest, AnImageReachesTheModel) {
  api::ChatRequest request = Freely("IMAGES");
  api::Media* image = request.add_content()->mutable_image();
  image->set_data(kImage, sizeof kImage);
  image->set_mime_type("image/png");
  const auto chat = client().Chat(request, kAgentPatience);
  if (Cannot(Ability::kImages)) {
    EXPECT_EQ(chat.code(), grpc::StatusCode::INVALID_ARGUMENT) << chat.ToString();
    EXPECT_EQ(chat.reason(), "UNSUPPORTED_CONTENT") << chat.ToString();
  } else {
    ExpectAnswer(chat, api::SessionOrigin::KIND_NEW, "IMAGES 1 image/png");
  }
}

TEST_P(ContentTest, TheAgentCallsAToolOfAnMcpServer) {
  const std::string notes = dir() / "notes.txt";
  api::ChatRequest request = Freely("TOOL LIKE append_line {\"text\":\"from the agent\"}");
  api::McpServer* server = request.add_mcp_servers();
  server->set_name("notes");
  server->mutable_stdio()->set_command(NodeProgram(AgentsFolder()));
  server->mutable_stdio()->add_args(AgentsFolder() + "/mcp_notes.mjs");
  // With the test's folder in its command line it is one of the processes that must not be left.
  server->mutable_stdio()->add_args(notes);
  const auto chat = client().Chat(request, kAgentPatience);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED)
      << chat.ToString();
  EXPECT_THAT(chat.response.result().text(), HasSubstr(agent().tool_answer));
  EXPECT_EQ(ReadFile(notes), Cannot(Ability::kMcpServers) ? "" : "from the agent\n");
}

TEST_P(ContentTest, TheAgentWritesAFileThroughAcpd) {
  const std::string file = daemon().ProjectFolder(kProject) + "/written.txt";
  const auto chat = client().Chat(Freely("TOOL WRITE " + file), kAgentPatience);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::vector<api::FileAccess> writes = WritesThroughAcpd();
  if (Cannot(Ability::kWriteThroughClient)) {
    EXPECT_THAT(writes, IsEmpty());
    return;
  }
  EXPECT_THAT(chat.response.result().text(), HasSubstr(agent().tool_answer)) << chat.ToString();
  EXPECT_EQ(ReadFile(file), "hi from the fake model\n");
  ASSERT_EQ(writes.size(), 1u);
  EXPECT_EQ(writes[0].path(), file);
  EXPECT_EQ(writes[0].bytes(), ReadFile(file).size());
  EXPECT_FALSE(writes[0].has_error()) << writes[0].ShortDebugString();
}

}  // namespace
}  // namespace acpd::e2e
