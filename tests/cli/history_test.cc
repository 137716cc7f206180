// acpctl history.

#include "tests/cli/acpctl.h"

namespace acpd::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class HistoryCommandTest : public CliTest {
 protected:
  void SetUp() override { StartDaemon(); }
  // A session whose agent has said these, one chunk each, with a tool call behind the second.
  std::string Talked() {
    const json tool = {{"sessionUpdate", "tool_call"},
                       {"toolCallId", "t"},
                       {"title", "Look around"},
                       {"status", "completed"}};
    const auto chat = Run(0, {"chat", Scripted({{{"update", "one "}},
                                                {{"update", "two"}},
                                                {{"update", tool}},
                                                {{"update", "three "}},
                                                {{"update", "four"}}})});
    return chat->WordAfter("session: ");
  }
  // The texts of the updates, with --json.
  std::vector<std::string> Texts(std::vector<std::string> args) {
    args.insert(args.begin(), {"--json", "history"});
    const auto history = Run(0, args);
    std::vector<std::string> texts;
    for (const std::string& line : LinesOf(history->Out())) {
      const std::string text =
          json::parse(line).value("/session_update/text"_json_pointer, std::string());
      if (!text.empty()) texts.push_back(text);
    }
    return texts;
  }
};

TEST_F(HistoryCommandTest, ShowsWhatWatchShowsWithWholeMessages) {
  const std::string session = Talked();
  const auto history = Run(0, {"history", session});
  EXPECT_EQ(history->Out(), "one two\nthree four\n");
  const auto watch = Run(0, {"watch", "-s", session, "--from-start", "--replay-only"});
  EXPECT_EQ(history->Err(), watch->Err());
  EXPECT_THAT(history->Err(),
              AllOf(HasSubstr("* Look around [completed]\n"), EndsWith(" completed\n")));
}

TEST_F(HistoryCommandTest, WholeMessagesOrPieces) {
  const std::string session = Talked();
  EXPECT_THAT(Texts({session}), ElementsAre("one two", "three four"));
  EXPECT_THAT(Texts({session, "--raw"}), ElementsAre("one ", "two", "three ", "four"));
  EXPECT_EQ(Run(0, {"history", session, "--raw"})->Out(), "one two\nthree four\n");
}

TEST_F(HistoryCommandTest, TheLastOnes) {
  const std::string session = Talked();
  // turn_ended, the second message, the tool call, the first message
  EXPECT_THAT(Texts({session, "--last", "1"}), SizeIs(0));
  EXPECT_THAT(Texts({session, "--last", "3"}), ElementsAre("three four"));
  EXPECT_THAT(Texts({session, "--last", "4"}), ElementsAre("one two", "three four"));
  EXPECT_THAT(Texts({session, "--last", "3", "--raw"}), ElementsAre("three ", "four"));
  EXPECT_THAT(Texts({session, "--last", "1000000"}), ElementsAre("one two", "three four"));
  const auto last = Run(0, {"history", session, "--last", "2"});
  EXPECT_EQ(last->Out(), "three four\n");
  EXPECT_THAT(last->Err(), Not(HasSubstr("Look around")));
}

TEST_F(HistoryCommandTest, Kinds) {
  const std::string session = Talked();
  EXPECT_THAT(Texts({session, "--kind", "tool_call"}), SizeIs(0));
  EXPECT_THAT(Run(0, {"history", session, "--kind", "tool_call"})->Err(),
              HasSubstr("* Look around"));
  EXPECT_THAT(Texts({session, "--kind", "tool_call", "--kind", "agent_message_chunk"}),
              ElementsAre("one two", "three four"));
}

// More than a page either way.
TEST_F(HistoryCommandTest, LongOnes) {
  constexpr int kMessages = 1200, kLast = 1100;
  json steps = json::array();
  std::string all, last;
  for (int i = 0; i < kMessages; ++i) {
    const std::string text = "m" + std::to_string(i);
    const json update = {{"sessionUpdate", "agent_message_chunk"},
                         {"messageId", "id" + std::to_string(i)},
                         {"content", {{"type", "text"}, {"text", text}}}};
    steps.push_back({{"update", update}});
    all += text + "\n";
    // The turn's end is the last event of all.
    if (i > kMessages - kLast) last += text + "\n";
  }
  // More than a command line may have.
  const auto chat = client().Say("default", "", Scripted(steps));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string session = chat.response.session_id();
  EXPECT_EQ(Run(0, {"history", session})->Out(), all);
  EXPECT_EQ(Run(0, {"history", session, "--last", std::to_string(kLast)})->Out(), last);
}

TEST_F(HistoryCommandTest, ExitCodes) {
  EXPECT_THAT(Run(3, {"history", "nobody"})->Err(), HasSubstr("acpctl: SESSION_NOT_FOUND: "));
  EXPECT_THAT(Run(2, {"history", "a/b"})->Err(), HasSubstr("INVALID_SESSION_ID"));
  Run(2, {"history"});
  const std::string session = Talked();
  Run(2, {"history", session, "--last", "0"});
  Run(2, {"history", session, "--last", "many"});
  Run(4, {"--address", "127.0.0.1:1", "history", session});
  AcpctlOptions full;
  full.stdout_file = "/dev/full";
  EXPECT_THAT(Run(5, {"history", session}, full)->Err(),
              HasSubstr("acpctl: the output could not be written\n"));
  EXPECT_THAT(Run(0, {"history", "--help"})->Out(), HasSubstr("--last"));
}

}  // namespace
}  // namespace acpd::cli
