#include <gtest/gtest.h>

#include <algorithm>

#include "server/convert.h"
#include "server/stored_request.h"

namespace acpd::server {
namespace {

session::TurnView EndedTurn() {
  session::TurnView turn;
  turn.turn_id = "t";
  turn.session_id = "s";
  turn.project_id = "p";
  turn.state = session::TurnState::kEnded;
  turn.accept_time = 1'000'000;
  turn.end_time = 2'000'000;
  turn.result.outcome = session::Outcome::kCompleted;
  turn.result.stop_reason = "end_turn";
  turn.result.text = "all of it";
  turn.result.final_text = "it";
  turn.result.prompt_sent = true;
  turn.result.usage.input_tokens = 3;
  turn.after_seq = 4;
  turn.after_position = 5;
  return turn;
}

TEST(ConvertTurnTest, ListedTurnsAreShort) {
  session::TurnView turn = EndedTurn();
  for (int i = 0; i < 300; ++i) turn.prompt += "\u00e9";
  v1::Turn out;
  ToProto(turn, TurnDetail::kListed, &out);
  EXPECT_EQ(out.prompt().size(), 2 * kListedPromptCharacters);
  EXPECT_EQ(out.result().text(), "");
  EXPECT_EQ(out.result().final_text(), "it");
  EXPECT_EQ(out.result().usage().input_tokens(), 3u);
  EXPECT_FALSE(out.result().usage().has_output_tokens());
  EXPECT_FALSE(out.has_start_time()) << "0 is no time";
  EXPECT_EQ(out.end_time().seconds(), 2);
  EXPECT_FALSE(out.has_request());
  EXPECT_FALSE(out.has_origin());
}

TEST(ConvertTurnTest, AWholeTurnHasItsRequest) {
  session::TurnView turn = EndedTurn();
  v1::ChatRequest request;
  request.set_prompt("do it");
  turn.prompt = "do it";
  turn.stored_request = EncodeRequest(request);
  v1::Turn out;
  ToProto(turn, TurnDetail::kWhole, &out);
  EXPECT_EQ(out.prompt(), "do it");
  EXPECT_EQ(out.request().prompt(), "do it");
  EXPECT_EQ(out.result().text(), "all of it");
}

TEST(ConvertTurnTest, ALargePromptIsCutAndHasMoreInTheRequest) {
  session::TurnView turn = EndedTurn();
  v1::ChatRequest request;
  request.set_prompt(std::string(1 << 20, 'x'));
  turn.prompt = request.prompt();
  turn.stored_request = EncodeRequest(request);
  v1::Turn out;
  ToProto(turn, TurnDetail::kWhole, &out);
  EXPECT_EQ(out.prompt().size(), kMaxEventPrompt);
  EXPECT_EQ(out.request().prompt().size(), kMaxRequestPrompt);
}

TEST(ConvertTurnTest, RunningTurnsHaveNoResult) {
  session::TurnView turn = EndedTurn();
  turn.state = session::TurnState::kRunning;
  v1::Turn out;
  ToProto(turn, TurnDetail::kWhole, &out);
  EXPECT_FALSE(out.has_result());
  EXPECT_EQ(out.state(), v1::TURN_STATE_RUNNING);
}

}  // namespace
}  // namespace acpd::server
