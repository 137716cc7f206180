// Who gets a worker's slot, and whose idle worker makes room for whom.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "session/worker_slots.h"

namespace acpd::session {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Slot = WorkerSlots::SlotPtr;

class WorkerSlotsTest : public ::testing::Test {
 protected:
  Slot Ask(const std::string& project) {
    return slots_.Ask(project, [this, project] { called_.push_back(project); });
  }
  WorkerSlots slots_{{3, 2}};
  std::vector<std::string> called_;
};

TEST_F(WorkerSlotsTest, UpToTheLimitOfAProjectAndOfAll) {
  const Slot a1 = Ask("a"), a2 = Ask("a"), a3 = Ask("a");
  EXPECT_TRUE(a1->held() && a2->held());
  EXPECT_FALSE(a3->held());
  const Slot b1 = Ask("b"), b2 = Ask("b");
  EXPECT_TRUE(b1->held());
  EXPECT_FALSE(b2->held());
  EXPECT_EQ(slots_.held(), 3u);
  EXPECT_EQ(slots_.waiting(), 2u);
  EXPECT_THAT(called_, IsEmpty());
}

TEST_F(WorkerSlotsTest, FirstComeFirstServed) {
  Slot a1 = Ask("a"), b1 = Ask("b"), c1 = Ask("c");
  Slot a2 = Ask("a"), b2 = Ask("b"), c2 = Ask("c");
  EXPECT_TRUE(slots_.IsFirst(a2));
  EXPECT_FALSE(slots_.IsFirst(b2));
  c1.reset();
  EXPECT_THAT(called_, ElementsAre("a"));
  EXPECT_TRUE(a2->held());
  EXPECT_TRUE(slots_.IsFirst(b2));
  b1.reset();
  EXPECT_THAT(called_, ElementsAre("a", "b"));
  a1.reset();
  EXPECT_THAT(called_, ElementsAre("a", "b", "c"));
  EXPECT_EQ(slots_.held(), 3u);
  EXPECT_EQ(slots_.waiting(), 0u);
}

TEST_F(WorkerSlotsTest, NobodyWaitsBehindAProjectThatHasItsShare) {
  Slot a1 = Ask("a"), a2 = Ask("a"), a3 = Ask("a");
  Slot b1 = Ask("b");
  EXPECT_TRUE(b1->held());
  Slot b2 = Ask("b");
  b1.reset();
  EXPECT_TRUE(b2->held());
  EXPECT_FALSE(a3->held());
  a2.reset();
  EXPECT_TRUE(a3->held());
}

TEST_F(WorkerSlotsTest, WhoGivesUpIsNotServed) {
  Slot a1 = Ask("a"), b1 = Ask("b"), c1 = Ask("c");
  Slot a2 = Ask("a"), b2 = Ask("b");
  a2.reset();
  c1.reset();
  EXPECT_THAT(called_, ElementsAre("b"));
  EXPECT_TRUE(b2->held());
}

TEST_F(WorkerSlotsTest, AWorkerThatIsThereCountsOverTheLimitToo) {
  std::vector<Slot> held;
  for (int i = 0; i < 5; ++i) held.push_back(slots_.Hold("a"));
  EXPECT_EQ(slots_.held(), 5u);
  const Slot b1 = Ask("b");
  for (int i = 0; i < 2; ++i) held.pop_back();
  EXPECT_FALSE(b1->held());
  held.pop_back();
  EXPECT_TRUE(b1->held());
}

TEST_F(WorkerSlotsTest, ASlotMayOutliveTheTable) {
  std::optional<WorkerSlots> slots(WorkerSlots::Limits{1, 1});
  const Slot held = slots->Ask("a", nullptr), waiting = slots->Ask("a", nullptr);
  slots.reset();
  EXPECT_TRUE(held->held());
  EXPECT_FALSE(waiting->held());
}

TEST_F(WorkerSlotsTest, TheLeastRecentlyUsedMakesRoom) {
  const Slot a = Ask("a"), b = Ask("b"), c = Ask("c");
  EXPECT_THAT(slots_.ToClose({"a", "b", "c"}, {}), IsEmpty());  // nobody waits
  const Slot d = Ask("d");
  EXPECT_THAT(slots_.ToClose({"b", "a"}, {}), ElementsAre(0));
  EXPECT_THAT(slots_.ToClose({}, {}), IsEmpty());
  const Slot e = Ask("e");
  EXPECT_THAT(slots_.ToClose({"b", "a", "c"}, {}), ElementsAre(0, 1));
}

TEST_F(WorkerSlotsTest, WhatIsBeingClosedAlreadyIsWaitedFor) {
  const Slot a = Ask("a"), b = Ask("b"), c = Ask("c");
  const Slot d = Ask("d");
  EXPECT_THAT(slots_.ToClose({"a"}, {"b"}), IsEmpty());
  const Slot e = Ask("e");
  EXPECT_THAT(slots_.ToClose({"a"}, {"b"}), ElementsAre(0));
}

TEST_F(WorkerSlotsTest, AProjectWithItsShareMakesRoomForItself) {
  const Slot a1 = Ask("a"), a2 = Ask("a"), b1 = Ask("b");
  const Slot a3 = Ask("a");
  EXPECT_THAT(slots_.ToClose({"b", "a"}, {}), ElementsAre(1));
  EXPECT_THAT(slots_.ToClose({"b"}, {}), IsEmpty());
  // And is in nobody's way meanwhile.
  const Slot c1 = Ask("c");
  EXPECT_THAT(slots_.ToClose({"b"}, {}), ElementsAre(0));
}

TEST_F(WorkerSlotsTest, WithMoreThanTheLimitOneClosingIsNotEnough) {
  std::vector<Slot> held;
  for (const char* project : {"a", "b", "c", "d"}) held.push_back(slots_.Hold(project));
  const Slot e = Ask("e");
  EXPECT_THAT(slots_.ToClose({"a", "b", "c"}, {}), ElementsAre(0, 1));
}

}  // namespace
}  // namespace acpd::session
