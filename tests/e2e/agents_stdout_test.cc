// What agents write on stdout beside the protocol, and how they end it.

#include "tests/e2e/agents_support.h"

namespace acpd::e2e {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kNoise[] = "STDOUT_NOISE";
constexpr size_t kNoiseLimit = 1000;  // so many lines in a row end the worker

struct NoiseCase {
  const char* name;
  std::string line;  // without its end
};

std::ostream& operator<<(std::ostream& out, const NoiseCase& noise) { return out << noise.name; }

class NoiseTest : public E2eTest, public ::testing::WithParamInterface<NoiseCase> {};

INSTANTIATE_TEST_SUITE_P(
    Lines, NoiseTest,
    ::testing::Values(NoiseCase{"ABanner", "Loaded cached credentials."},
                      NoiseCase{"ColouredText", "\x1b[33mwarn\x1b[0m deprecated flag"},
                      NoiseCase{"BrokenJson", R"({"jsonrpc":"2.0","method":)"},
                      NoiseCase{"AJsonArray", R"([1,2,3])"}, NoiseCase{"AJsonNumber", "42"},
                      NoiseCase{"AJsonObjectThatIsNoMessage", R"({"level":"info","msg":"hi"})"},
                      NoiseCase{"ALongLine", std::string(300'000, 'x')}),
    [](const auto& info) { return info.param.name; });

TEST_P(NoiseTest, IsSkippedCountedAndSampledInOneNotice) {
  const json noise = Do("raw", GetParam().line + "\n");
  UseScript({{"initialize", json::array({noise})},
             {"session/prompt",
              json::array({Do("update", "a"), noise, Do("update", "b"), noise, Do("update", "c"),
                           Do("reply", {{"stopReason", "end_turn"}})})}});
  StartDaemon();
  const auto chat = client().Say("shop", "", "go");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_NEW);
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);

  const auto stream = client().SubscribeSession(chat.response.session_id());
  ASSERT_TRUE(stream->WaitFor(HasCaughtUp()));
  const std::vector<Event> events = stream->Stored();
  EXPECT_THAT(TextsOf(events), ElementsAre("a", "b", "c"));
  EXPECT_EQ(IndexOf(events, Is(Event::kWorkerExited)), events.size());
  const std::vector<Event> notices = NoticesOf(events, kNoise);
  ASSERT_THAT(notices, SizeIs(1));
  const api::Notice& notice = notices[0].notice();
  EXPECT_EQ(notice.severity(), api::Notice::SEVERITY_WARNING);
  EXPECT_THAT(notice.message(), HasSubstr("Skipped 3 line(s)"));
  EXPECT_THAT(notice.message(), HasSubstr(GetParam().line.substr(0, 4)));
  EXPECT_LT(notice.message().size(), 2000u);
  EXPECT_LT(IndexOf(events, Is(Event::kNotice)), IndexOf(events, Is(Event::kTurnEnded)));
}

TEST_F(E2eTest, NoiseThatIsNoUtf8IsRepairedInItsNotice) {
  StartDaemon();
  // ff fe fd " banner\n"
  const auto chat =
      client().Say("shop", "", Scripted(json::array({Do("raw64", "//79IGJhbm5lcgo=")})));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  const std::vector<Event> notices = NoticesOf(AllEvents(), kNoise);
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_THAT(notices[0].notice().message(), HasSubstr("\uFFFD\uFFFD\uFFFD banner"));
}

json NoiseLines(size_t count) {
  std::string lines;
  for (size_t i = 0; i < count; ++i) lines += "noise\n";
  return Do("raw", lines);
}

TEST_F(E2eTest, NoiseBelowTheLimitInARowIsBorneAgainAndAgain) {
  UseScript({{"session/prompt", json::array({NoiseLines(kNoiseLimit - 1), Do("update", "a"),
                                             NoiseLines(kNoiseLimit - 1), Do("update", "b")})}});
  StartDaemon();
  const auto chat = client().Say("shop", "", "go");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  const std::vector<Event> notices = NoticesOf(AllEvents(), kNoise);
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_THAT(notices[0].notice().message(), HasSubstr("Skipped 1998 line(s)"));
}

TEST_F(E2eTest, NoiseAtTheLimitInARowEndsTheWorkerAndTheSessionResumes) {
  UseScript(
      {{"session/prompt", json::array({json::array({Do("update", "before"), NoiseLines(kNoiseLimit),
                                                    Do("silent", true)}),
                                       json::array()})}});
  StartDaemon();
  const auto chat = client().Say("shop", "", "go");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_INTERRUPTED);
  EXPECT_EQ(chat.response.result().error().reason(), "AGENT_EXITED");
  EXPECT_EQ(chat.response.result().text(), "before");
  const std::vector<Event> notices = NoticesOf(AllEvents(), kNoise);
  ASSERT_FALSE(notices.empty());
  EXPECT_EQ(notices[0].notice().severity(), api::Notice::SEVERITY_ERROR);
  EXPECT_THAT(notices[0].notice().message(), HasSubstr("1,000 lines in a row"));

  const auto next = client().Say("shop", chat.response.session_id(), "COUNT");
  ASSERT_TRUE(next.ok()) << next.ToString();
  EXPECT_EQ(next.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(next.response.result().text(), "2");
}

TEST_F(E2eTest, AnAnswerWithoutItsNewlineCountsWhenTheAgentExits) {
  const std::string answer = R"({"jsonrpc":"2.0","id":${id},"result":{"stopReason":"end_turn"}})";
  StartDaemon();
  const auto chat = client().Say(
      "shop", "", Scripted(json::array({Do("update", "done"), Do("raw", answer), Do("exit", 0)})));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  EXPECT_EQ(chat.response.result().stop_reason(), "end_turn");
  EXPECT_EQ(chat.response.result().text(), "done");
  EXPECT_FALSE(chat.response.result().has_error());
}

TEST_F(E2eTest, AnUpdateWithoutItsNewlineIsKeptWhenTheAgentExits) {
  UseScript({{"session/new", json::array({Do("reply", {{"sessionId", "s-1"}})})},
             {"session/prompt", json::array({Do("raw", UpdateLine("s-1", ChunkJson("last words"))),
                                             Do("exit", 0)})}});
  StartDaemon();
  const auto chat = client().Say("shop", "", "go");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.result().outcome(), api::TurnResult::OUTCOME_INTERRUPTED);
  EXPECT_EQ(chat.response.result().text(), "last words");
}

}  // namespace
}  // namespace acpd::e2e
