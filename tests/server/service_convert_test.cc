#include <gtest/gtest.h>

#include "acpd/v1/session_service.pb.h"
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

TEST(ConvertTest, ChatAndCancelReplies) {
  session::TurnView turn;
  turn.turn_id = "t";
  turn.state = session::TurnState::kEnded;
  turn.result.text = "all of it";
  turn.after_seq = 4;
  turn.after_position = 5;
  session::ChatReply reply{turn, true, "agent-s", "epoch"};
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

TEST(ConvertTest, ForkedSessionsSaySo) {
  session::SessionOrigin origin;
  origin.kind = session::OriginKind::kForked;
  origin.requested_session_id = "s";
  origin.transcript_injected = true;
  v1::SessionOrigin out;
  ToProto(origin, &out);
  EXPECT_EQ(out.kind(), v1::SessionOrigin::KIND_FORKED);
  EXPECT_EQ(out.requested_session_id(), "s");
  EXPECT_TRUE(out.transcript_injected());
}

}  // namespace
}  // namespace acpd::server
