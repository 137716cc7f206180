#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "session/errors.h"
#include "session/launch.h"
#include "session/paths.h"

namespace acpd::session {
namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

const std::map<std::string, std::string> kSecrets = {{"team-a", "key-of-a"}, {"empty", ""}};

LaunchContext Context() {
  LaunchContext context;
  context.project_id = "p1";
  context.cwd = "/work/p1";
  context.model.provider = "anthropic";
  context.model.model = "m-1";
  context.model.api_key = "k-1";
  context.model.base_url = "http://127.0.0.1:1";
  context.model.options = {{"effort", "high"}, {"none", ""}};
  context.secrets = &kSecrets;
  context.daemon_env = {{"PATH", "/bin"}, {"HOME", "/root"}};
  return context;
}

AgentDefinition Agent() {
  AgentDefinition agent;
  agent.name = "a";
  agent.command = "agent";
  return agent;
}

struct TemplateRow {
  const char* name;
  const char* text;
  std::optional<std::string> expanded;
};

class Templates : public testing::TestWithParam<TemplateRow> {};

TEST_P(Templates, Expand) {
  EXPECT_EQ(ExpandTemplate(GetParam().text, Context()), GetParam().expanded);
  EXPECT_TRUE(CheckTemplate(GetParam().text).ok());
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Templates,
    testing::Values(TemplateRow{"Empty", "", ""}, TemplateRow{"Plain", "--acp", "--acp"},
                    TemplateRow{"ProjectId", "${project_id}", "p1"},
                    TemplateRow{"Cwd", "${cwd}", "/work/p1"},
                    TemplateRow{"ApiKey", "${model.api_key}", "k-1"},
                    TemplateRow{"BaseUrl", "${model.base_url}/v1", "http://127.0.0.1:1/v1"},
                    TemplateRow{"Model", "--model=${model.model}", "--model=m-1"},
                    TemplateRow{"Provider", "${model.provider}", "anthropic"},
                    TemplateRow{"Option", "${model.options.effort}", "high"},
                    TemplateRow{"OptionMissing", "x${model.options.other}", std::nullopt},
                    TemplateRow{"OptionEmpty", "${model.options.none}", std::nullopt},
                    TemplateRow{"Secret", "Bearer ${secret:team-a}", "Bearer key-of-a"},
                    TemplateRow{"SecretMissing", "${secret:team-b}", std::nullopt},
                    TemplateRow{"SecretEmpty", "${secret:empty}", std::nullopt},
                    TemplateRow{"Several", "${project_id}-${cwd}${model.model}.",
                                "p1-/work/p1m-1."},
                    TemplateRow{"EscapedDollar", "$${cwd} costs 5$$", "${cwd} costs 5$"},
                    TemplateRow{"ThreeDollars", "$$${project_id}", "$p1"},
                    TemplateRow{"LoneDollar", "$HOME and a$", "$HOME and a$"},
                    TemplateRow{"BraceAlone", "{cwd}}", "{cwd}}"},
                    TemplateRow{"EnvIsReplacedBefore", "${env:HOME}", std::nullopt},
                    TemplateRow{"FileIsReplacedBefore", "${file:/run/key}", std::nullopt}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(TemplateChecks, NameWhatIsUnknown) {
  for (const char* name : {"", "modle.api_key", "model.", "model.options.",
                           "secret:", "env:", "file:", "PROJECT_ID", " cwd", "secret"}) {
    const std::string text = "a${" + std::string(name) + "}b";
    const absl::Status status = CheckTemplate(text);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(ReasonOf(status), "INVALID_REQUEST") << name;
    const std::string named = "${" + std::string(name) + "}";
    EXPECT_EQ(status.message().substr(0, named.size()), named);
    EXPECT_EQ(ExpandTemplate(text, Context()), std::nullopt) << name;
  }
}

TEST(TemplateChecks, UnfinishedNameIsRefused) {
  for (const char* text : {"${cwd", "x${", "${cwd} ${"}) {
    EXPECT_EQ(CheckTemplate(text).code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_EQ(ExpandTemplate(text, Context()), std::nullopt) << text;
  }
  EXPECT_TRUE(CheckTemplate("$${cwd").ok());
}

TEST(Launch, ExpandsCommandAndArgs) {
  AgentDefinition agent = Agent();
  agent.command = "/opt/${model.provider}/agent";
  agent.args = {"--model", "${model.model}", "", "$$x"};
  const auto spec = BuildLaunchSpec(agent, Context(), "w1");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->argv,
            (std::vector<std::string>{"/opt/anthropic/agent", "--model", "m-1", "", "$x"}));
  EXPECT_EQ(spec->cwd, "/work/p1");
  EXPECT_EQ(spec->worker_id, "w1");
}

TEST(Launch, ArgWithoutAValueIsRefusedAndNamed) {
  AgentDefinition agent = Agent();
  agent.args = {"--model=${model.model}"};
  LaunchContext context = Context();
  context.model.model = "";
  const auto spec = BuildLaunchSpec(agent, context, "w1");
  EXPECT_EQ(ReasonOf(spec.status()), "INVALID_REQUEST");
  EXPECT_NE(spec.status().message().find("--model=${model.model}"), absl::string_view::npos);
}

TEST(Launch, EnvironmentIsAShortAllowList) {
  const std::vector<std::string> allowed = {"PATH",
                                            "HOME",
                                            "USER",
                                            "SHELL",
                                            "LANG",
                                            "LC_ALL",
                                            "LC_",
                                            "TZ",
                                            "TERM",
                                            "TMPDIR",
                                            "XDG_STATE_HOME",
                                            "XDG_",
                                            "HTTP_PROXY",
                                            "HTTPS_PROXY",
                                            "ALL_PROXY",
                                            "NO_PROXY",
                                            "http_proxy",
                                            "https_proxy",
                                            "all_proxy",
                                            "no_proxy",
                                            "SSL_CERT_FILE",
                                            "SSL_CERT_DIR",
                                            "NODE_EXTRA_CA_CERTS",
                                            "REQUESTS_CA_BUNDLE",
                                            "CURL_CA_BUNDLE",
                                            "GIT_SSL_CAINFO"};
  LaunchContext context = Context();
  context.daemon_env.clear();
  Environment expected;
  for (const std::string& name : allowed) {
    context.daemon_env.emplace_back(name, "v");
    expected.emplace_back(name, "v");
  }
  expected.emplace_back("ACPD_WORKER_ID", "w1");
  for (const char* name : {"ANTHROPIC_API_KEY", "LC", "XDG", "PATHS", "MYPATH", "home",
                           "LD_PRELOAD", "DATABASE_URL", "ACPD_ADDRESS", "ACPD_WORKER_ID"}) {
    context.daemon_env.emplace_back(name, "secret");
  }
  const auto spec = BuildLaunchSpec(Agent(), context, "w1");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->env, expected);
}

TEST(Launch, InheritsWhatTheAgentAsksFor) {
  AgentDefinition agent = Agent();
  agent.inherit_env = {"FAKE_API_KEY", "OPENCODE_*", "NOT_SET"};
  LaunchContext context = Context();
  context.daemon_env = {
      {"PATH", "/bin"}, {"FAKE_API_KEY", "k"}, {"OPENCODE_X", "1"}, {"OTHER", "2"}};
  const auto spec = BuildLaunchSpec(agent, context, "w1");
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(
      spec->env,
      (Environment{
          {"PATH", "/bin"}, {"FAKE_API_KEY", "k"}, {"OPENCODE_X", "1"}, {"ACPD_WORKER_ID", "w1"}}));
}

TEST(Launch, EnvReplacesAndLeavesOutWhatHasNoValue) {
  AgentDefinition agent = Agent();
  agent.inherit_env = {"ANTHROPIC_API_KEY"};
  agent.env = {{"HOME", "/home/${project_id}"},
               {"ANTHROPIC_API_KEY", "${model.api_key}"},
               {"BASE", "${model.base_url}"},
               {"EMPTY", ""},
               {"ACPD_WORKER_ID", "forged"}};
  LaunchContext context = Context();
  context.daemon_env.emplace_back("ANTHROPIC_API_KEY", "inherited");
  context.model.base_url = "";
  context.model.api_key = "";
  auto spec = BuildLaunchSpec(agent, context, "w1");
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->env, (Environment{{"PATH", "/bin"},
                                    {"HOME", "/home/p1"},
                                    {"ANTHROPIC_API_KEY", "inherited"},
                                    {"EMPTY", ""},
                                    {"ACPD_WORKER_ID", "w1"}}));
  context.model.api_key = "sent";
  spec = BuildLaunchSpec(agent, context, "w1");
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->env[2], (std::pair<std::string, std::string>{"ANTHROPIC_API_KEY", "sent"}));
}

