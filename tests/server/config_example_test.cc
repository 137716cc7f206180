// deploy/acpd.example.json promises every key there is and, where it has one, its default: it is
// held against the tables of keys.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <type_traits>

#include "absl/strings/str_split.h"
#include "server/config_keys.h"
#include "server/config_reader.h"
#include "server/config_values.h"
#include "tests/e2e/harness/temp_dir.h"

namespace acpd::server {
namespace {

constexpr char kExample[] = ACPD_SOURCE_DIR "/deploy/acpd.example.json";

using Names = std::set<std::string>;

void AddNames(const JsonNode* object, Names* names) {
  ASSERT_NE(object, nullptr);
  for (const JsonNode& item : object->items) names->insert(item.key);
}

template <class T>
Names NamesOf(const std::vector<Key<T>>& keys) {
  Names names;
  for (const Key<T>& key : keys) names.insert(std::string(key.name));
  return names;
}

// The keys of the table that are numbers or durations have the value that they have without a file.
template <class T>
void ExpectDefaults(const std::vector<Key<T>>& keys, const T& example, const T& defaults) {
  for (const Key<T>& key : keys) {
    std::visit(
        [&](auto target) {
          using Value = std::remove_pointer_t<decltype(target)>;
          if constexpr (std::is_same_v<Value, size_t T::*> ||
                        std::is_same_v<Value, std::chrono::milliseconds T::*>) {
            EXPECT_EQ(example.*target, defaults.*target) << key.name;
          }
        },
        key.target);
  }
}

TEST(ConfigExampleTest, HasEveryKey) {
  const absl::StatusOr<JsonNode> root = ParseJsonWithLines(e2e::ReadFile(kExample));
  ASSERT_TRUE(root.ok()) << root.status();
  Names top, shutdown, log, limits, retention, agent, capabilities;
  AddNames(&*root, &top);
  AddNames(root->Find("shutdown"), &shutdown);
  AddNames(root->Find("log"), &log);
  AddNames(root->Find("limits"), &limits);
  AddNames(root->Find("retention"), &retention);
  for (const JsonNode& item : root->Find("agent_servers")->items) {
    AddNames(&item, &agent);
    if (item.Find("capabilities") != nullptr) AddNames(item.Find("capabilities"), &capabilities);
  }
  EXPECT_EQ(top, NamesOf(TopKeys()));
  EXPECT_EQ(shutdown, NamesOf(ShutdownKeys()));
  EXPECT_EQ(log, NamesOf(LogKeys()));
  EXPECT_EQ(limits, NamesOf(LimitsKeys()));
  EXPECT_EQ(retention, NamesOf(RetentionKeys()));
  EXPECT_EQ(agent, NamesOf(AgentKeys()));
  EXPECT_EQ(capabilities, NamesOf(CapabilityKeys()));
}

// A key that stands there several times is explained once.
TEST(ConfigExampleTest, ExplainsEveryKey) {
  const std::string text = e2e::ReadFile(kExample);
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  const absl::StatusOr<JsonNode> root = ParseJsonWithLines(text);
  ASSERT_TRUE(root.ok()) << root.status();
  Names all, explained;
  const std::function<void(const JsonNode&, const std::string&)> look =
      [&](const JsonNode& object, const std::string& path) {
        for (const JsonNode& item : object.items) {
          const bool is_agent = path == "agent_servers";
          const std::string name = is_agent ? "agent" : Join(path, item.key);
          all.insert(name);
          const std::string_view before = lines[item.key_line - 2];
          const size_t begin = before.find_first_not_of(' ');
          const bool has_comment = begin != before.npos && before.substr(begin, 2) == "//";
          if (has_comment || is_agent) explained.insert(name);
          const bool has_keys = item.kind == JsonNode::Kind::kObject && item.key != "env";
          if (has_keys) look(item, name);
        }
      };
  look(*root, "");
  EXPECT_EQ(explained, all);
}

TEST(ConfigExampleTest, HasTheDefaults) {
  DaemonConfig config;
  ASSERT_TRUE(ReadConfigFile(kExample, &config).ok());
  ExpectDefaults(LimitsKeys(), config.limits, session::Limits());
  ExpectDefaults(RetentionKeys(), config.retention, session::Retention());
  ExpectDefaults(ShutdownKeys(), config, DaemonConfig());
  EXPECT_EQ(config.shutdown_workers, DaemonConfig().shutdown_workers);
  EXPECT_EQ(config.log_level, DaemonConfig().log_level);
  const session::AgentDefinition* demo = config.Find("demo");
  ASSERT_NE(demo, nullptr);
  ExpectDefaults(AgentKeys(), *demo, session::AgentDefinition());
  EXPECT_EQ(demo->permission_mode, session::AgentDefinition().permission_mode);
  EXPECT_EQ(demo->capabilities, session::AgentCapabilities());
  EXPECT_EQ(demo->permission_rules, session::AgentDefinition().permission_rules);
  EXPECT_EQ(demo->loads_in_later_minute, session::AgentDefinition().loads_in_later_minute);
  EXPECT_EQ(demo->auth_by_variable, session::AgentDefinition().auth_by_variable);
  EXPECT_EQ(demo->config_options, session::AgentDefinition().config_options);
  EXPECT_EQ(config.store_mcp_secrets, session::Config().store_mcp_secrets);
  EXPECT_EQ(demo->projects_root, config.projects_root);
}

}  // namespace
}  // namespace acpd::server
