#include <gtest/gtest.h>

#include "acpd/v1/session_service.pb.h"
#include "server/codec.h"
#include "server/convert.h"

namespace acpd::server {
namespace {

TEST(ConvertTest, TimesAndDurations) {
  google::protobuf::Timestamp time;
  ToProto(session::WallTime{1'700'000'000'123'456}, &time);
  EXPECT_EQ(time.seconds(), 1'700'000'000);
  EXPECT_EQ(time.nanos(), 123'456'000);
  google::protobuf::Duration duration;
  ToProto(milliseconds(61'005), &duration);
  EXPECT_EQ(duration.seconds(), 61);
  EXPECT_EQ(duration.nanos(), 5'000'000);
}

TEST(ConvertTest, FailureCutsTheAgentsDataAt256KiB) {
  session::Failure failure{"AGENT_ERROR", "it said no",    -32603, std::string(kMaxJson, 'x'),
                           true,          milliseconds(10)};
  v1::Failure out;
  ToProto(failure, &out);
  EXPECT_EQ(out.reason(), "AGENT_ERROR");
  EXPECT_EQ(out.agent_code(), -32603);
  EXPECT_EQ(out.agent_data().size(), kMaxJson);
  EXPECT_FALSE(out.agent_data_truncated());
  EXPECT_TRUE(out.retryable());
  EXPECT_EQ(out.retry_after().nanos(), 10'000'000);
  failure.agent_data += "y";
  ToProto(failure, &out);
  EXPECT_EQ(out.agent_data().size(), kMaxJson);
  EXPECT_TRUE(out.agent_data_truncated());
}

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

TEST(ConvertTest, ListedTurnsAreShort) {
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

TEST(ConvertTest, AWholeTurnHasItsRequest) {
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

TEST(ConvertTest, ALargePromptIsCutAndHasMoreInTheRequest) {
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

TEST(ConvertTest, RunningTurnsHaveNoResult) {
  session::TurnView turn = EndedTurn();
  turn.state = session::TurnState::kRunning;
  v1::Turn out;
  ToProto(turn, TurnDetail::kWhole, &out);
  EXPECT_FALSE(out.has_result());
  EXPECT_EQ(out.state(), v1::TURN_STATE_RUNNING);
}

TEST(ConvertTest, SessionViews) {
  session::SessionView view;
  view.session_id = "s";
  view.state = session::SessionState::kWaiting;
  view.queued.resize(2);
  view.worker = session::WorkerView{"w", 77, 1'000'000};
  view.usage.total_tokens = 9;
  view.labels = {{"a", "b"}};
  view.available_modes = {{"m", "Mode", "does"}};
  v1::ProgressEvent question;
  question.set_seq(3);
  question.mutable_permission_requested()->set_question_id("q");
  view.open_question_events = {question.SerializeAsString()};
  v1::Session full, basic;
  ToProto(view, SessionDetail::kFull, &full);
  ToProto(view, SessionDetail::kBasic, &basic);
  EXPECT_EQ(full.state(), v1::Session::STATE_WAITING);
  EXPECT_EQ(full.queued_size(), 2);
  EXPECT_EQ(full.worker().pid(), 77);
  EXPECT_EQ(full.usage().total_tokens(), 9u);
  EXPECT_EQ(full.available_modes(0).mode_id(), "m");
  EXPECT_EQ(full.open_questions(0).permission_requested().question_id(), "q");
  EXPECT_EQ(basic.queued_size() + basic.open_questions_size() + basic.available_modes_size(), 0);
  EXPECT_FALSE(basic.has_worker() || basic.has_usage());
  EXPECT_EQ(basic.labels().at("a"), "b");
}

TEST(ConvertTest, ChatAndCancelReplies) {
  session::ChatReply reply{EndedTurn(), true, "agent-s", "epoch"};
  reply.turn.origin.kind = session::OriginKind::kFallback;
  reply.turn.origin.reason = "SESSION_NOT_FOUND";
  v1::ChatResponse chat;
  ToProto(reply, &chat);
  EXPECT_EQ(chat.turn_id(), "t");
  EXPECT_EQ(chat.result().text(), "all of it");
  EXPECT_TRUE(chat.deduplicated());
  EXPECT_EQ(chat.after_seq(), 4u);
  EXPECT_EQ(chat.after_position(), 5u);
  EXPECT_EQ(chat.epoch(), "epoch");
  EXPECT_EQ(chat.origin().reason(), "SESSION_NOT_FOUND");
  session::CancelReply cancel{session::CancelOutcome::kForced,
                              {{"s", "t", session::CancelOutcome::kForced, milliseconds(1500)}}};
  v1::CancelResponse cancelled;
  ToProto(cancel, &cancelled);
  EXPECT_EQ(cancelled.outcome(), v1::CancelResponse::OUTCOME_FORCED);
  EXPECT_EQ(cancelled.turns(0).cancel_duration().seconds(), 1);
}

}  // namespace
}  // namespace acpd::server