TEST(Launch, PathIsThereAlways) {
  const std::string standard(kDefaultPath);
  LaunchContext context = Context();
  for (const Environment& daemon : {Environment{}, Environment{{"PATH", ""}}}) {
    context.daemon_env = daemon;
    const auto spec = BuildLaunchSpec(Agent(), context, "w1");
    ASSERT_TRUE(spec.ok());
    EXPECT_EQ(spec->env, (Environment{{"PATH", standard}, {"ACPD_WORKER_ID", "w1"}}));
  }
  AgentDefinition agent = Agent();
  agent.env = {{"PATH", "/opt/bin"}};
  const auto spec = BuildLaunchSpec(agent, context, "w1");
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->env, (Environment{{"PATH", "/opt/bin"}, {"ACPD_WORKER_ID", "w1"}}));
}

std::string KeyGiven(const LaunchContext& context) {
  AgentDefinition agent = Agent();
  agent.env = {{"KEY", "${model.api_key}"}};
  const auto spec = BuildLaunchSpec(agent, context, "w1");
  if (!spec.ok()) return ReasonOf(spec.status());
  const auto found = std::find_if(spec->env.begin(), spec->env.end(),
                                  [](const auto& pair) { return pair.first == "KEY"; });
  return found == spec->env.end() ? "none" : found->second;
}

