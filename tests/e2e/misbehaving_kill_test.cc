// A line over the cap, in the middle of which acpd is killed: the next acpd goes on discarding it.

#include "tests/e2e/agents_support.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using Result = api::TurnResult;

constexpr size_t kSmallCap = 256u << 10;
// More than a worker keeps: the agent can only write it all when acpd has taken most of it.
constexpr size_t kFarMore = 4u << 20;

class LongLineOverAKillTest : public E2eTest {
 protected:
  LongLineOverAKillTest() {
    options().extra = {{"limits", {{"max_line", kSmallCap}}}, {"shutdown", {{"workers", "keep"}}}};
  }
  // The agent writes `head` and far more than the cap; acpd is killed and started again; then comes
  // the line's end, and `rest`. The turn's result.
  Result LongLine(const std::string& head, const json& rest) {
    json steps =
        json::array({Do("update", "before"), Do("raw", head + std::string(kFarMore, 'x')),
                     Do("barrier", "inside"), Do("raw", std::string(kFarMore, 'y') + "\"}}\n")});
    for (const json& step : rest) steps.push_back(step);
    UseScript({{"session/new", json::array({Do("reply", {{"sessionId", "s-1"}})})},
               {"session/prompt", json::array({steps, json::array()})}});
    StartDaemon();
    const auto chat = client().Begin("shop", "", "go");
    EXPECT_TRUE(chat.ok()) << chat.ToString();
    EXPECT_TRUE(barriers().WaitReached("inside"));
    KillAndRestartDaemon();
    barriers().Release("inside");
    const auto turn = client().GetTurn(chat.response.turn_id(), api::WAIT_FOR_FINISHED);
    EXPECT_EQ(turn.response.state(), api::TURN_STATE_ENDED);
    return turn.response.result();
  }
  size_t CountNotices() { return NoticesOf(AllEvents(), "LINE_TOO_LONG").size(); }
};

const json kAfter = json::array({Do("update", "after"), Do("reply", {{"stopReason", "end_turn"}})});

TEST_F(LongLineOverAKillTest, AnUpdateIsDroppedWithOneNotice) {
  const std::string head =
      R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","pad":")";
  const Result result = LongLine(head, kAfter);
  EXPECT_EQ(result.outcome(), Result::OUTCOME_COMPLETED) << result.ShortDebugString();
  EXPECT_EQ(result.text(), "beforeafter");
  const std::vector<Event> notices = NoticesOf(AllEvents(), "LINE_TOO_LONG");
  ASSERT_THAT(notices, SizeIs(1));
  // The whole of it was counted, across the kill.
  const size_t size = head.size() + 2 * kFarMore + 3;
  EXPECT_THAT(notices[0].notice().message(), HasSubstr(std::to_string(size) + " bytes"));
  EXPECT_THAT(notices[0].notice().message(), HasSubstr("session/update"));
}

TEST_F(LongLineOverAKillTest, ARequestIsAnsweredUnderItsId) {
  json rest = json::array({Do("expect_answer", {{"id", "big"}, {"code", -32600}})});
  for (const json& step : kAfter) rest.push_back(step);
  const Result result = LongLine(
      R"({"jsonrpc":"2.0","id":"big","method":"session/request_permission","params":{"pad":")",
      rest);
  EXPECT_EQ(result.outcome(), Result::OUTCOME_COMPLETED) << result.ShortDebugString();
  EXPECT_EQ(result.text(), "beforeafter");
  EXPECT_THAT(log().AnswersTo("big"), SizeIs(1));
  EXPECT_EQ(CountNotices(), 1u);
}

TEST_F(LongLineOverAKillTest, AnAnswerEndsItsTurn) {
  const Result result =
      LongLine(R"({"jsonrpc":"2.0","id":${id},"result":{"stopReason":"end_turn","pad":")",
               json::array({Do("silent", true)}));
  EXPECT_EQ(result.outcome(), Result::OUTCOME_FAILED);
  EXPECT_EQ(result.error().reason(), "MESSAGE_TOO_LARGE");
  EXPECT_EQ(result.text(), "before");
  EXPECT_EQ(CountNotices(), 1u);
}

}  // namespace
}  // namespace acpd::e2e
