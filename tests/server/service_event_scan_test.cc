#include <gtest/gtest.h>

#include "acpd/v1/session_service.pb.h"
#include "server/event_filter.h"
#include "server/event_scan.h"

namespace acpd::server {
namespace {

v1::ProgressEvent Chunk(const std::string& text) {
  v1::ProgressEvent event;
  event.set_seq(300);
  event.set_project_id("p");
  event.set_session_id("s");
  event.set_turn_id("turn-1");
  event.mutable_time()->set_seconds(5);
  auto* update = event.mutable_session_update();
  update->set_kind("agent_message_chunk");
  update->set_json(R"({"sessionUpdate":"agent_message_chunk"})");
  update->set_text(text);
  update->set_message_id("m");
  update->set_replayed(true);
  return event;
}

TEST(EventScanTest, SeesKindTurnAndUpdateKind) {
  const std::string bytes = Chunk("hi").SerializeAsString();
  const auto scanned = ScanEvent(bytes);
  ASSERT_TRUE(scanned);
  EXPECT_EQ(scanned->kind, static_cast<uint32_t>(v1::EVENT_KIND_SESSION_UPDATE));
  EXPECT_EQ(scanned->turn_id, "turn-1");
  EXPECT_EQ(StringField(scanned->payload, v1::SessionUpdate::kKindFieldNumber),
            "agent_message_chunk");
}

// Every member of the oneof is seen with the number of its EventKind.
TEST(EventScanTest, KindsAreTheFieldNumbers) {
  const auto* oneof = v1::ProgressEvent::descriptor()->FindOneofByName("event");
  for (int i = 0; i < oneof->field_count(); ++i) {
    const auto* field = oneof->field(i);
    v1::ProgressEvent event;
    event.GetReflection()->MutableMessage(&event, field);
    const std::string bytes = event.SerializeAsString();
    const auto scanned = ScanEvent(bytes);
    ASSERT_TRUE(scanned) << field->name();
    EXPECT_EQ(scanned->kind, static_cast<uint32_t>(field->number()));
    EXPECT_TRUE(field->number() >= 60 || field->number() == 23 ||
                v1::EventKind_IsValid(field->number()))
        << field->name();
  }
}

TEST(EventScanTest, LiteralBytes) {
  // seq: 1, turn_id: "t", notice {}
  const auto scanned = ScanEvent(std::string_view("\x10\x01\x2a\x01t\xe2\x02\x00", 8));
  ASSERT_TRUE(scanned);
  EXPECT_EQ(scanned->kind, 44u);
  EXPECT_EQ(scanned->turn_id, "t");
  EXPECT_TRUE(ScanEvent(""));
  // An unknown fixed64 and fixed32 are stepped over.
  EXPECT_EQ(ScanEvent(std::string_view("\x41xxxxxxxx\x4dxxxx\x2a\x01t", 17))->turn_id, "t");
}

TEST(EventScanTest, RefusesWhatIsNoMessage) {
  const std::string good = Chunk("hi").SerializeAsString();
  EXPECT_FALSE(ScanEvent(std::string_view(good).substr(0, good.size() - 1)));
  EXPECT_FALSE(ScanEvent("\x2a\x05t"));
  EXPECT_FALSE(ScanEvent("\x2a"));
  EXPECT_FALSE(ScanEvent("\x0b"));
  EXPECT_FALSE(ScanEvent("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"));
}

TEST(EventScanTest, TakesJsonOutOfTextChunksOnly) {
  v1::ProgressEvent event = Chunk("hello");
  std::string bytes = event.SerializeAsString() + std::string(kResentSuffix);
  auto shorter = WithoutJson(bytes, *ScanEvent(bytes));
  ASSERT_TRUE(shorter);
  event.mutable_session_update()->clear_json();
  event.set_resent(true);
  v1::ProgressEvent decoded;
  ASSERT_TRUE(decoded.ParseFromString(*shorter));
  EXPECT_EQ(decoded.SerializeAsString(), event.SerializeAsString()) << decoded.DebugString();

  for (auto change : {+[](v1::SessionUpdate* update) { update->clear_text(); },
                      +[](v1::SessionUpdate* update) { update->set_kind("tool_call"); }}) {
    v1::ProgressEvent other = Chunk("hello");
    change(other.mutable_session_update());
    bytes = other.SerializeAsString();
    EXPECT_FALSE(WithoutJson(bytes, *ScanEvent(bytes)));
  }
}

TEST(EventScanTest, SeesWhatJoinsChunks) {
  v1::ProgressEvent event = Chunk("hello");
  event.mutable_session_update()->set_part(2);
  event.mutable_session_update()->set_parts(300);
  const std::string bytes = event.SerializeAsString();
  const ScannedUpdate update = ScanUpdate(ScanEvent(bytes)->payload);
  EXPECT_EQ(update.kind, "agent_message_chunk");
  EXPECT_EQ(update.text, "hello");
  EXPECT_EQ(update.message_id, "m");
  EXPECT_TRUE(update.replayed);
  EXPECT_EQ(update.part, 2u);
  EXPECT_EQ(update.parts, 300u);
  const ScannedUpdate nothing = ScanUpdate("");
  EXPECT_TRUE(nothing.kind.empty() && nothing.text.empty() && !nothing.replayed);
}

TEST(EventScanTest, PutsTheWholeTextIn) {
  v1::ProgressEvent event = Chunk("hello");
  event.mutable_session_update()->set_part(2);
  event.mutable_session_update()->set_parts(3);
  event.mutable_session_update()->set_title("stays");
  const std::string bytes = event.SerializeAsString() + std::string(kResentSuffix);
  const std::string text(1000, 'x');
  v1::ProgressEvent decoded;
  ASSERT_TRUE(decoded.ParseFromString(WithText(bytes, *ScanEvent(bytes), text)));
  event.mutable_session_update()->set_text(text);
  event.mutable_session_update()->clear_json();
  event.mutable_session_update()->clear_part();
  event.mutable_session_update()->clear_parts();
  event.set_resent(true);
  EXPECT_EQ(decoded.DebugString(), event.DebugString());
}

TEST(EventScanTest, AnEventOfAPage) {
  std::string page;
  AppendEvent(v1::ListEventsResponse::kEventsFieldNumber, 300, Chunk("one").SerializeAsString(),
              page);
  AppendEvent(v1::ListEventsResponse::kEventsFieldNumber, 301, Chunk("two").SerializeAsString(),
              page);
  v1::ListEventsResponse decoded;
  ASSERT_TRUE(decoded.ParseFromString(page));
  ASSERT_EQ(decoded.events_size(), 2);
  EXPECT_EQ(decoded.events(0).position(), 300u);
  EXPECT_EQ(decoded.events(1).position(), 301u);
  EXPECT_EQ(decoded.events(1).session_update().text(), "two");
}

TEST(EventScanTest, PrefixAndSuffixAreFields) {
  for (uint64_t position : {1ull, 127ull, 128ull, 300ull, 1ull << 35, ~0ull}) {
    v1::ProgressEvent decoded;
    ASSERT_TRUE(decoded.ParseFromString(PositionPrefix(position) + Chunk("x").SerializeAsString() +
                                        std::string(kResentSuffix)));
    EXPECT_EQ(decoded.position(), position);
    EXPECT_TRUE(decoded.resent());
    EXPECT_EQ(decoded.seq(), 300u);
  }
}

bool Keeps(const EventFilter& filter, const v1::ProgressEvent& event) {
  const std::string bytes = event.SerializeAsString();
  return filter.Keeps(*ScanEvent(bytes));
}

TEST(EventFilterTest, ByKindUpdateKindAndTurn) {
  const v1::ProgressEvent chunk = Chunk("x");
  v1::ProgressEvent ended;
  ended.set_turn_id("turn-2");
  ended.mutable_turn_ended();
  EXPECT_TRUE(EventFilter().empty());
  EXPECT_TRUE(Keeps({}, chunk));
  EXPECT_FALSE(
      Keeps({.event_kinds = {22}, .update_kinds = {}, .turn_id = "", .labels = {}}, chunk));
  EXPECT_TRUE(Keeps({.event_kinds = {22}, .update_kinds = {}, .turn_id = "", .labels = {}}, ended));
  EXPECT_FALSE(
      Keeps({.event_kinds = {}, .update_kinds = {"plan"}, .turn_id = "", .labels = {}}, chunk));
  EXPECT_TRUE(Keeps({.event_kinds = {},
                     .update_kinds = {"plan", "agent_message_chunk"},
                     .turn_id = "",
                     .labels = {}},
                    chunk));
  EXPECT_TRUE(
      Keeps({.event_kinds = {}, .update_kinds = {"plan"}, .turn_id = "", .labels = {}}, ended))
      << "of updates only";
  EXPECT_FALSE(
      Keeps({.event_kinds = {}, .update_kinds = {}, .turn_id = "turn-1", .labels = {}}, ended));
  EXPECT_TRUE(
      Keeps({.event_kinds = {}, .update_kinds = {}, .turn_id = "turn-2", .labels = {}}, ended));
}

TEST(EventFilterTest, ByAllLabels) {
  EventFilter filter;
  EXPECT_TRUE(filter.KeepsSession({}));
  filter.labels = {{"team", "a"}, {"env", "prod"}};
  EXPECT_TRUE(filter.KeepsSession({{"team", "a"}, {"env", "prod"}, {"more", "x"}}));
  EXPECT_FALSE(filter.KeepsSession({{"team", "a"}}));
  EXPECT_FALSE(filter.KeepsSession({{"team", "b"}, {"env", "prod"}}));
  EXPECT_FALSE(filter.KeepsSession({}));
}

}  // namespace
}  // namespace acpd::server
