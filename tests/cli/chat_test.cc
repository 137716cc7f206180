// acpctl chat: what goes where, and what the agent gets.

#include <ostream>

#include "tests/cli/acpctl.h"

namespace acpd::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ChatCommandTest : public CliTest {
 protected:
  void SetUp() override { StartDaemon(); }
};

TEST_F(ChatCommandTest, TextGoesToStdoutAndEverythingElseToStderr) {
  const auto chat = Run(0, {"chat", "-p", "shop", "-a", "demo", "--permissions", "allow", "ASK"});
  EXPECT_EQ(chat->Out(), "Chosen: allow_once\n");
  EXPECT_THAT(chat->Err(),
              AllOf(HasSubstr("* new session\n"), HasSubstr("* plan: 0/2 steps done; now: Ask for"),
                    HasSubstr("* Touch nothing at all [pending]\n"),
                    HasSubstr("? Touch nothing at all (question "), HasSubstr("* completed\n")));
  const api::Turn turn = TurnOf(*chat);
  EXPECT_EQ(turn.project_id(), "shop");
  EXPECT_EQ(turn.session_id(), chat->WordAfter("session: "));
}

TEST_F(ChatCommandTest, ASessionGoesOn) {
  const auto first = Run(0, {"chat", "-a", "demo", "remember the number 42"});
  const auto second =
      Run(0, {"chat", "-s", first->WordAfter("session: "), "what number did I say?"});
  EXPECT_EQ(second->Out(), "42\n");
}

// The session's running turn is not this chat's.
TEST_F(ChatCommandTest, TextOfAnEarlierTurnIsNotShown) {
  const auto first = Start({"chat", Scripted({{{"update", "first"}}, {{"barrier", "b"}}})});
  ASSERT_TRUE(barriers().WaitReached("b"));
  const auto second = Start({"chat", "-s", first->WordAfter("session: "),
                             Scripted(json::array({{{"update", "second"}}}))});
  ASSERT_TRUE(second->WaitForErr("* queued behind 1 turn(s)\n")) << second->Err();
  barriers().Release("b");
  EXPECT_EQ(first->Wait(), Exited(0));
  EXPECT_EQ(second->Wait(), Exited(0));
  EXPECT_EQ(first->Out(), "first\n");
  EXPECT_EQ(second->Out(), "second\n");
  EXPECT_THAT(LinesOf(second->Err()), testing::Contains("* completed").Times(1));
}

TEST_F(ChatCommandTest, NoProxyIsUsed) {
  AcpctlOptions options;
  for (const char* name : {"grpc_proxy", "https_proxy", "http_proxy"}) {
    options.env[name] = "http://127.0.0.1:1";
  }
  options.env["no_proxy"] = options.env["no_grpc_proxy"] = "elsewhere.invalid";
  const auto chat = Run(0, {"chat", "-a", "demo", "hello"}, options);
  EXPECT_EQ(chat->Out(), "hello\n");
}

struct PromptRow {
  const char* name;
  std::vector<std::string> words;
  std::string prompt;
};

void PrintTo(const PromptRow& row, std::ostream* out) { *out << row.name; }

class PromptTest : public ChatCommandTest, public ::testing::WithParamInterface<PromptRow> {};

INSTANTIATE_TEST_SUITE_P(
    Words, PromptTest,
    ::testing::Values(PromptRow{"AList", {"[a,b]"}, "[a,b]"},
                      PromptRow{"AListOfStrings", {R"(["x", "y"])"}, R"(["x", "y"])"},
                      PromptRow{"AnEmptyList", {"[]"}, "[]"},
                      PromptRow{"AnEmptyObject", {"{}"}, "{}"}, PromptRow{"Marks", {"%%"}, "%%"},
                      PromptRow{"AListAmongWords", {"sort", "[b,a]", "now"}, "sort [b,a] now"},
                      PromptRow{"ACommandsName", {"sessions", "watch"}, "sessions watch"},
                      PromptRow{"ManyLines", {"a\n\n  b\n"}, "a\n\n  b\n"},
                      PromptRow{"WhatLooksLikeAnOption", {"--", "--json", "-x"}, "--json -x"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(PromptTest, IsTakenVerbatim) {
  std::vector<std::string> args = {"chat", "-a", "demo"};
  args.insert(args.end(), GetParam().words.begin(), GetParam().words.end());
  const auto chat = Run(0, args);
  EXPECT_EQ(TurnOf(*chat).prompt(), GetParam().prompt);
}

}  // namespace
}  // namespace acpd::cli