TEST(Launch, KeyByReference) {
  LaunchContext context = Context();
  EXPECT_EQ(KeyGiven(context), "k-1");
  context.model.api_key_ref = "team-a";
  EXPECT_EQ(KeyGiven(context), "k-1") << "the key that was sent goes first";
  context.model.api_key = "";
  EXPECT_EQ(KeyGiven(context), "key-of-a");
  context.model.api_key_ref = "team-b";
  EXPECT_EQ(KeyGiven(context), "CREDENTIALS_NEEDED");
  context.model.api_key_ref = "empty";
  EXPECT_EQ(KeyGiven(context), "CREDENTIALS_NEEDED");
  context.model.api_key_ref = "team-a";
  context.secrets = nullptr;
  EXPECT_EQ(KeyGiven(context), "CREDENTIALS_NEEDED");
  context.model.api_key_ref = "";
  EXPECT_EQ(KeyGiven(context), "none");
}

TEST(Launch, NulByteIsRefused) {
  LaunchContext context = Context();
  context.model.api_key = std::string("k\0x", 3);
  EXPECT_EQ(KeyGiven(context), "INVALID_REQUEST");
  AgentDefinition agent = Agent();
  agent.args = {"${model.api_key}"};
  EXPECT_EQ(ReasonOf(BuildLaunchSpec(agent, context, "w1").status()), "INVALID_REQUEST");
}

TEST(LaunchFingerprints, ChangeWithEachPart) {
  const AgentDefinition agent = Agent();
  const LaunchContext context = Context();
  const std::string same = LaunchFingerprint(agent, context, "key");
  EXPECT_EQ(LaunchFingerprint(agent, context, "key"), same);
  EXPECT_NE(LaunchFingerprint(agent, context, "key2"), same);

  std::vector<AgentDefinition> agents(4, agent);
  agents[0].command = "other";
  agents[1].args = {"x"};
  agents[2].env = {{"x", "y"}};
  agents[3].inherit_env = {"x"};
  for (const AgentDefinition& other : agents) {
    EXPECT_NE(LaunchFingerprint(other, context, "key"), same);
  }
  std::vector<LaunchContext> contexts(7, context);
  contexts[0].cwd = "/elsewhere";
  contexts[1].model.provider = "openai";
  contexts[2].model.model = "m-2";
  contexts[3].model.api_key = "k-2";
  contexts[4].model.base_url = "";
  contexts[5].model.options["effort"] = "low";
  contexts[6].model.api_key_ref = "team-a";
  for (const LaunchContext& other : contexts) {
    EXPECT_NE(LaunchFingerprint(agent, other, "key"), same);
  }
}

TEST(LaunchFingerprints, DoNotChangeWithTheRest) {
  const std::string same = LaunchFingerprint(Agent(), Context(), "key");
  AgentDefinition agent = Agent();
  agent.idle_timeout = seconds(1);
  agent.permission_mode = PermissionMode::kDeny;
  LaunchContext context = Context();
  context.daemon_env.emplace_back("X", "y");
  EXPECT_EQ(LaunchFingerprint(agent, context, "key"), same);
}

TEST(LaunchFingerprints, KeepThePartsApart) {
  AgentDefinition one = Agent(), two = Agent();
  one.args = {"ab", "c"};
  two.args = {"a", "bc"};
  EXPECT_NE(LaunchFingerprint(one, Context(), "key"), LaunchFingerprint(two, Context(), "key"));
}

TEST(LaunchFingerprints, SeeASecretThatWasChanged) {
  std::map<std::string, std::string> secrets = {{"team-a", "old"}};
  LaunchContext context = Context();
  context.model.api_key = "";
  context.model.api_key_ref = "team-a";
  context.secrets = &secrets;
  const std::string before = LaunchFingerprint(Agent(), context, "key");
  secrets["team-a"] = "new";
  EXPECT_NE(LaunchFingerprint(Agent(), context, "key"), before);
  secrets.clear();
  EXPECT_FALSE(LaunchFingerprint(Agent(), context, "key").empty());
}

TEST(DaemonEnv, IsTheProcesss) {
  ASSERT_EQ(::setenv("ACPD_RULES_TEST", "a=b", 1), 0);
  const Environment env = DaemonEnvironment();
  EXPECT_EQ(std::count(env.begin(), env.end(),
                       std::pair<std::string, std::string>("ACPD_RULES_TEST", "a=b")),
            1);
  ::unsetenv("ACPD_RULES_TEST");
}

}  // namespace
}  // namespace acpd::session
