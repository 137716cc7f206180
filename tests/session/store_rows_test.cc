
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/sqlite.h"
#include "tests/session/store_fixture.h"
#include "tests/session/store_samples.h"

// Every field of every row, through the database and back.
namespace acpd::session {
namespace {

std::vector<std::string> OutboxLines(const TempDir& dir) {
  auto db = Database::Open(dir.database(), SQLITE_OPEN_READONLY);
  Statement statement(**db, "SELECT line FROM outbox ORDER BY worker_id, seq");
  std::vector<std::string> lines;
  while (statement.Next()) lines.push_back(statement.Text(0));
  return lines;
}

TEST(StoreRows, EveryFieldComesBackAfterARestart) {
  TempDir dir;
  {
    TestStore store(dir);
    Record record = store.Make("s1", 2);
    record.session = SomeSession();
    record.turns = {SomeTurn()};
    record.questions = {SomeQuestion()};
    record.worker = SomeWorker();
    record.agent_requests = {SomeAgentRequest()};
    record.terminals = {SomeTerminal()};
    ASSERT_TRUE(store.Commit(std::move(record)).status.ok());
    ASSERT_TRUE(store->Close(kDeadline));
  }
  TestStore store(dir);
  ASSERT_EQ(store.state.sessions.size(), 1u);
  ExpectEqual(store.state.sessions[0], SomeSession());
  EXPECT_THAT(store.state.newest_seqs, testing::ElementsAre(2));
  ASSERT_EQ(store.state.unfinished.size(), 1u);
  ExpectEqual(store.state.unfinished[0], SomeTurn());
  ASSERT_EQ(store.state.open_questions.size(), 1u);
  ExpectEqual(store.state.open_questions[0], SomeQuestion());
  ASSERT_EQ(store.state.workers.size(), 1u);
  ExpectEqual(store.state.workers[0], SomeWorker());
  ASSERT_EQ(store.state.agent_requests.size(), 1u);
  ExpectEqual(store.state.agent_requests[0], SomeAgentRequest());
  ASSERT_EQ(store.state.terminals.size(), 1u);
  ExpectEqual(store.state.terminals[0], SomeTerminal());
}

TEST(StoreRows, ARowWrittenAgainReplacesTheOldOne) {
  TempDir dir;
  TestStore store(dir);
  Record record = store.Make("s1", 0);
  record.session = SomeSession();
  record.turns = {SomeTurn()};
  record.questions = {SomeQuestion()};
  store.Commit(std::move(record));

  Record next = store.Make("s1", 0);
  TurnRow turn = SomeTurn();
  turn.state = TurnState::kEnded;
  turn.result = TurnResult();
  next.turns = {turn};
  QuestionRow question = SomeQuestion();
  question.resolved = true;
  next.questions = {question};
  next.session = SomeSession();
  next.session->model_provider.reset();
  next.session->usage = Usage();
  store.Commit(std::move(next));

  std::promise<std::optional<FoundTurn>> found_turn;
  store->FindTurn({.turn_id = "t1"}, [&](std::optional<FoundTurn> f) { found_turn.set_value(f); });
  ExpectEqual(Wait(found_turn.get_future())->row, turn);
  std::promise<std::optional<QuestionRow>> found;
  store->FindQuestion("s1", "q1", [&](std::optional<QuestionRow> row) { found.set_value(row); });
  ExpectEqual(*Wait(found.get_future()), question);
  ASSERT_TRUE(store->Close(kDeadline));

  auto db = Database::Open(dir.database(), SQLITE_OPEN_READONLY);
  EXPECT_EQ((*db)->QueryInt("SELECT count(*) FROM turns"), 1);
  EXPECT_EQ((*db)->QueryInt("SELECT model_provider IS NULL FROM sessions"), 1);
  EXPECT_EQ((*db)->QueryInt("SELECT usage_input_tokens IS NULL FROM sessions"), 1);
}

TEST(StoreRows, ApiKeysAreNotInTheFile) {
  TempDir dir;
  TestStore store(dir);
  Record record = store.Make("s1", 0);
  record.session = SomeSession();
  record.session->model_provider->api_key = "the-very-secret-key";
  store.Commit(std::move(record));
  for (const char* name : {"/acpd.db", "/acpd.db-wal"}) {
    std::ifstream file(dir.state_dir() + name, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(bytes.find("the-very-secret-key"), std::string::npos) << name;
  }
}

TEST(StoreRows, OutboxLinesGoWhenDoneAndWithTheirWorker) {
  TempDir dir;
  TestStore store(dir);
  using testing::ElementsAre;
  Record record = store.Make("s1", 0);
  record.worker = SomeWorker();
  record.outbox = {{"w1", 1, "one"}, {"w1", 2, "two"}, {"w1", 3, "three"}, {"w2", 1, "other"}};
  store.Commit(std::move(record));
  EXPECT_THAT(OutboxLines(dir), ElementsAre("one", "two", "three", "other"));

  Record done = store.Make("s1", 0);
  done.stdin_done_worker = "w1";
  done.stdin_done = 2;
  store.Commit(std::move(done));
  EXPECT_THAT(OutboxLines(dir), ElementsAre("three", "other"));

  Record removed = store.Make("s1", 0);
  removed.removed_worker = "w1";
  removed.worker = SomeWorker();
  removed.worker->worker_id = "w2";
  removed.link_worker = "w2";
  removed.link_offset = 77;
  store.Commit(std::move(removed));
  EXPECT_THAT(OutboxLines(dir), ElementsAre("other"));
  store.Stop();
  TestStore again(dir);
  ASSERT_EQ(again.state.workers.size(), 1u);
  EXPECT_EQ(again.state.workers[0].worker_id, "w2");
  EXPECT_EQ(again.state.workers[0].consumed_offset, 77u);
}

// What the store has of requests and terminals, as "worker:number" of each.
std::vector<std::string> Services(const TempDir& dir) {
  auto db = Database::Open(dir.database(), SQLITE_OPEN_READONLY);
  std::vector<std::string> found;
  for (const char* table : {"agent_requests", "terminals"}) {
    Statement rows(**db, std::string("SELECT worker_id || ':' || number FROM ") + table +
                             " ORDER BY worker_id, number");
    while (rows.Next()) found.push_back(table[0] + (" " + rows.Text(0)));
  }
  return found;
}

AgentRequestRow Request(const char* worker_id, uint64_t number) {
  AgentRequestRow row = SomeAgentRequest();
  row.worker_id = worker_id;
  row.number = number;
  return row;
}

TerminalRow Terminal(const char* worker_id, uint64_t number) {
  TerminalRow row = SomeTerminal();
  row.worker_id = worker_id;
  row.number = number;
  return row;
}

TEST(StoreRows, RequestsGoWhenAnsweredAndTerminalsWhenReleased) {
  TempDir dir;
  TestStore store(dir);
  Record record = store.Make("s1", 0);
  record.agent_requests = {Request("w1", 1), Request("w1", 2), Request("w2", 1)};
  record.terminals = {Terminal("w1", 1), Terminal("w1", 2), Terminal("w2", 1)};
  // It came and was answered at once.
  record.agent_requests.push_back(Request("w1", 4));
  record.answered_requests = {{"w1", 4}};
  store.Commit(std::move(record));
  using testing::ElementsAre;
  EXPECT_THAT(Services(dir),
              ElementsAre("a w1:1", "a w1:2", "a w2:1", "t w1:1", "t w1:2", "t w2:1"));

  Record done = store.Make("s1", 0);
  done.answered_requests = {{"w1", 1}};
  done.released_terminals = {{"w1", 2}};
  store.Commit(std::move(done));
  EXPECT_THAT(Services(dir), ElementsAre("a w1:2", "a w2:1", "t w1:1", "t w2:1"));

  Record changed = store.Make("s1", 0);
  changed.terminals = {Terminal("w2", 1)};
  changed.terminals[0].logged_offset = 77;
  store.Commit(std::move(changed));
  store.Stop();
  TestStore again(dir);
  ASSERT_EQ(again.state.terminals.size(), 2u);
  EXPECT_EQ(again.state.terminals[1].logged_offset, 77u);
}

TEST(StoreRows, RequestsAndTerminalsGoWithTheirWorker) {
  TempDir dir;
  TestStore store(dir);
  Record record = store.Make("s1", 0);
  record.agent_requests = {Request("w1", 1), Request("w2", 1)};
  record.terminals = {Terminal("w1", 2), Terminal("w2", 2)};
  store.Commit(std::move(record));
  // What came in the worker's last moment goes with it, too.
  Record removed = store.Make("s1", 0);
  removed.removed_worker = "w1";
  removed.agent_requests = {Request("w1", 3)};
  removed.terminals = {Terminal("w1", 4)};
  store.Commit(std::move(removed));
  EXPECT_THAT(Services(dir), testing::ElementsAre("a w2:1", "t w2:2"));
}

TEST(StoreRows, RequestsAndTerminalsGoWithTheirSession) {
  TempDir dir;
  TestStore store(dir);
  Record record = store.Make("s1", 0);
  record.agent_requests = {Request("w1", 1), Request("w2", 1)};
  record.agent_requests[1].session_id = "s2";
  record.terminals = {Terminal("w1", 2), Terminal("w2", 2)};
  record.terminals[1].session_id = "s2";
  store.Commit(std::move(record));
  Record forget = store.Make("s1", 0);
  forget.forget_session = true;
  store.Commit(std::move(forget));
  EXPECT_THAT(Services(dir), testing::ElementsAre("a w2:1", "t w2:2"));
}

TEST(StoreRows, LoadGivesRequestsAndTerminalsByWorkerInOrderOfNumber) {
  TempDir dir;
  {
    TestStore store(dir);
    Record record = store.Make("s1", 0);
    record.agent_requests = {Request("w2", 1), Request("w1", 10), Request("w1", 9)};
    record.terminals = {Terminal("w2", 1), Terminal("w1", 10), Terminal("w1", 9)};
    store.Commit(std::move(record));
    store.Stop();
  }
  TestStore store(dir);
  std::vector<std::string> order;
  for (const AgentRequestRow& row : store.state.agent_requests) {
    order.push_back(row.worker_id + std::to_string(row.number));
  }
  for (const TerminalRow& row : store.state.terminals) {
    order.push_back(row.worker_id + std::to_string(row.number));
  }
  EXPECT_THAT(order, testing::ElementsAre("w19", "w110", "w21", "w19", "w110", "w21"));
}

TEST(StoreRows, LoadGivesWhatIsUnfinishedInQueueOrder) {
  TempDir dir;
  {
    TestStore store(dir);
    Record record = store.Make("s1", 0);
    const std::pair<const char*, int> turns[] = {{"late", 9}, {"first", -1}, {"middle", 3}};
    for (auto [id, order] : turns) {
      TurnRow turn = SomeTurn();
      turn.turn_id = id;
      turn.queue_order = order;
      record.turns.push_back(turn);
    }
    record.turns.push_back(SomeTurn());
    record.turns.back().state = TurnState::kEnded;
    record.questions = {SomeQuestion()};
    record.questions.back().resolved = true;
    store.Commit(std::move(record));
    store->Close(kDeadline);
  }
  TestStore store(dir);
  std::vector<std::string> ids;
  for (const TurnRow& turn : store.state.unfinished) ids.push_back(turn.turn_id);
  EXPECT_THAT(ids, testing::ElementsAre("first", "middle", "late"));
  EXPECT_TRUE(store.state.open_questions.empty());
}

class StoreRowsBlob : public testing::TestWithParam<const char*> {};

TEST_P(StoreRowsBlob, ThatCannotBeReadIsDamage) {
  TempDir dir;
  {
    TestStore store(dir);
    store.Commit(store.Make("s1", 0));
    store->Close(kDeadline);
  }
  auto db = Database::Open(dir.database(), SQLITE_OPEN_READWRITE);
  ASSERT_TRUE(
      (*db)->Exec(("UPDATE sessions SET " + std::string(GetParam()) + " = x'ffffffff'").c_str()));
  StoreOptions options;
  options.state_dir = dir.state_dir();
  auto store = SqliteStore::Open(options, [](std::function<void()> f) { f(); });
  ASSERT_TRUE(store.ok());
  const absl::Status status = (*store)->Load().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Columns, StoreRowsBlob,
                         testing::Values("labels", "model_provider", "setup", "options",
                                         "wanted_options", "modes"));

}  // namespace
}  // namespace acpd::session
