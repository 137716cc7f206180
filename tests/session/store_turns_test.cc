#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/session/store_fixture.h"
#include "tests/session/store_samples.h"

// Finding and listing turns.
namespace acpd::session {
namespace {

std::optional<FoundTurn> Find(TestStore& store, TurnQuery query) {
  std::promise<std::optional<FoundTurn>> found;
  store->FindTurn(std::move(query), [&](std::optional<FoundTurn> turn) { found.set_value(turn); });
  return Wait(found.get_future());
}

std::vector<std::string> List(TestStore& store, TurnListQuery query) {
  std::promise<std::vector<FoundTurn>> found;
  store->ListTurns(std::move(query), [&](std::vector<FoundTurn> turns) { found.set_value(turns); });
  std::vector<std::string> ids;
  for (const FoundTurn& turn : Wait(found.get_future())) ids.push_back(turn.row.turn_id);
  return ids;
}

TEST(StoreTurns, TurnsAreFoundByIdAndByTheNewestUseOfARequestId) {
  TempDir dir;
  TestStore store(dir);
  Record record = store.Make("s1", 3, "p1");
  for (int i = 1; i <= 2; ++i) {
    TurnRow turn = SomeTurn();
    turn.turn_id = "t" + std::to_string(i);
    turn.accept_time = i;
    turn.queued_seq = i + 1;
    record.turns.push_back(turn);
  }
  const CommitResult result = store.Commit(std::move(record));
  EXPECT_EQ(Find(store, {.turn_id = "t1"})->queued_position, result.first_position + 1);
  EXPECT_EQ(Find(store, {.project_id = "p1", .request_id = "r1"})->row.turn_id, "t2");
  EXPECT_FALSE(Find(store, {.turn_id = "t3"}));
  EXPECT_FALSE(Find(store, {.project_id = "p2", .request_id = "r1"}));
  EXPECT_FALSE(Find(store, {.project_id = "p1", .request_id = ""}));
}

TEST(StoreTurns, TurnListsFilterAndPageNewestFirst) {
  TempDir dir;
  TestStore store(dir);
  Record record = store.Make("s1", 0, "p1");
  for (int i = 1; i <= 6; ++i) {
    TurnRow turn = SomeTurn();
    turn.turn_id = "t" + std::to_string(i);
    turn.accept_time = 10 + i / 2;  // some at the same time
    turn.session_id = i % 2 == 0 ? "even" : "odd";
    turn.project_id = i <= 3 ? "low" : "high";
    turn.state = i == 5 ? TurnState::kEnded : TurnState::kQueued;
    turn.setup_only = false;
    record.turns.push_back(turn);
  }
  record.turns.push_back(SomeTurn());
  record.turns.back().turn_id = "set-up";  // has no place in lists
  record.turns.back().setup_only = true;
  store.Commit(std::move(record));
  using testing::ElementsAre;
  EXPECT_THAT(List(store, {}), ElementsAre("t6", "t5", "t4", "t3", "t2", "t1"));
  EXPECT_THAT(List(store, {.limit = 2}), ElementsAre("t6", "t5"));
  EXPECT_THAT(List(store, {.limit = 2, .before_time = 12, .before_turn_id = "t5"}),
              ElementsAre("t4", "t3"));
  EXPECT_THAT(List(store, {.session_id = "even"}), ElementsAre("t6", "t4", "t2"));
  EXPECT_THAT(List(store, {.project_id = "low"}), ElementsAre("t3", "t2", "t1"));
  EXPECT_THAT(List(store, {.project_id = "high", .session_id = "odd"}), ElementsAre("t5"));
  EXPECT_THAT(List(store, {.states = {TurnState::kEnded, TurnState::kRunning}}), ElementsAre("t5"));
}

TEST(StoreTurns, ListsCutThePromptAndLeaveTheRequestOut) {
  TempDir dir;
  TestStore store(dir);
  Record record = store.Make("s1", 0);
  TurnRow turn = SomeTurn();
  turn.setup_only = false;
  record.turns = {turn};
  store.Commit(std::move(record));
  std::promise<std::vector<FoundTurn>> found;
  store->ListTurns({}, [&](std::vector<FoundTurn> turns) { found.set_value(turns); });
  const std::vector<FoundTurn> turns = Wait(found.get_future());
  ASSERT_EQ(turns.size(), 1u);
  EXPECT_EQ(turns[0].row.prompt, std::string(1024, 'p'));
  EXPECT_EQ(turns[0].row.stored_request, "");
  turn.prompt = turns[0].row.prompt;
  turn.stored_request = "";
  ExpectEqual(turns[0].row, turn);
}

}  // namespace
}  // namespace acpd::session
