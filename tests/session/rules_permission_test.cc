#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "session/pack.h"
#include "session/permission.h"

namespace acpd::session {
namespace {

using enum OptionKind;
using Options = std::vector<QuestionOption>;

// The id says the opposite of the kind: only the kind may count.
const QuestionOption kOnce = {"reject", "Allow", kAllowOnce};
const QuestionOption kAlways = {"cancel", "Always", kAllowAlways};
const QuestionOption kNo = {"allow", "No", kRejectOnce};
const QuestionOption kNever = {"proceed_always", "Never", kRejectAlways};
const QuestionOption kOdd = {"odd", "Odd", OptionKind::kUnspecified};

TEST(Permission, KindsAreTheWordsOfAcp) {
  EXPECT_EQ(ParseOptionKind("allow_once"), kAllowOnce);
  EXPECT_EQ(ParseOptionKind("allow_always"), kAllowAlways);
  EXPECT_EQ(ParseOptionKind("reject_once"), kRejectOnce);
  EXPECT_EQ(ParseOptionKind("reject_always"), kRejectAlways);
  EXPECT_EQ(ParseOptionKind("Allow_Once"), OptionKind::kUnspecified);
  EXPECT_EQ(ParseOptionKind(""), OptionKind::kUnspecified);
}

struct PolicyRow {
  const char* name;
  PermissionMode mode;
  Options options;
  std::optional<std::string> chosen;
};

class Policy : public testing::TestWithParam<PolicyRow> {};

TEST_P(Policy, Chooses) {
  EXPECT_EQ(ChooseByPolicy(GetParam().mode, GetParam().options), GetParam().chosen);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Policy,
    testing::Values(
        PolicyRow{"AllowTakesOnceFirst", PermissionMode::kAllow, {kAlways, kNo, kOnce}, "reject"},
        PolicyRow{"AllowElseAlways", PermissionMode::kAllow, {kNo, kAlways}, "cancel"},
        PolicyRow{"AllowNeverRejects", PermissionMode::kAllow, {kNo, kNever, kOdd}, std::nullopt},
        PolicyRow{"DenyTakesOnceFirst", PermissionMode::kDeny, {kNever, kOnce, kNo}, "allow"},
        PolicyRow{"DenyElseAlways", PermissionMode::kDeny, {kOnce, kNever}, "proceed_always"},
        PolicyRow{"DenyNeverAllows", PermissionMode::kDeny, {kOnce, kAlways, kOdd}, std::nullopt},
        PolicyRow{"AskChoosesNothing", PermissionMode::kAsk, {kOnce, kNo}, std::nullopt},
        PolicyRow{"UnsetChoosesNothing", PermissionMode::kUnspecified, {kOnce, kNo}, std::nullopt},
        PolicyRow{"NothingOffered", PermissionMode::kAllow, {}, std::nullopt}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Permission, TimeoutRejectsAndNeverAllows) {
  EXPECT_EQ(ChooseOnTimeout({kOnce, kNever, kNo}), "allow");
  EXPECT_EQ(ChooseOnTimeout({kOnce, kNever}), "proceed_always");
  EXPECT_EQ(ChooseOnTimeout({kOnce, kAlways}), std::nullopt);
  EXPECT_EQ(ChooseOnTimeout({}), std::nullopt);
}

TEST(Permission, ChoosesTheFirstOfAKind) {
  const QuestionOption second = {"second", "", kRejectOnce};
  EXPECT_EQ(ChooseByKind(kRejectOnce, {kOnce, kNo, second}), "allow");
  EXPECT_EQ(ChooseByKind(kRejectAlways, {kOnce, kNo}), std::nullopt);
  EXPECT_EQ(ChooseByKind(OptionKind::kUnspecified, {kOdd}), std::nullopt);
}

TEST(Permission, OfferedIsByExactId) {
  EXPECT_TRUE(IsOffered("odd", {kOnce, kOdd}));
  EXPECT_FALSE(IsOffered("Odd", {kOnce, kOdd}));
  EXPECT_FALSE(IsOffered("", {kOnce}));
}

TEST(Permission, OptionsSurviveTheStore) {
  const Options options = {kOnce, kAlways, kNo, kNever, kOdd, {"", "", kAllowOnce}};
  const Options back = UnpackOptions(PackOptions(options));
  ASSERT_EQ(back.size(), options.size());
  for (size_t i = 0; i < options.size(); ++i) {
    EXPECT_EQ(back[i].option_id, options[i].option_id);
    EXPECT_EQ(back[i].name, options[i].name);
    EXPECT_EQ(back[i].kind, options[i].kind);
  }
  EXPECT_TRUE(UnpackOptions(PackOptions({})).empty());
}

TEST(Permission, BlobsThatAreNoOptionsGiveNone) {
  EXPECT_TRUE(UnpackOptions("junk").empty());
  EXPECT_TRUE(UnpackOptions(Pack({"id", "name"})).empty());
  EXPECT_EQ(UnpackOptions(Pack({"id", "name", "9"})).at(0).kind, OptionKind::kUnspecified);
  EXPECT_EQ(UnpackOptions(Pack({"id", "name", ""})).at(0).kind, OptionKind::kUnspecified);
}

}  // namespace
}  // namespace acpd::session
