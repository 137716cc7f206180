#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/errors.h"
#include "session/secrets.h"
#include "session/setup_settings.h"

namespace acpd::session {
namespace {

constexpr size_t kLong = 1000;

TEST(SecretsTest, NamesTellWhichVariablesHoldOne) {
  for (const char* name : {"ANTHROPIC_API_KEY", "key", "GITHUB_TOKEN", "My_Secret_1", "PASSWORDS"})
    EXPECT_TRUE(NamesSecret(name)) << name;
  for (const char* name : {"", "PATH", "KE", "HOME", "TOKE_N"})
    EXPECT_FALSE(NamesSecret(name)) << name;
}

TEST(SecretsTest, EveryPlaceIsHidden) {
  const std::vector<std::string> secrets = {"sk-12345", "another-one"};
  EXPECT_EQ(HideSecrets("sk-12345 and another-onesk-12345!", secrets, kLong), "*** and ******!");
  EXPECT_EQ(HideSecrets("nothing in here", secrets, kLong), "nothing in here");
  EXPECT_EQ(HideSecrets("", secrets, kLong), "");
  EXPECT_EQ(HideSecrets("sk-1234", secrets, kLong), "sk-1234");
}

TEST(SecretsTest, TheLongerOneGoesFirst) {
  EXPECT_EQ(HideSecrets("<sk-12345-long>", {"sk-12345", "sk-12345-long"}, kLong), "<***>");
}

TEST(SecretsTest, ShortOnesStay) {
  EXPECT_EQ(HideSecrets("1234567 12345678", {"1234567", "12345678", ""}, kLong), "1234567 ***");
}

// A key in a file ends with a newline, and one in PEM has many.
TEST(SecretsTest, PiecesAreHiddenAsJsonWritesThem) {
  const std::vector<std::string> secrets = {"line-one-1\nline-two-2\r\nend\n"};
  EXPECT_EQ(HideSecrets(R"({"key":"line-one-1\nline-two-2\r\nend\n"})", secrets, kLong),
            R"({"key":"***\n***\r\nend\n"})");
}

// Wherever the cut is, no part of a secret is left before it.
TEST(SecretsTest, ACutShowsNoPartOfASecret) {
  const std::string secret = "0123456789abcdef", text = "ab" + secret + "cd" + secret + "ef";
  const std::string whole = "ab***cd***ef";
  for (size_t limit = 0; limit <= whole.size() + 1; ++limit) {
    EXPECT_EQ(HideSecrets(text, {secret}, limit), whole.substr(0, limit)) << limit;
  }
  EXPECT_EQ(HideSecrets("a\xc3\xa4"
                        "b",
                        {}, 2),
            "a")
      << "between characters";
}

// ---- What a set-up is given (session/setup_settings.h).

SetupSettings WithValues(const std::string& env, const std::string& header,
                         const std::string& meta) {
  acp::McpServer files, web;
  files.name = "files";
  files.command = "/bin/mcp";
  files.env = {{"TOKEN", env}};
  web.kind = acp::McpServer::Kind::kHttp;
  web.name = "web";
  web.url = "https://example.test/";
  web.headers = {{"Authorization", header}};
  SetupSettings settings;
  settings.mcp_servers = {files, web};
  settings.system_prompt = "Be brief.";
  settings.meta_json = meta;
  return settings;
}

TEST(SetupSecretsTest, AreTheValuesThatNameNoSecretOfTheConfig) {
  EXPECT_FALSE(HoldsSecrets(SetupSettings()));
  EXPECT_FALSE(HoldsSecrets(WithValues("", "", "")));
  EXPECT_FALSE(HoldsSecrets(WithValues("${secret:a}", "${secret:b}", "")));
  EXPECT_TRUE(HoldsSecrets(WithValues("x", "", "")));
  EXPECT_TRUE(HoldsSecrets(WithValues("", "Bearer ${secret:b}", "")));
  EXPECT_TRUE(HoldsSecrets(WithValues("${secret:a}${secret:b}", "", "")));
  EXPECT_TRUE(HoldsSecrets(WithValues("", "", "{}")));
  EXPECT_EQ(SecretsIn(WithValues("one", "${secret:b}", "{}")), std::vector<std::string>{"one"});
}

TEST(SetupSecretsTest, AMarkIsLeftOfEachAndAllElseStays) {
  const SetupSettings given = WithValues("one", "two", R"({"a": "three"})");
  const SetupSettings kept = WithoutSecrets(given);
  EXPECT_FALSE(LacksSecrets(given));
  EXPECT_TRUE(LacksSecrets(kept));
  for (const std::string& value :
       {kept.mcp_servers[0].env[0].second, kept.mcp_servers[1].headers[0].second, kept.meta_json})
    EXPECT_EQ(value,
              "\x1f"
              "acpd: not stored");
  SetupSettings filled = kept;
  filled.mcp_servers[0].env[0].second = "one";
  filled.mcp_servers[1].headers[0].second = "two";
  EXPECT_TRUE(LacksSecrets(filled)) << "its meta";
  filled.meta_json = given.meta_json;
  EXPECT_EQ(filled, given);
}

TEST(SetupSecretsTest, WhereThereIsNothingToHideNothingChanges) {
  const SetupSettings settings = WithValues("${secret:a}", "", "");
  EXPECT_EQ(WithoutSecrets(settings), settings);
  EXPECT_FALSE(LacksSecrets(settings));
}

TEST(SetupSecretsTest, OneThatIsMissingIsNamedAndTheValueIsNot) {
  const std::map<std::string, std::string> secrets = {{"a", "of-the-config"}, {"empty", ""}};
  LaunchContext context;
  context.secrets = &secrets;
  for (const auto& [value, named] : std::vector<std::pair<std::string, std::string>>{
           {"hidden ${secret:a} ${secret:none}", "${secret:none}"},
           {"hidden $${secret:x} $ ${secret:none}", "${secret:none}"},
           {"hidden ${secret:empty}", "${secret:empty}"},
           {"hidden ${secret:no-end", "a value"}}) {
    SCOPED_TRACE(value);
    const absl::Status status = ExpandSettings(WithValues(value, "", ""), context).status();
    EXPECT_EQ(ReasonOf(status), "CREDENTIALS_NEEDED");
    EXPECT_THAT(std::string(status.message()),
                ::testing::HasSubstr("\"files\" wants " + named + " for TOKEN,"));
    EXPECT_THAT(std::string(status.message()), ::testing::Not(::testing::HasSubstr("hidden")));
  }
  const auto expanded = ExpandSettings(WithValues("<${secret:a}>", "$$x", ""), context);
  ASSERT_TRUE(expanded.ok()) << expanded.status();
  EXPECT_EQ(*expanded, WithValues("<of-the-config>", "$x", ""));
}

}  // namespace
}  // namespace acpd::session
