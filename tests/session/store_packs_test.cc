#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/pack.h"
#include "session/setting_packs.h"
#include "tests/session/store_samples.h"

namespace acpd::session {
namespace {

TEST(SettingPacks, SettingsComeBackAsTheyWere) {
  EXPECT_EQ(UnpackSetup(PackSetup(SomeSetup())), SomeSetup());
  EXPECT_EQ(UnpackConfigOptions(PackConfigOptions(SomeOptions())), SomeOptions());
  EXPECT_EQ(UnpackOptionValues(PackOptionValues(SomeOptionValues())), SomeOptionValues());
  const auto modes = UnpackModes(PackModes(SomeSession().modes));
  ASSERT_TRUE(modes);
  EXPECT_EQ(WordsOf(*modes), WordsOf(SomeSession().modes));
}

TEST(SettingPacks, NothingIsAnEmptyBlob) {
  EXPECT_EQ(PackSetup({}), "");
  EXPECT_EQ(PackConfigOptions({}), "");
  EXPECT_EQ(PackOptionValues({}), "");
  EXPECT_EQ(PackModes({}), "");
  EXPECT_EQ(UnpackSetup(""), SetupSettings());
  EXPECT_EQ(UnpackConfigOptions(""), std::vector<acp::ConfigOption>());
  EXPECT_EQ(UnpackOptionValues(""), std::vector<acp::OptionValue>());
  ASSERT_TRUE(UnpackModes(""));
  EXPECT_TRUE(UnpackModes("")->empty());
}

// A value whose fields are all empty is one nevertheless.
TEST(SettingPacks, EmptyValuesAreCounted) {
  SetupSettings setup;
  setup.mcp_servers = {acp::McpServer(), acp::McpServer()};
  setup.additional_directories = {""};
  EXPECT_EQ(UnpackSetup(PackSetup(setup)), setup);
  const std::vector<acp::ConfigOption> options = {acp::ConfigOption()};
  EXPECT_EQ(UnpackConfigOptions(PackConfigOptions(options)), options);
  const std::vector<acp::OptionValue> values = {acp::OptionValue()};
  EXPECT_EQ(UnpackOptionValues(PackOptionValues(values)), values);
}

TEST(SettingPacks, EveryBlobCutShortIsMalformed) {
  const std::string setup = PackSetup(SomeSetup());
  for (size_t size = 1; size < setup.size(); ++size) {
    EXPECT_FALSE(UnpackSetup(setup.substr(0, size))) << size;
  }
  const std::string option = PackConfigOptions({SomeOptions()[0]});
  for (size_t size = 1; size < option.size(); ++size) {
    EXPECT_FALSE(UnpackConfigOptions(option.substr(0, size))) << size;
  }
  const std::string value = PackOptionValues({SomeOptionValues()[0]});
  for (size_t size = 1; size < value.size(); ++size) {
    EXPECT_FALSE(UnpackOptionValues(value.substr(0, size))) << size;
  }
}

TEST(SettingPacks, WhatIsOfAnotherShapeIsMalformed) {
  EXPECT_FALSE(UnpackSetup(Pack({"", "", ""})));                    // too few
  EXPECT_FALSE(UnpackSetup(Pack({"", "", "", "", ""})));            // too many
  EXPECT_FALSE(UnpackSetup(Pack({Pack({"x"}), "", "", ""})));       // no server
  EXPECT_FALSE(UnpackConfigOptions(Pack({Pack({"id", "name"})})));  // no option
  EXPECT_FALSE(UnpackOptionValues(Pack({Pack({"id", "1", "", "", ""})})));
  EXPECT_FALSE(UnpackModes(Pack({"id", "name"})));
  EXPECT_FALSE(UnpackModes(Pack({"id", "name", "does", "id"})));
  const auto server = [](std::string kind, std::string env) {
    return Pack(
        {Pack({Pack({std::move(kind), "n", "c", "", std::move(env), "", ""})}), "", "", ""});
  };
  EXPECT_TRUE(UnpackSetup(server("2", "")));
  EXPECT_FALSE(UnpackSetup(server("3", "")));           // no kind
  EXPECT_FALSE(UnpackSetup(server("2", Pack({"A"}))));  // a name without value
}

}  // namespace
}  // namespace acpd::session
