// CreateSession and ForkSession on their way into the domain.
#include <gtest/gtest.h>

#include "server/chat_request.h"
#include "session/errors.h"

namespace acpd::server {
namespace {

const RequestRules kSetupRules{"key"};

TEST(SetupRequestTest, HasNoPrompt) {
  v1::CreateSessionRequest request;
  request.mutable_setup()->set_project_id("p");
  request.mutable_setup()->set_prompt("hello");
  EXPECT_EQ(session::ReasonOf(SetupFrom(request, kSetupRules).status()), "INVALID_REQUEST");
  request.mutable_setup()->clear_prompt();
  EXPECT_TRUE(SetupFrom(request, kSetupRules).ok());
  request.mutable_setup()->add_content()->set_text("x");
  EXPECT_EQ(session::ReasonOf(SetupFrom(request, kSetupRules).status()), "INVALID_REQUEST");
  request.mutable_setup()->clear_content();
  request.mutable_setup()->set_mode_id("plan");
  EXPECT_EQ(SetupFrom(request, kSetupRules)->mode_id, "plan");
  request.mutable_setup()->clear_project_id();
  EXPECT_EQ(session::ReasonOf(SetupFrom(request, kSetupRules).status()), "INVALID_PROJECT_ID");
}

TEST(ForkRequestTest, IsChecked) {
  v1::ForkSessionRequest request;
  EXPECT_EQ(session::ReasonOf(ForkFrom(request, kSetupRules).status()), "INVALID_SESSION_ID");
  request.set_session_id("s");
  EXPECT_TRUE(ForkFrom(request, kSetupRules).ok());
  request.set_request_id(std::string(257, 'x'));
  EXPECT_EQ(session::ReasonOf(ForkFrom(request, kSetupRules).status()), "INVALID_REQUEST");
  request.set_request_id("r");
  for (int i = 0; i < 65; ++i) {
    EXPECT_TRUE(ForkFrom(request, kSetupRules).ok()) << i;
    (*request.mutable_labels())[std::to_string(i)] = "x";
  }
  EXPECT_EQ(session::ReasonOf(ForkFrom(request, kSetupRules).status()), "INVALID_REQUEST");
}

TEST(ForkRequestTest, IsASetupThatCanBeRepeated) {
  v1::ForkSessionRequest request;
  request.set_session_id("s");
  request.set_request_id("r");
  (*request.mutable_labels())["a"] = "b";
  const acp::TraceContext trace{"parent", "", ""};
  const auto setup = ForkFrom(request, kSetupRules, trace);
  ASSERT_TRUE(setup.ok());
  EXPECT_EQ(setup->request_id, "r");
  EXPECT_EQ(setup->labels, (session::Labels{{"a", "b"}}));
  EXPECT_EQ(setup->trace, trace);
  EXPECT_FALSE(setup->stored_bytes.empty());
  EXPECT_EQ(ForkFrom(request, kSetupRules)->content_hash, setup->content_hash);
  request.set_session_id("t");
  EXPECT_NE(ForkFrom(request, kSetupRules)->content_hash, setup->content_hash);
}

}  // namespace
}  // namespace acpd::server
