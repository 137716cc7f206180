// Who decides about a permission before a person is asked.

#include <gtest/gtest.h>

#include "session/permission_rules.h"

namespace acpd::session {
namespace {

using Mode = PermissionMode;

PermissionSubject EditOf(std::vector<std::string> paths) {
  PermissionSubject subject;
  subject.tool_kind = "edit";
  subject.title = "Edit it";
  subject.paths = std::move(paths);
  subject.cwd = "/srv/shop";
  return subject;
}

TEST(PermissionRules, TheFirstThatMatchesDecides) {
  const std::vector<PermissionRule> rules = {{"edit", "", "/srv/shop/locked/*", Mode::kDeny},
                                             {"edit", "", "", Mode::kAllow},
                                             {"", "Run *", "", Mode::kAsk}};
  EXPECT_EQ(DecideByRules(rules, EditOf({"locked/a"})), Mode::kDeny);
  EXPECT_EQ(DecideByRules(rules, EditOf({"open/a"})), Mode::kAllow);
  PermissionSubject run;
  run.title = "Run make";
  EXPECT_EQ(DecideByRules(rules, run), Mode::kAsk);
  run.title = "Walk";
  run.tool_kind = "read";
  EXPECT_EQ(DecideByRules(rules, run), std::nullopt);
}

TEST(PermissionRules, AllowWantsEveryFileAndDenyAny) {
  const std::vector<PermissionRule> allow = {{"", "", "src/*", Mode::kAllow}};
  EXPECT_EQ(DecideByRules(allow, EditOf({"src/a", "/srv/shop/src/b/c"})), Mode::kAllow);
  EXPECT_EQ(DecideByRules(allow, EditOf({"src/a", "etc/b"})), std::nullopt);
  EXPECT_EQ(DecideByRules(allow, EditOf({})), std::nullopt);
  const std::vector<PermissionRule> deny = {{"", "", "src/*", Mode::kDeny}};
  EXPECT_EQ(DecideByRules(deny, EditOf({"etc/b", "src/a"})), Mode::kDeny);
}

TEST(PermissionRules, APathInDisguiseIsThePathItLeadsTo) {
  const std::vector<PermissionRule> allow = {{"", "", "src/*", Mode::kAllow}};
  for (const char* path : {"src/../secret", "/srv/shop/src/../../x", "src", "/src/a"}) {
    EXPECT_EQ(DecideByRules(allow, EditOf({path})), std::nullopt) << path;
  }
  EXPECT_EQ(DecideByRules(allow, EditOf({"./x/..//src/./a"})), Mode::kAllow);
}

TEST(PermissionRules, TheStricterOfTurnAndRulesCounts) {
  const struct {
    Mode turn;
    std::optional<Mode> rule, remembered;
    Mode agent, decided;
  } rows[] = {
      {Mode::kDeny, Mode::kAllow, Mode::kAllow, Mode::kAllow, Mode::kDeny},
      {Mode::kAllow, Mode::kDeny, Mode::kAllow, Mode::kAllow, Mode::kDeny},
      {Mode::kAllow, Mode::kAsk, Mode::kAllow, Mode::kAllow, Mode::kAsk},
      {Mode::kAsk, Mode::kAllow, std::nullopt, Mode::kDeny, Mode::kAllow},
      {Mode::kAllow, std::nullopt, Mode::kDeny, Mode::kDeny, Mode::kAllow},
      {Mode::kAsk, std::nullopt, Mode::kAllow, Mode::kAsk, Mode::kAllow},
      {Mode::kAsk, std::nullopt, Mode::kDeny, Mode::kAllow, Mode::kDeny},
      {Mode::kAsk, std::nullopt, std::nullopt, Mode::kAllow, Mode::kAsk},
      {Mode::kUnspecified, std::nullopt, std::nullopt, Mode::kAllow, Mode::kAllow},
      {Mode::kUnspecified, std::nullopt, std::nullopt, Mode::kAsk, Mode::kAsk},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(DecidePermission(row.turn, row.rule, row.remembered, row.agent), row.decided)
        << &row - rows;
  }
}

TEST(PermissionMemory, KnowsExactlyWhatItSaw) {
  PermissionSubject make;
  make.tool_kind = "execute";
  make.title = "bash";
  make.raw_input = R"({"command":"make"})";
  PermissionMemory memory;
  EXPECT_FALSE(memory.Remember(PermissionMemory::KeyOf(make), OptionKind::kAllowOnce));
  EXPECT_TRUE(memory.Remember(PermissionMemory::KeyOf(make), OptionKind::kAllowAlways));
  memory = PermissionMemory(memory.Packed());
  EXPECT_EQ(memory.Find(make), Mode::kAllow);
  PermissionSubject other = make;
  other.raw_input = R"({"command":"make clean"})";
  EXPECT_EQ(memory.Find(other), std::nullopt);
  EXPECT_TRUE(memory.Remember(PermissionMemory::KeyOf(make), OptionKind::kRejectAlways));
  EXPECT_EQ(memory.Find(make), Mode::kDeny);
  other.raw_input = std::string(8 << 10, 'x');
  EXPECT_EQ(PermissionMemory::KeyOf(other), "");
  make.title.clear();
  EXPECT_EQ(PermissionMemory::KeyOf(make), "");
  EXPECT_EQ(memory.Find(make), std::nullopt);
}

TEST(PermissionMemory, AnEditsInputIsAnotherOneEachTime) {
  PermissionSubject edit = EditOf({"a.txt"});
  edit.raw_input = "{\"new\":\"1\"}";
  PermissionMemory memory;
  memory.Remember(PermissionMemory::KeyOf(edit), OptionKind::kAllowAlways);
  edit.raw_input = "{\"new\":\"2\"}";
  EXPECT_EQ(memory.Find(edit), Mode::kAllow);
  edit.paths = {"b.txt"};
  EXPECT_EQ(memory.Find(edit), std::nullopt);
  edit.paths.clear();
  edit.raw_input = "{\"url\":\"1\"}";
  memory.Remember(PermissionMemory::KeyOf(edit), OptionKind::kAllowAlways);
  edit.raw_input = "{\"url\":\"2\"}";
  EXPECT_EQ(memory.Find(edit), std::nullopt) << "without files only the input tells them apart";
}

TEST(PermissionMemory, KeepsTheNewest256) {
  PermissionMemory memory;
  for (int i = 0; i < 257; ++i)
    memory.Remember("key-" + std::to_string(i), OptionKind::kAllowAlways);
  EXPECT_FALSE(PermissionMemory(memory.Packed()).Remember("", OptionKind::kAllowAlways));
  EXPECT_EQ(memory.Packed().find("key-0"), std::string::npos);
  EXPECT_NE(memory.Packed().find("key-256"), std::string::npos);
}

TEST(PermissionMemory, WhatCannotBeReadIsNothing) {
  EXPECT_EQ(PermissionMemory("\x01\x02garbage").Packed(), "");
}

}  // namespace
}  // namespace acpd::session
