// Events and requests back into the domain.
#include "server/stored_request.h"
#include "tests/server/service_codec_harness.h"

namespace acpd::server {
namespace {

class TalkTest : public ::testing::Test {
 protected:
  template <class Event>
  session::StoredTalk Talk(const Event& event) {
    std::string bytes;
    codec_.Encode(kHeader, event, bytes);
    const session::StoredTalk talk = codec_.DecodeTalk(bytes);
    EXPECT_EQ(talk.turn_id, "turn");
    return talk;
  }
  Codec codec_;
};
using TalkKind = session::StoredTalk::Kind;

TEST_F(TalkTest, PromptsAndWords) {
  session::TurnQueuedEvent queued;
  queued.prompt = "hello";
  const auto prompt = Talk(queued);
  EXPECT_EQ(prompt.kind, TalkKind::kPrompt);
  EXPECT_EQ(prompt.text, "hello");
  session::SessionUpdateEvent chunk;
  chunk.kind = "agent_message_chunk";
  chunk.text = "hi";
  chunk.message_id = "m";
  const auto text = Talk(chunk);
  EXPECT_EQ(text.kind, TalkKind::kText);
  EXPECT_EQ(text.text, "hi");
  EXPECT_EQ(text.message_id, "m");
}

TEST_F(TalkTest, Tools) {
  for (const char* kind : {"tool_call", "tool_call_update"}) {
    session::SessionUpdateEvent tool;
    tool.kind = kind;
    tool.tool_call_id = "c";
    tool.title = "ls";
    tool.tool_status = "completed";
    const auto talk = Talk(tool);
    EXPECT_EQ(talk.kind, TalkKind::kTool) << kind;
    EXPECT_EQ(talk.tool_call_id, "c");
    EXPECT_EQ(talk.title, "ls");
    EXPECT_EQ(talk.status, "completed");
  }
}

TEST_F(TalkTest, EndsThatAreNone) {
  using enum session::Outcome;
  const std::pair<session::Outcome, const char*> ends[] = {
      {kUnspecified, ""},           {kCompleted, ""},          {kTruncated, "truncated"},
      {kRefused, "refused"},        {kCancelled, "cancelled"}, {kFailed, "failed"},
      {kInterrupted, "interrupted"}};
  for (const auto& [outcome, name] : ends) {
    session::TurnEndedEvent ended;
    ended.result.outcome = outcome;
    const auto talk = Talk(ended);
    EXPECT_EQ(talk.outcome, name);
    EXPECT_EQ(talk.kind, *name == '\0' ? TalkKind::kNone : TalkKind::kTurnEnd) << name;
  }
}

TEST_F(TalkTest, WhatIsNotTalk) {
  session::SessionUpdateEvent update;
  update.text = "x";
  update.tool_call_id = "c";
  for (const char* kind : {"agent_message_chunk", "tool_call", "user_message_chunk"}) {
    update.kind = kind;
    update.replayed = true;
    EXPECT_EQ(Talk(update).kind, TalkKind::kNone) << kind;
  }
  update.replayed = false;
  for (const char* kind : {"agent_thought_chunk", "user_message_chunk", "plan", ""}) {
    update.kind = kind;
    EXPECT_EQ(Talk(update).kind, TalkKind::kNone) << kind;
  }
  update.kind = "agent_message_chunk";
  update.text = "";
  EXPECT_EQ(Talk(update).kind, TalkKind::kNone) << "an image";
  EXPECT_EQ(Talk(session::TurnStartedEvent{"r"}).kind, TalkKind::kNone);
  EXPECT_EQ(codec_.DecodeTalk("\xff\xff").kind, TalkKind::kNone);
  EXPECT_EQ(codec_.DecodeTalk("").kind, TalkKind::kNone);
}

TEST_F(CodecTest, StoredRequestsComeBack) {
  v1::ChatRequest request;
  request.set_prompt("hello");
  session::ChatRequest decoded;
  ASSERT_TRUE(codec_.DecodeRequest(EncodeRequest(request, {"parent", "", ""}), &decoded));
  EXPECT_EQ(decoded.prompt, "hello");
  EXPECT_EQ(decoded.trace.traceparent, "parent");
  EXPECT_FALSE(codec_.DecodeRequest("\xff\xff", &decoded));
}

}  // namespace
}  // namespace acpd::server
