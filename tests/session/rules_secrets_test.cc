#include <gtest/gtest.h>

#include "session/secrets.h"

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

}  // namespace
}  // namespace acpd::session
