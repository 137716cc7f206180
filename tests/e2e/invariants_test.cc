// The checks that every end-to-end test relies on see what they are there for.

#include "tests/e2e/harness/invariants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace acpd::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Event EventOf(uint64_t position, const std::string& session_id, uint64_t seq,
              const std::string& turn_id = "") {
  Event event;
  event.set_position(position);
  event.set_session_id(session_id);
  event.set_seq(seq);
  event.set_turn_id(turn_id);
  return event;
}

Event Queued(uint64_t position, const std::string& turn_id) {
  Event event = EventOf(position, "s", position, turn_id);
  event.mutable_turn_queued();
  return event;
}

Event Ended(uint64_t position, const std::string& turn_id) {
  Event event = EventOf(position, "s", position, turn_id);
  event.mutable_turn_ended();
  return event;
}

TEST(InvariantsTest, TurnsThatEndOnceAreFine) {
  EXPECT_THAT(CheckTurnsEndOnce({Queued(1, "t"), Queued(2, "u"), Ended(3, "t"), Ended(4, "u")},
                                {{"t", "s"}, {"u", "s"}}),
              IsEmpty());
}

TEST(InvariantsTest, AMovedTurnIsQueuedAgain) {
  EXPECT_THAT(CheckTurnsEndOnce({Queued(1, "t"), Queued(2, "t"), Ended(3, "t")}, {{"t", "s"}}),
              IsEmpty());
}

TEST(InvariantsTest, TurnsMustEndOnce) {
  EXPECT_THAT(CheckTurnsEndOnce({Queued(1, "t")}, {}), ElementsAre(HasSubstr("never ended")));
  EXPECT_THAT(CheckTurnsEndOnce({Queued(1, "t"), Ended(2, "t"), Ended(3, "t")}, {}),
              ElementsAre(HasSubstr("ended 2 times")));
  EXPECT_THAT(CheckTurnsEndOnce({}, {{"t", "s"}}), ElementsAre(HasSubstr("not in the log")));
  EXPECT_THAT(CheckTurnsEndOnce({Ended(1, "t")}, {}),
              ElementsAre(HasSubstr("before its TurnQueued")));
}

TEST(InvariantsTest, ADeletedSessionTakesItsTurnsAlong) {
  Event deleted = EventOf(1, "s", 1);
  deleted.mutable_session_deleted();
  EXPECT_THAT(CheckTurnsEndOnce({deleted}, {{"t", "s"}}), IsEmpty());
  EXPECT_THAT(CheckTurnsEndOnce({deleted}, {{"t", "other"}}),
              ElementsAre(HasSubstr("not in the log")));
}

TEST(InvariantsTest, SequencesWithoutHolesAreFine) {
  EXPECT_THAT(CheckNoHoleNoRepeat({EventOf(1, "a", 5), EventOf(2, "b", 1), EventOf(4, "a", 6)}),
              IsEmpty());
  Event resent = EventOf(1, "a", 5), control = EventOf(2, "", 0);
  resent.set_resent(true);
  EXPECT_THAT(CheckNoHoleNoRepeat({EventOf(2, "a", 6), resent, control, EventOf(3, "a", 7)}),
              IsEmpty());
}

TEST(InvariantsTest, HolesAndRepeatsAreSeen) {
  EXPECT_THAT(CheckNoHoleNoRepeat({EventOf(1, "a", 1), EventOf(2, "a", 3)}),
              ElementsAre(HasSubstr("seq after 1")));
  EXPECT_THAT(CheckNoHoleNoRepeat({EventOf(1, "a", 1), EventOf(2, "a", 1)}),
              ElementsAre(HasSubstr("seq after 1")));
  EXPECT_THAT(CheckNoHoleNoRepeat({EventOf(2, "a", 1), EventOf(2, "b", 1)}),
              ElementsAre(HasSubstr("position after 2")));
}

TEST(InvariantsTest, AGapBeginsASequenceAnew) {
  Event gap = EventOf(0, "a", 0);
  gap.mutable_gap()->set_next_seq(9);
  EXPECT_THAT(CheckNoHoleNoRepeat({EventOf(1, "a", 1), gap, EventOf(2, "a", 9)}), IsEmpty());
}

}  // namespace
}  // namespace acpd::e2e
