// --json: one JSON object a line, with the API's field names, and nothing else on stdout.

#include "tests/cli/acpctl.h"

namespace acpd::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class JsonTest : public CliTest {
 protected:
  void SetUp() override { StartDaemon(); }
  std::vector<json> ObjectsOf(const Acpctl& acpctl) {
    std::vector<json> objects;
    for (const std::string& line : LinesOf(acpctl.Out())) {
      objects.push_back(json::parse(line, nullptr, false));
      EXPECT_TRUE(objects.back().is_object()) << line;
    }
    return objects;
  }
  // Of a command that succeeds.
  std::vector<json> Objects(std::vector<std::string> args) {
    args.insert(args.begin(), "--json");
    const auto acpctl = Run(0, std::move(args));
    EXPECT_EQ(acpctl->Err(), "");
    return ObjectsOf(*acpctl);
  }
  std::string NewSession() {
    return Objects({"chat", "-a", "demo", "hello"})[0]["chat_accepted"]["response"]["session_id"];
  }
};

TEST_F(JsonTest, Chat) {
  const std::vector<json> events = Objects({"chat", "-a", "demo", "two\nlines"});
  EXPECT_EQ(events.front()["chat_accepted"]["response"]["project_id"], "default");
  EXPECT_EQ(events.back()["turn_ended"]["result"]["outcome"], "OUTCOME_COMPLETED");
  std::string text;
  for (const json& event : events) text += event.value("/session_update/text"_json_pointer, "");
  EXPECT_EQ(text, "two\nlines");
}

TEST_F(JsonTest, ChatThatAsks) {
  const auto chat = Start({"--json", "chat", AskingPrompt()});
  ASSERT_TRUE(chat->WaitForOut("\"permission_requested\"")) << chat->Err();
  for (const json& event : ObjectsOf(*chat)) {
    if (!event.contains("permission_requested")) continue;
    const auto answers = Objects(
        {"respond", event["session_id"], event["permission_requested"]["question_id"], "yes"});
    ASSERT_THAT(answers, SizeIs(1));
    EXPECT_EQ(answers[0]["resolved"]["option_id"], "yes");
  }
  EXPECT_EQ(chat->Wait(), Exited(0));
  EXPECT_EQ(chat->Err(), "");
  EXPECT_EQ(ObjectsOf(*chat).back()["turn_ended"]["result"]["outcome"], "OUTCOME_COMPLETED");
}

TEST_F(JsonTest, Watch) {
  const std::string session = NewSession();
  const auto events = Objects({"watch", "-s", session, "--from-start", "--replay-only"});
  EXPECT_TRUE(events.front().contains("subscription_started"));
  EXPECT_TRUE(events.back().contains("caught_up"));
  EXPECT_GT(events.size(), 5u);
}

TEST_F(JsonTest, Cancel) {
  const auto nothing = Objects({"cancel", "--all"});
  ASSERT_THAT(nothing, SizeIs(1));
  EXPECT_EQ(nothing[0]["outcome"], "OUTCOME_NOTHING_RUNNING");
  const auto chat = Start({"chat", "-a", "demo", "SLOW 9000 20"});
  ASSERT_TRUE(chat->WaitForOut("chunk 1 ")) << chat->Err();
  const std::string turn_id = chat->WordAfter("turn: ");
  const auto cancelled = Objects({"cancel", "-t", turn_id});
  ASSERT_THAT(cancelled, SizeIs(1));
  EXPECT_EQ(cancelled[0]["turns"][0]["turn_id"], turn_id);
  EXPECT_EQ(chat->Wait(), Exited(130));
}

TEST_F(JsonTest, Sessions) {
  const std::string first = NewSession(), second = NewSession();
  std::vector<std::string> ids;
  for (const json& session : Objects({"sessions"})) ids.push_back(session["session_id"]);
  EXPECT_THAT(ids, ElementsAre(second, first));
}

TEST_F(JsonTest, CloseAndDelete) {
  const std::string session = NewSession();
  const auto closed = Objects({"close", session});
  ASSERT_THAT(closed, SizeIs(1));
  EXPECT_EQ(closed[0]["state"], "STATE_DORMANT");
  EXPECT_THAT(Objects({"delete", session}), ElementsAre(json::object()));
  EXPECT_THAT(Objects({"sessions"}), SizeIs(0));
}

TEST_F(JsonTest, Agents) {
  std::vector<std::string> names;
  for (const json& agent : Objects({"agents"})) names.push_back(agent["name"]);
  EXPECT_THAT(names, testing::IsSupersetOf({"demo", "fake"}));
  const auto probed = Objects({"agents", "--probe", "demo"});
  ASSERT_THAT(probed, SizeIs(1));
  EXPECT_EQ(probed[0]["available"], true);
}

// Errors are no output.
TEST_F(JsonTest, Errors) {
  const auto refused = Run(3, {"--json", "close", "nobody"});
  EXPECT_EQ(refused->Out(), "");
  EXPECT_THAT(refused->Err(), HasSubstr("SESSION_NOT_FOUND"));
}

}  // namespace
}  // namespace acpd::cli
