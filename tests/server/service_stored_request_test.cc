#include <gtest/gtest.h>

#include <functional>

#include "server/chat_request.h"
#include "server/stored_request.h"

namespace acpd::server {
namespace {

v1::ChatRequest FullRequest() {
  v1::ChatRequest request;
  request.set_project_id("p");
  request.set_session_id("s");
  request.set_prompt("hello");
  request.set_request_id("r");
  request.set_agent("demo");
  request.mutable_resume_policy()->set_mode(v1::ResumePolicy::MODE_REQUIRE);
  request.mutable_resume_policy()->set_max_retries(0);
  request.mutable_resume_policy()->set_preserve_mcp_servers(false);
  request.set_busy_policy(v1::BUSY_POLICY_REJECT);
  request.set_wait_for(v1::WAIT_FOR_FINISHED);
  request.mutable_model_provider()->set_model("big");
  request.mutable_model_provider()->set_api_key("secret-key");
  request.mutable_model_provider()->set_api_key_ref("ref");
  request.set_permission_mode(v1::PERMISSION_MODE_ALLOW);
  request.set_cwd("/x");
  request.mutable_turn_timeout()->set_nanos(1);
  for (char c = 'a'; c <= 'z'; ++c) (*request.mutable_labels())[std::string(1, c)] = "x";
  request.add_content()->mutable_image()->set_data("\xff");
  request.mutable_content(0)->mutable_image()->set_mime_type("image/png");
  auto* server = request.add_mcp_servers();
  server->set_name("files");
  server->mutable_stdio()->set_command("/files");
  (*server->mutable_stdio()->mutable_env())["TOKEN"] = "env-token";
  (*server->mutable_stdio()->mutable_env())["REF"] = "${secret:a}";
  server = request.add_mcp_servers();
  server->set_name("web");
  server->mutable_http()->set_url("http://web");
  (*server->mutable_http()->mutable_headers())["Key"] = "header-token";
  request.set_system_prompt("be kind");
  request.add_additional_directories("/a");
  request.set_meta_json(R"({"token":"meta-token"})");
  request.set_mode_id("plan");
  request.add_config_options()->set_config_id("model");
  request.mutable_config_options(0)->set_select("big");
  return request;
}

session::ChatRequest Read(const std::string& stored) {
  session::ChatRequest request;
  EXPECT_TRUE(ReadRequest(stored, &request));
  return request;
}

bool Holds(const std::string& stored, const char* text) {
  return stored.find(text) != std::string::npos;
}

TEST(StoredRequestTest, ComesBackWithoutTheKey) {
  const acp::TraceContext trace{"parent", "state", "baggage"};
  const std::string stored = EncodeRequest(FullRequest(), trace);
  EXPECT_FALSE(Holds(stored, "secret-key"));
  const session::ChatRequest request = Read(stored);
  session::ChatRequest expected = FieldsFrom(FullRequest());
  EXPECT_EQ(request.prompt, "hello");
  EXPECT_EQ(request.request_id, "r");
  EXPECT_EQ(request.resume_policy.mode, session::ResumeMode::kRequire);
  EXPECT_EQ(request.resume_policy.max_retries, 0u);
  EXPECT_FALSE(request.resume_policy.preserve_mcp_servers);
  EXPECT_EQ(request.busy_policy, session::BusyPolicy::kReject);
  EXPECT_EQ(request.wait_for, session::WaitFor::kUnspecified);
  EXPECT_EQ(request.model_provider->api_key, "");
  EXPECT_TRUE(request.model_provider->api_key_lost);
  EXPECT_EQ(request.model_provider->api_key_ref, "ref");
  EXPECT_EQ(request.turn_timeout.count(), 1) << "rounded up";
  EXPECT_EQ(request.labels.size(), 26u);
  EXPECT_EQ(request.stored_bytes, stored);
  EXPECT_EQ(request.content, expected.content);
  EXPECT_EQ(request.mcp_servers, expected.mcp_servers);
  EXPECT_EQ(request.system_prompt, "be kind");
  EXPECT_EQ(request.additional_directories, std::vector<std::string>{"/a"});
  EXPECT_EQ(request.meta_json, R"({"token":"meta-token"})");
  EXPECT_EQ(request.mode_id, "plan");
  EXPECT_EQ(request.config_options, expected.config_options);
  EXPECT_FALSE(request.setup_secrets_lost);
  EXPECT_EQ(request.trace, trace);
}

TEST(StoredRequestTest, OtherBytesAreRefused) {
  session::ChatRequest request;
  EXPECT_FALSE(ReadRequest("\xff\xff", &request));
}

TEST(StoredRequestTest, WhatWasNotThereIsNotLost) {
  v1::ChatRequest request;
  request.mutable_model_provider()->set_model("big");
  const session::ChatRequest read = Read(EncodeRequest(request, {}, false));
  EXPECT_FALSE(read.model_provider->api_key_lost);
  EXPECT_FALSE(read.setup_secrets_lost);
  EXPECT_TRUE(read.trace.empty());
  EXPECT_FALSE(read.mcp_servers);
}

TEST(StoredRequestTest, SetupSecretsCanStayInMemory) {
  const std::string stored = EncodeRequest(FullRequest(), {}, false);
  for (const char* secret : {"secret-key", "env-token", "header-token", "meta-token"})
    EXPECT_FALSE(Holds(stored, secret)) << secret;
  EXPECT_TRUE(Holds(stored, "${secret:a}")) << "it is none";
  const session::ChatRequest request = Read(stored);
  EXPECT_TRUE(request.setup_secrets_lost);
  EXPECT_FALSE(request.meta_json);
  ASSERT_EQ(request.mcp_servers->size(), 2u);
  const acp::McpServer::Pairs env = {{"REF", "${secret:a}"}, {"TOKEN", ""}};
  EXPECT_EQ((*request.mcp_servers)[0].env, env);
  EXPECT_EQ((*request.mcp_servers)[1].url, "http://web");
}

TEST(StoredRequestTest, EachSetupSecretAloneIsMarked) {
  const std::function<void(v1::ChatRequest&)> secrets[] = {
      [](auto& r) { r.set_meta_json("{}"); },
      [](auto& r) { (*r.add_mcp_servers()->mutable_stdio()->mutable_env())["A"] = "x"; },
      [](auto& r) { (*r.add_mcp_servers()->mutable_http()->mutable_headers())["A"] = "x"; },
      [](auto& r) { (*r.add_mcp_servers()->mutable_sse()->mutable_headers())["A"] = "x"; },
  };
  for (const auto& add : secrets) {
    v1::ChatRequest request;
    add(request);
    EXPECT_TRUE(Read(EncodeRequest(request, {}, false)).setup_secrets_lost)
        << request.DebugString();
    EXPECT_FALSE(Read(EncodeRequest(request)).setup_secrets_lost);
  }
}

// Nobody but us sets the marks.
TEST(StoredRequestTest, FieldsThatNobodyKnowsAreNotKept) {
  const auto fields = {15000, 15001, 15002, 15003, 15004, 900};
  v1::ChatRequest request;
  request.mutable_model_provider();
  auto* unknown = request.GetReflection()->MutableUnknownFields(&request);
  for (const int field : fields) unknown->AddLengthDelimited(field, "x");
  const session::ChatRequest read = Read(EncodeRequest(request));
  EXPECT_FALSE(read.model_provider->api_key_lost || read.setup_secrets_lost);
  EXPECT_TRUE(read.trace.empty());
}

TEST(StoredRequestTest, ContentIsEverythingButIdWaitAndKey) {
  const std::string hash = ContentHash(FullRequest(), "key");
  v1::ChatRequest same = FullRequest();
  same.set_request_id("another");
  same.set_wait_for(v1::WAIT_FOR_ACCEPTED);
  same.mutable_model_provider()->set_api_key("another");
  EXPECT_EQ(ContentHash(same, "key"), hash);
  v1::ChatRequest reparsed;
  ASSERT_TRUE(reparsed.ParseFromString(FullRequest().SerializeAsString()));
  EXPECT_EQ(ContentHash(reparsed, "key"), hash) << "in whatever order maps are";
  EXPECT_NE(ContentHash(FullRequest(), "another key"), hash);
  const std::function<void(v1::ChatRequest&)> changes[] = {
      [](auto& r) { r.set_prompt("hello!"); },
      [](auto& r) { (*r.mutable_labels())["a"] = "y"; },
      [](auto& r) { r.mutable_content(0)->mutable_image()->set_data("\xfe"); },
      [](auto& r) { r.mutable_mcp_servers(0)->mutable_stdio()->add_args("x"); },
      [](auto& r) { (*r.mutable_mcp_servers(1)->mutable_http()->mutable_headers())["Key"] = "x"; },
      [](auto& r) {
        r.clear_mcp_servers();
        r.set_clear_mcp_servers(true);
      },
      [](auto& r) { r.set_system_prompt("be quick"); },
      [](auto& r) { r.add_additional_directories("/b"); },
      [](auto& r) { r.set_meta_json("{}"); },
      [](auto& r) { r.set_mode_id("code"); },
      [](auto& r) { r.mutable_config_options(0)->set_boolean(false); },
      [](auto& r) { r.mutable_resume_policy()->set_preserve_mcp_servers(true); },
  };
  for (const auto& change : changes) {
    v1::ChatRequest other = FullRequest();
    change(other);
    EXPECT_NE(ContentHash(other, "key"), hash) << other.DebugString();
  }
}

}  // namespace
}  // namespace acpd::server
