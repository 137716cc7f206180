// Chats that are refused before acceptance: by Chat, ChatStream and CreateSession alike.

#include "tests/e2e/input_support.h"

namespace acpd::e2e {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;

struct BadChat {
  std::string name;
  std::function<void(api::ChatRequest& request)> spoil;
  StatusCode code;
  std::string reason;
  std::string says = "";  // part of the message
  bool of_setup = true;   // CreateSession refuses it in the same way
};

class BadChatTest : public InputTest {
 protected:
  void Try(const BadChat& bad) {
    SCOPED_TRACE(bad.name);
    api::ChatRequest request = ChatOf("shop", "", "hello", api::WAIT_FOR_FINISHED);
    bad.spoil(request);
    const std::string before = World();
    const auto chat = client().Chat(request);
    EXPECT_FALSE(chat.initial.contains("acpd-turn-id"));
    EXPECT_THAT(chat.status.error_message(), HasSubstr(bad.says));
    ExpectRefused(RefusalOf(chat), bad.code, bad.reason, before);
    ExpectRefused(RefusalOf(*client().ChatStream(request)), bad.code, bad.reason, before);
    if (!bad.of_setup) return;
    api::CreateSessionRequest setup;
    *setup.mutable_setup() = request;
    setup.mutable_setup()->clear_prompt();
    const auto created = client().Call(&Client::Stub::CreateSession, setup);
    EXPECT_THAT(created.status.error_message(), HasSubstr(bad.says));
    ExpectRefused(RefusalOf(created), bad.code, bad.reason, before);
  }
};

TEST_F(BadChatTest, WithoutAPrompt) {
  Try({"empty prompt", [](auto& chat) { chat.clear_prompt(); }, StatusCode::INVALID_ARGUMENT,
       "EMPTY_PROMPT", "prompt", false});
  Try({"empty prompt in a session",
       [&](auto& chat) {
         chat.clear_prompt();
         chat.set_session_id(shop_session_);
       },
       StatusCode::INVALID_ARGUMENT, "EMPTY_PROMPT", "prompt", false});
}

TEST_F(BadChatTest, WithABadProjectId) {
  const std::string bad[] = {"",
                             "../x",
                             std::string(200, 'a'),
                             std::string(129, 'a'),
                             "a/b",
                             ".",
                             "..",
                             ".hidden",
                             "-dash",
                             "a b",
                             "caf\u00e9",
                             "a\n"};
  for (const std::string& project_id : bad) {
    Try({"project_id \"" + project_id + "\"", [&](auto& chat) { chat.set_project_id(project_id); },
         StatusCode::INVALID_ARGUMENT, "INVALID_PROJECT_ID", "project_id"});
  }
}

TEST_F(BadChatTest, WithABadOrForeignSessionId) {
  for (const std::string& session_id :
       {std::string("a/b"), std::string("a b"), std::string(257, 'a'), std::string("caf\u00e9")}) {
    Try({"session_id " + session_id, [&](auto& chat) { chat.set_session_id(session_id); },
         StatusCode::INVALID_ARGUMENT, "INVALID_SESSION_ID", "session_id"});
  }
  Try({"another project's session", [&](auto& chat) { chat.set_session_id(yard_session_); },
       StatusCode::NOT_FOUND, "SESSION_NOT_FOUND", yard_session_});
}

TEST_F(BadChatTest, WithAnAgentThatIsNotThere) {
  Try({"unknown agent", [](auto& chat) { chat.set_agent("no-such-agent"); }, StatusCode::NOT_FOUND,
       "AGENT_NOT_FOUND", "no-such-agent"});
  Try({"unknown agent in a new project",
       [](auto& chat) {
         chat.set_project_id("never-named");
         chat.set_agent("no-such-agent");
       },
       StatusCode::NOT_FOUND, "AGENT_NOT_FOUND", "no-such-agent"});
  Try({"another agent's session",
       [&](auto& chat) {
         chat.set_session_id(shop_session_);
         chat.set_agent("demo");
       },
       StatusCode::FAILED_PRECONDITION, "AGENT_MISMATCH", "fake"});
}

TEST_F(BadChatTest, WithSettingsThatCannotBe) {
  const auto invalid = [&](const std::string& name, std::function<void(api::ChatRequest&)> spoil) {
    Try({name, std::move(spoil), StatusCode::INVALID_ARGUMENT, "INVALID_REQUEST", name});
  };
  invalid("mcp_servers", [](auto& chat) { chat.add_mcp_servers(); });
  invalid("clear_mcp_servers", [](auto& chat) {
    chat.set_clear_mcp_servers(true);
    chat.add_mcp_servers()->set_name("a");
    chat.mutable_mcp_servers(0)->mutable_stdio()->set_command("/bin/a");
  });
  invalid("meta_json", [](auto& chat) { chat.set_meta_json("[]"); });
  invalid("config_options", [](auto& chat) { chat.add_config_options()->set_config_id("model"); });
  Try({"additional_directories", [](auto& chat) { chat.add_additional_directories("relative"); },
       StatusCode::INVALID_ARGUMENT, "CWD_NOT_ALLOWED", "additional_directories[0]"});
  Try({"content", [](auto& chat) { chat.add_content(); }, StatusCode::INVALID_ARGUMENT,
       "INVALID_REQUEST", "content", false});
}

TEST_F(BadChatTest, WithValuesThatMeanNothing) {
  const auto invalid = [&](const std::string& name, std::function<void(api::ChatRequest&)> spoil) {
    Try({name, std::move(spoil), StatusCode::INVALID_ARGUMENT, "INVALID_REQUEST", name});
  };
  invalid("turn_timeout", [](auto& chat) { chat.mutable_turn_timeout()->set_seconds(-1); });
  invalid("question_timeout", [](auto& chat) { chat.mutable_question_timeout()->set_nanos(-1); });
  invalid("wait_for", [](auto& chat) { chat.set_wait_for(static_cast<api::WaitFor>(99)); });
  invalid("busy_policy",
          [](auto& chat) { chat.set_busy_policy(static_cast<api::BusyPolicy>(99)); });
  invalid("permission_mode",
          [](auto& chat) { chat.set_permission_mode(static_cast<api::PermissionMode>(99)); });
  invalid("resume_policy", [](auto& chat) {
    chat.mutable_resume_policy()->set_mode(static_cast<api::ResumePolicy::Mode>(99));
  });
  invalid("request_id", [](auto& chat) { chat.set_request_id(std::string(257, 'r')); });
  invalid("agent_session_id", [](auto& chat) { chat.set_agent_session_id(std::string(257, 'a')); });
}

}  // namespace
}  // namespace acpd::e2e
