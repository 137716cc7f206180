#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/sqlite.h"
#include "session/store_schema.h"
#include "tests/session/store_fixture.h"

// A store of each schema version that ever landed becomes one of the newest, with all that it held.
// data/schemaN.sql makes one with rows in every table.
namespace acpd::session {
namespace {

std::string DumpOf(int version) {
  std::ifstream file(std::string(ACPD_STORE_DATA) + "/schema" + std::to_string(version) + ".sql");
  return {std::istreambuf_iterator<char>(file), {}};
}

void MakeOldStore(const TempDir& dir, int version) {
  std::filesystem::create_directory(dir.state_dir());
  auto db = Database::Open(dir.database(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  ASSERT_TRUE((*db)->Exec(DumpOf(version).c_str())) << (*db)->TakeStatus();
  ASSERT_EQ((*db)->QueryInt("PRAGMA user_version"), version);
}

class StoreMigration : public testing::TestWithParam<int> {};

TEST_P(StoreMigration, EveryRowIsThereAfterwards) {
  TempDir dir;
  ASSERT_NO_FATAL_FAILURE(MakeOldStore(dir, GetParam()));
  TestStore store(dir);
  EXPECT_EQ(store->epoch(), "abcdef012345");
  EXPECT_EQ(store->generation(), 5u);
  EXPECT_EQ(store.log().EpochEnd("earlier"), 2u);
  ASSERT_EQ(store.state.sessions.size(), 1u);
  EXPECT_EQ(store.state.sessions[0].title, "A title");
  EXPECT_EQ(store.state.sessions[0].usage.cost, 0.25);
  EXPECT_THAT(store.state.deleted_sessions, testing::ElementsAre("gone"));
  EXPECT_THAT(store.state.newest_seqs, testing::ElementsAre(5));
  ASSERT_EQ(store.state.unfinished.size(), 1u);
  EXPECT_EQ(store.state.unfinished[0].turn_id, "running");
  EXPECT_EQ(store.state.unfinished[0].prompt, "go on");
  ASSERT_EQ(store.state.open_questions.size(), 1u);
  EXPECT_EQ(store.state.open_questions[0].question_id, "q1");
  ASSERT_EQ(store.state.outbox.size(), 1u);
  EXPECT_EQ(store.state.outbox[0].line, "a line");

  const std::vector<SeenEvent> want = {{3, 1, "s1", "one"},       {4, 2, "s1", "two"},
                                       {5, 9, "gone", "deleted"}, {6, 3, "s1", "3"},
                                       {7, 4, "s1", "4"},         {8, 5, "s1", "longtext"}};
  EXPECT_EQ(ReadPast(store, {}, 0), want);
  std::promise<std::optional<FoundTurn>> found;
  store->FindTurn({.project_id = "p1", .request_id = "r0"},
                  [&](std::optional<FoundTurn> turn) { found.set_value(turn); });
  const std::optional<FoundTurn> turn = Wait(found.get_future());
  ASSERT_TRUE(turn);
  EXPECT_EQ(turn->row.result.text, "done");
  EXPECT_EQ(turn->queued_position, 3u);
}

TEST_P(StoreMigration, TheLogGoesOn) {
  TempDir dir;
  ASSERT_NO_FATAL_FAILURE(MakeOldStore(dir, GetParam()));
  TestStore store(dir);
  EXPECT_EQ(store.Commit(store.Make("s1", 1, "p1")).first_position, 9u);
  store.Stop();
  TestStore again(dir);
  EXPECT_THAT(again.state.newest_seqs, testing::ElementsAre(6));
}

INSTANTIATE_TEST_SUITE_P(Versions, StoreMigration, testing::Range(1, NewestSchemaVersion()));

TEST(StoreMigration1, ItsWorkersAreNotSetUp) {
  TempDir dir;
  ASSERT_NO_FATAL_FAILURE(MakeOldStore(dir, 1));
  TestStore store(dir);
  ASSERT_EQ(store.state.workers.size(), 1u);
  const WorkerRow& worker = store.state.workers[0];
  EXPECT_EQ(worker.worker_id, "w1");
  EXPECT_EQ(worker.worker_pid, 100);
  EXPECT_EQ(worker.agent_start_ticks, 103u);
  EXPECT_EQ(worker.next_stdin_seq, 9u);
  EXPECT_EQ(worker.consumed_offset, 1000u);
  EXPECT_FALSE(worker.set_up);
  EXPECT_EQ(worker.discard, "");
}

TEST(StoreMigration2, ItsRowsHaveNothingOfWhatCameLater) {
  TempDir dir;
  ASSERT_NO_FATAL_FAILURE(MakeOldStore(dir, 2));
  TestStore store(dir);
  ASSERT_EQ(store.state.sessions.size(), 1u);
  const SessionRow& session = store.state.sessions[0];
  EXPECT_EQ(session.setup, SetupSettings());
  EXPECT_FALSE(session.needs_setup_secrets);
  EXPECT_TRUE(session.options.empty());
  EXPECT_TRUE(session.wanted_options.empty());
  EXPECT_EQ(session.commands_json + session.wanted_mode + session.fork_of + session.transcript +
                session.remembered,
            "");
  EXPECT_EQ(session.agent_session_time, 0);
  EXPECT_EQ(session.transcript_of, "");
  EXPECT_TRUE(session.modes.empty());
  ASSERT_EQ(store.state.open_questions.size(), 1u);
  const QuestionRow& question = store.state.open_questions[0];
  EXPECT_EQ(question.kind, QuestionKind::kPermission);
  EXPECT_EQ(question.schema_json + question.elicitation_id + question.memory_key, "");
  EXPECT_TRUE(store.state.agent_requests.empty());
  EXPECT_TRUE(store.state.terminals.empty());
}

// Such a worker is gone on with: it has counted no request yet.
TEST(StoreMigration2, ItsWorkersAreStillSetUp) {
  TempDir dir;
  ASSERT_NO_FATAL_FAILURE(MakeOldStore(dir, 2));
  TestStore store(dir);
  ASSERT_EQ(store.state.workers.size(), 1u);
  EXPECT_TRUE(store.state.workers[0].set_up);
  EXPECT_EQ(store.state.workers[0].prompt_id, 7u);
  EXPECT_EQ(store.state.workers[0].next_request_number, 1u);
}

TEST(StoreMigration3, ItsSessionsKnowWhoseRecordTheyWereGiven) {
  TempDir dir;
  ASSERT_NO_FATAL_FAILURE(MakeOldStore(dir, 3));
  TestStore store(dir);
  ASSERT_EQ(store.state.sessions.size(), 1u);
  EXPECT_EQ(store.state.sessions[0].transcript_of, "s0");
}

TEST(StoreMigration3, TheModesOfItsWorkersAreThoseOfTheirSessions) {
  TempDir dir;
  ASSERT_NO_FATAL_FAILURE(MakeOldStore(dir, 3));
  TestStore store(dir);
  ASSERT_EQ(store.state.sessions.size(), 1u);
  ASSERT_EQ(store.state.sessions[0].modes.size(), 1u);
  EXPECT_EQ(store.state.sessions[0].modes[0].id, "plan");
  EXPECT_EQ(store.state.sessions[0].modes[0].description, "thinks");
  ASSERT_EQ(store.state.workers.size(), 1u);
  EXPECT_TRUE(store.state.workers[0].set_up);
  EXPECT_EQ(store.state.workers[0].next_request_number, 3u);
  EXPECT_EQ(store.state.workers[0].opened_pages, "");
  EXPECT_EQ(store.state.agent_requests.size(), 1u);
  EXPECT_EQ(store.state.terminals.size(), 1u);
}

TEST(StoreMigration1, ItsRowsOfTheLogAreMeasured) {
  TempDir dir;
  ASSERT_NO_FATAL_FAILURE(MakeOldStore(dir, 1));
  { TestStore store(dir); }
  auto db = Database::Open(dir.database(), SQLITE_OPEN_READONLY);
  Statement row(**db, "SELECT log_offset, time FROM events ORDER BY first_position");
  for (const int offset : {0, 0, 6 + 8 + 200}) {
    ASSERT_TRUE(row.Next());
    EXPECT_EQ(row.Int(0), offset);
    EXPECT_GT(row.Int(1), 1'700'000'000'000'000);  // the time of the migration
  }
}

TEST(StoreMigration1, AFailedMigrationLeavesTheFileAsItWas) {
  TempDir dir;
  ASSERT_NO_FATAL_FAILURE(MakeOldStore(dir, 1));
  auto db = Database::Open(dir.database(), SQLITE_OPEN_READWRITE);
  // In the way of the migration's last steps.
  ASSERT_TRUE((*db)->Exec("CREATE TABLE cuts(x)"));
  const auto schema_sum = [&] {
    return (*db)->QueryInt("SELECT sum(length(sql)) + count(*) FROM sqlite_schema");
  };
  const int64_t before = schema_sum();
  StoreOptions options;
  options.state_dir = dir.state_dir();
  const auto opened = SqliteStore::Open(options, [](std::function<void()> f) { f(); });
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition) << opened.status();
  EXPECT_THAT(std::string(opened.status().message()), testing::HasSubstr("is as it was"));
  EXPECT_EQ((*db)->QueryInt("PRAGMA user_version"), 1);
  EXPECT_EQ(schema_sum(), before);
  EXPECT_EQ((*db)->QueryInt("SELECT count(*) FROM events"), 3);

  ASSERT_TRUE((*db)->Exec("DROP TABLE cuts"));
  TestStore store(dir);
  EXPECT_EQ(ReadPast(store, {}, 0).size(), 6u);
}

}  // namespace
}  // namespace acpd::session
