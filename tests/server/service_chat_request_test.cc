// Chat on its way into the domain; what stands in content and mcp_servers has tests of its own.
#include <gtest/gtest.h>

#include <functional>

#include "server/chat_request.h"
#include "server/stored_request.h"
#include "session/errors.h"

namespace acpd::server {
namespace {

using std::chrono::hours;

const RequestRules kChatRules{"key"};

v1::ChatRequest Chat() {
  v1::ChatRequest request;
  request.set_project_id("p");
  request.set_prompt("hello");
  return request;
}

struct Case {
  const char* name;
  std::function<void(v1::ChatRequest&)> change;
  const char* reason;  // "": fine
  const char* named = "";
};

TEST(ChatRequestTest, IsChecked) {
  const Case cases[] = {
      {"plain", [](auto&) {}, ""},
      {"no project", [](auto& r) { r.set_project_id(""); }, "INVALID_PROJECT_ID"},
      {"project outside", [](auto& r) { r.set_project_id("../x"); }, "INVALID_PROJECT_ID"},
      {"longest project", [](auto& r) { r.set_project_id(std::string(128, 'x')); }, ""},
      {"long project", [](auto& r) { r.set_project_id(std::string(129, 'x')); },
       "INVALID_PROJECT_ID"},
      {"session with space", [](auto& r) { r.set_session_id("a b"); }, "INVALID_SESSION_ID"},
      {"session with slash", [](auto& r) { r.set_session_id("a/b"); }, "INVALID_SESSION_ID"},
      {"longest session", [](auto& r) { r.set_session_id(std::string(256, 'x')); }, ""},
      {"long session", [](auto& r) { r.set_session_id(std::string(257, 'x')); },
       "INVALID_SESSION_ID"},
      {"no prompt", [](auto& r) { r.clear_prompt(); }, "EMPTY_PROMPT"},
      {"content alone",
       [](auto& r) {
         r.clear_prompt();
         r.add_content()->set_text("x");
       },
       ""},
      {"long request_id", [](auto& r) { r.set_request_id(std::string(257, 'x')); },
       "INVALID_REQUEST"},
      {"request_id with newline", [](auto& r) { r.set_request_id("a\nb"); }, "INVALID_REQUEST"},
      {"long agent_session_id", [](auto& r) { r.set_agent_session_id(std::string(257, 'x')); },
       "INVALID_REQUEST"},
      {"unknown busy policy", [](auto& r) { r.set_busy_policy(v1::BusyPolicy(4)); },
       "INVALID_REQUEST", "busy_policy"},
      {"unknown wait", [](auto& r) { r.set_wait_for(v1::WaitFor(-1)); }, "INVALID_REQUEST",
       "wait_for"},
      {"unknown permission mode", [](auto& r) { r.set_permission_mode(v1::PermissionMode(9)); },
       "INVALID_REQUEST", "permission_mode"},
      {"unknown resume mode",
       [](auto& r) { r.mutable_resume_policy()->set_mode(v1::ResumePolicy::Mode(9)); },
       "INVALID_REQUEST", "resume_policy.mode"},
      {"negative timeout", [](auto& r) { r.mutable_turn_timeout()->set_seconds(-1); },
       "INVALID_REQUEST", "turn_timeout"},
      {"negative nanos", [](auto& r) { r.mutable_question_timeout()->set_nanos(-1); },
       "INVALID_REQUEST", "question_timeout"},
      {"too many nanos", [](auto& r) { r.mutable_turn_timeout()->set_nanos(1'000'000'000); },
       "INVALID_REQUEST", "turn_timeout"},
      {"servers and none",
       [](auto& r) {
         r.set_clear_mcp_servers(true);
         auto* server = r.add_mcp_servers();
         server->set_name("s");
         server->mutable_http()->set_url("http://x");
       },
       "INVALID_REQUEST", "clear_mcp_servers"},
      {"server without a name", [](auto& r) { r.add_mcp_servers(); }, "INVALID_REQUEST",
       "mcp_servers[0].name"},
      {"empty block", [](auto& r) { r.add_content(); }, "INVALID_REQUEST", "content[0]"},
      {"relative directory", [](auto& r) { r.add_additional_directories("x"); }, "CWD_NOT_ALLOWED",
       "additional_directories[0]"},
      {"empty directory",
       [](auto& r) {
         r.add_additional_directories("/x");
         r.add_additional_directories("");
       },
       "CWD_NOT_ALLOWED", "additional_directories[1]"},
      {"meta that is no object", [](auto& r) { r.set_meta_json("[]"); }, "INVALID_REQUEST",
       "meta_json"},
      {"meta that is no JSON", [](auto& r) { r.set_meta_json("{"); }, "INVALID_REQUEST",
       "meta_json"},
      {"meta that resumes",
       [](auto& r) { r.set_meta_json(R"({"claudeCode":{"options":{"resume":"x"}}})"); },
       "INVALID_REQUEST", "resume"},
      {"option without id", [](auto& r) { r.add_config_options()->set_boolean(true); },
       "INVALID_REQUEST", "config_options[0].config_id"},
      {"option without value", [](auto& r) { r.add_config_options()->set_config_id("x"); },
       "INVALID_REQUEST", "config_options[0]"},
  };
  for (const Case& one : cases) {
    v1::ChatRequest request = Chat();
    one.change(request);
    const auto chat = ChatFrom(request, kChatRules);
    EXPECT_EQ(session::ReasonOf(chat.status()), one.reason) << one.name;
    EXPECT_EQ(chat.ok(), std::string(one.reason).empty()) << one.name << " " << chat.status();
    EXPECT_NE(std::string(chat.status().message()).find(one.named), std::string::npos)
        << chat.status();
  }
}

// Each number of entries at, under and over its limit.
TEST(ChatRequestTest, ListsAreBounded) {
  const std::pair<const char*, std::function<void(v1::ChatRequest&, int)>> lists[] = {
      {"additional_directories", [](auto& r, int) { r.add_additional_directories("/x"); }},
      {"config_options",
       [](auto& r, int) {
         auto* option = r.add_config_options();
         option->set_config_id("o");
         option->set_select("");
       }},
      {"mcp_servers",
       [](auto& r, int i) {
         auto* server = r.add_mcp_servers();
         server->set_name(std::to_string(i));
         server->mutable_sse()->set_url("https://x");
       }},
  };
  for (const auto& [name, add] : lists) {
    v1::ChatRequest request = Chat();
    for (int i = 0; i < 65; ++i) {
      const absl::Status status = ChatFrom(request, kChatRules).status();
      EXPECT_TRUE(status.ok()) << name << " " << i << " " << status;
      add(request, i);
    }
    const absl::Status status = ChatFrom(request, kChatRules).status();
    EXPECT_EQ(session::ReasonOf(status), "INVALID_REQUEST") << name;
    EXPECT_NE(std::string(status.message()).find(name), std::string::npos) << status;
  }
}

TEST(ChatRequestTest, UnsetSettingsChangeNothing) {
  const auto chat = ChatFrom(Chat(), kChatRules);
  ASSERT_TRUE(chat.ok());
  EXPECT_FALSE(chat->mcp_servers || chat->system_prompt || chat->meta_json ||
               chat->additional_directories);
  EXPECT_EQ(chat->mode_id, "");
  EXPECT_TRUE(chat->config_options.empty() && chat->content.empty());
  EXPECT_TRUE(chat->resume_policy.preserve_mcp_servers);
  EXPECT_FALSE(chat->setup_secrets_lost);
}

TEST(ChatRequestTest, SettingsComeAlong) {
  v1::ChatRequest request = Chat();
  request.set_system_prompt("be kind");
  request.set_meta_json(R"({"a":1})");
  request.add_additional_directories("/a");
  request.add_additional_directories("/b");
  request.set_mode_id("plan");
  auto* option = request.add_config_options();
  option->set_config_id("model");
  option->set_select("big");
  option = request.add_config_options();
  option->set_config_id("fast");
  option->set_boolean(false);
  request.mutable_resume_policy()->set_mode(v1::ResumePolicy::MODE_FALLBACK_WITH_TRANSCRIPT);
  request.mutable_resume_policy()->set_preserve_mcp_servers(false);
  const auto chat = ChatFrom(request, kChatRules);
  ASSERT_TRUE(chat.ok()) << chat.status();
  EXPECT_EQ(chat->system_prompt, "be kind");
  EXPECT_EQ(chat->meta_json, R"({"a":1})");
  EXPECT_EQ(chat->additional_directories, (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(chat->mode_id, "plan");
  const std::vector<acp::OptionValue> options = {{"model", false, false, "big"},
                                                 {"fast", true, false, ""}};
  EXPECT_EQ(chat->config_options, options);
  EXPECT_EQ(chat->resume_policy.mode, session::ResumeMode::kFallbackWithTranscript);
  EXPECT_FALSE(chat->resume_policy.preserve_mcp_servers);
}

TEST(ChatRequestTest, ServersCanBeTakenAway) {
  v1::ChatRequest request = Chat();
  request.set_clear_mcp_servers(true);
  const auto chat = ChatFrom(request, kChatRules);
  ASSERT_TRUE(chat.ok());
  ASSERT_TRUE(chat->mcp_servers);
  EXPECT_TRUE(chat->mcp_servers->empty());
}

TEST(ChatRequestTest, HasWhatIsStored) {
  v1::ChatRequest request = Chat();
  request.mutable_model_provider()->set_api_key("secret");
  const acp::TraceContext trace{"parent", "", "baggage"};
  const auto chat = ChatFrom(request, kChatRules, trace);
  ASSERT_TRUE(chat.ok());
  EXPECT_EQ(chat->model_provider->api_key, "secret") << "in memory";
  EXPECT_EQ(chat->trace, trace);
  EXPECT_EQ(chat->stored_bytes, EncodeRequest(request, trace));
  EXPECT_EQ(chat->stored_bytes.find("secret"), std::string::npos);
  EXPECT_EQ(chat->content_hash, ContentHash(request, "key"));
  EXPECT_EQ(ChatFrom(request, kChatRules)->content_hash, chat->content_hash)
      << "the trace is no content";
}

TEST(ChatRequestTest, SetupSecretsAreStoredWhereTheConfigSaysSo) {
  v1::ChatRequest request = Chat();
  request.set_meta_json(R"({"token":"hidden"})");
  RequestRules rules = kChatRules;
  EXPECT_NE(ChatFrom(request, rules)->stored_bytes.find("hidden"), std::string::npos);
  rules.store_mcp_secrets = false;
  const auto chat = ChatFrom(request, rules);
  ASSERT_TRUE(chat.ok());
  EXPECT_EQ(chat->stored_bytes.find("hidden"), std::string::npos);
  EXPECT_EQ(chat->meta_json, R"({"token":"hidden"})") << "in memory";
  EXPECT_EQ(chat->content_hash, ChatFrom(request, kChatRules)->content_hash);
}

TEST(ChatRequestTest, DurationsAreRoundedUpAndBounded) {
  v1::ChatRequest request = Chat();
  request.mutable_turn_timeout()->set_nanos(1'000'001);
  request.mutable_question_timeout()->set_seconds(INT64_MAX);
  const auto chat = ChatFrom(request, kChatRules);
  ASSERT_TRUE(chat.ok());
  EXPECT_EQ(chat->turn_timeout, milliseconds(2));
  EXPECT_EQ(chat->question_timeout, hours(24 * 3660));
}

// A third of the line is what base64 adds.
TEST(ChatRequestTest, APromptHasToFitIntoALine) {
  RequestRules rules = kChatRules;
  rules.max_line = 64u << 10;
  const auto status_of = [&rules](const std::function<void(v1::ChatRequest&)>& change) {
    v1::ChatRequest request = Chat();
    change(request);
    return ChatFrom(request, rules).status();
  };
  const auto image_of = [](size_t bytes) {
    return [bytes](v1::ChatRequest& request) {
      auto* image = request.add_content()->mutable_image();
      image->set_data(std::string(bytes, 'x'));
      image->set_mime_type("image/png");
    };
  };
  EXPECT_TRUE(status_of(image_of(47u << 10)).ok());
  const absl::Status refused = status_of(image_of(48u << 10));
  EXPECT_EQ(session::ReasonOf(refused), "INVALID_REQUEST");
  EXPECT_NE(refused.message().find("resource_link"), absl::string_view::npos) << refused;
  EXPECT_NE(refused.message().find("65536"), absl::string_view::npos) << refused;
  EXPECT_TRUE(status_of([](auto& r) { r.set_prompt(std::string(63u << 10, 'x')); }).ok());
  EXPECT_FALSE(status_of([](auto& r) { r.set_prompt(std::string(64u << 10, 'x')); }).ok());
  EXPECT_FALSE(status_of([](auto& r) { r.set_prompt(std::string(33u << 10, '"')); }).ok());
  EXPECT_FALSE(status_of([](auto& r) { r.set_prompt(std::string(11u << 10, '\x01')); }).ok());
}

// What is counted is never less than what is sent.
TEST(ChatRequestTest, ALineIsNotLongerThanItIsCounted) {
  v1::ChatRequest request = Chat();
  request.set_prompt("quote \" and \\ and \n and \x01 and \u20ac");
  auto* image = request.add_content()->mutable_image();
  image->set_data(std::string(1000, '\xff'));
  image->set_mime_type("image/png");
  image->set_uri("file:///a");
  auto* link = request.add_content()->mutable_resource_link();
  link->set_uri("file:///b");
  link->set_name("b");
  link->set_title("\"b\"");
  link->set_description("d");
  link->set_size(INT64_MAX);
  auto* resource = request.add_content()->mutable_resource();
  resource->set_uri("file:///c");
  resource->set_mime_type("text/plain");
  resource->set_text(std::string(300, '\t'));
  request.add_content()->mutable_resource()->set_blob("xy");
  request.mutable_content(3)->mutable_resource()->set_uri("file:///d");
  const acp::TraceContext trace{std::string(55, '0'), std::string(512, '"'),
                                std::string(8192, '\\')};
  const auto chat = ChatFrom(request, kChatRules, trace);
  ASSERT_TRUE(chat.ok()) << chat.status();
  std::vector<acp::ContentBlock> blocks = chat->content;
  acp::ContentBlock text;
  text.text = chat->prompt;
  blocks.insert(blocks.begin(), text);
  const size_t sent = acp::PromptLine(UINT64_MAX, std::string(256, 's'), blocks, trace).size();
  RequestRules rules = kChatRules;
  rules.max_line = sent - 1;
  EXPECT_FALSE(ChatFrom(request, rules, trace).ok());
  rules.max_line = sent + 4096;
  EXPECT_TRUE(ChatFrom(request, rules, trace).ok()) << "and not much more";
}

}  // namespace
}  // namespace acpd::server
