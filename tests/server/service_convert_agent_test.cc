#include <gtest/gtest.h>

#include "server/convert.h"
#include "server/convert_agent.h"

namespace acpd::server {
namespace {

TEST(ConvertAgentTest, AgentSessions) {
  session::AgentSessionView view{"a", "/srv", std::string(5000, 't'), 2'000'000, "ours"};
  v1::ListAgentSessionsResponse::AgentSession out;
  ToProto(view, &out);
  EXPECT_EQ(out.agent_session_id(), "a");
  EXPECT_EQ(out.cwd(), "/srv");
  EXPECT_EQ(out.title().size(), kMaxWord);
  EXPECT_EQ(out.update_time().seconds(), 2);
  EXPECT_EQ(out.session_id(), "ours");
  view.update_time = 0;
  out.Clear();
  ToProto(view, &out);
  EXPECT_FALSE(out.has_update_time());
}

TEST(ConvertAgentTest, Logins) {
  session::LoginView login;
  login.logged_in = true;
  acp::AuthMethod method;
  method.id = "key";
  method.name = "API key";
  method.description = "from the environment";
  method.type = "env_var";
  login.methods = {method};
  v1::LoginAgentResponse out;
  ToProto(login, &out);
  EXPECT_TRUE(out.logged_in());
  EXPECT_FALSE(out.has_terminal());
  ASSERT_EQ(out.methods_size(), 1);
  EXPECT_EQ(out.methods(0).method_id(), "key");
  EXPECT_EQ(out.methods(0).name(), "API key");
  EXPECT_EQ(out.methods(0).description(), "from the environment");
  EXPECT_EQ(out.methods(0).type(), "env_var");
  login.logged_in = false;
  login.command = {"agent", "login", ""};
  login.env = {{"A", "b"}};
  out.Clear();
  ToProto(login, &out);
  EXPECT_FALSE(out.logged_in());
  EXPECT_EQ(out.terminal().command_size(), 3);
  EXPECT_EQ(out.terminal().env().at("A"), "b");
}

TEST(ConvertAgentTest, ALoginStaysSmall) {
  session::LoginView login;
  login.methods.resize(1000);
  for (auto& method : login.methods) method.description = std::string(5000, 'd');
  login.command = {std::string(256u << 10, 'x')};
  v1::LoginAgentResponse out;
  ToProto(login, &out);
  EXPECT_LE(out.ByteSizeLong(), 260u << 10);
  EXPECT_GT(out.methods_size(), 50);
  EXPECT_FALSE(out.has_terminal()) << "half a command would be another one";
  login.command = {std::string(255u << 10, 'x')};
  out.Clear();
  ToProto(login, &out);
  EXPECT_TRUE(out.has_terminal());
}

}  // namespace
}  // namespace acpd::server
