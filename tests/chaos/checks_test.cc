// The checks of the record find each kind of damage. Every test takes a sound record and breaks it
// in one place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/chaos/agent_check.h"
#include "tests/chaos/reader_check.h"
#include "tests/e2e/harness/temp_dir.h"

namespace acpd::chaos {
namespace {

using e2e::Event;
using nlohmann::json;
namespace api = e2e::api;

constexpr char kSession[] = "session-1";
constexpr char kTurn[] = "turn-1";
constexpr char kPrompt[] = R"(![{"log":"turn k1"}])";

class ChecksTest : public ::testing::Test {
 protected:
  ChecksTest() {
    record_.Add({.key = "k1", .kind = "small", .prompt = "", .texts = {HashOf("a"), HashOf("b")}});
    record_.accepted()->Add(kTurn, kSession);
    Add().mutable_session_created();
    Add(kTurn).mutable_turn_queued()->set_prompt(kPrompt);
    Add(kTurn).mutable_turn_started();
    Say("a");
    Say("b");
    api::TurnResult* result = Add(kTurn).mutable_turn_ended()->mutable_result();
    result->set_outcome(api::TurnResult::OUTCOME_COMPLETED);
    result->set_prompt_sent(true);
    SeeAll();
    Deliver(1, "session/prompt", kPrompt);
  }

  Event& Add(const std::string& turn_id = "") {
    Event& event = log_.emplace_back();
    event.set_position(log_.size() * 2);
    event.set_seq(log_.size());
    event.set_session_id(kSession);
    event.set_project_id("project");
    event.set_turn_id(turn_id);
    return event;
  }
  void Say(const std::string& text) {
    api::SessionUpdate* update = Add(kTurn).mutable_session_update();
    update->set_kind("agent_message_chunk");
    update->set_text(text);
  }
  // The reader has the whole log.
  void SeeAll() {
    watch_.reader = "reader";
    watch_.started = watch_.to_the_end = true;
    watch_.seen.clear();
    for (const Event& event : log_) watch_.seen.push_back(Shorten(event));
  }
  void Deliver(int id, const std::string& method, const std::string& text) {
    const json params = {{"sessionId", "s"}, {"prompt", {{{"type", "text"}, {"text", text}}}}};
    const json line = {{"id", id}, {"method", method}, {"params", params}};
    agent_log_ += json{{"event", "in"}, {"pid", 7}, {"line", line.dump()}}.dump() + "\n";
  }
  // The violations that all checks find.
  uint64_t Found() {
    Tally tally;
    LogCheck log(&record_, &tally);
    for (const Event& event : log_) log.Take(event);
    log.Finish();
    CheckWatch(watch_, log, &tally);
    e2e::WriteFile(dir_ / "agent.log", agent_log_);
    CheckAgents(dir_ / "agent.log", log, &tally);
    return tally.violations();
  }

  e2e::TempDir dir_;
  Record record_;
  std::vector<Event> log_;
  Watch watch_;
  std::string agent_log_;
};

TEST_F(ChecksTest, ASoundRecordHasNoViolation) { EXPECT_EQ(Found(), 0u); }

TEST_F(ChecksTest, ATurnWithoutEnd) {
  log_.pop_back();
  SeeAll();
  EXPECT_EQ(Found(), 1u);
}

TEST_F(ChecksTest, ATurnThatEndsTwice) {
  const api::TurnEnded end = log_.back().turn_ended();
  *Add(kTurn).mutable_turn_ended() = end;
  SeeAll();
  EXPECT_EQ(Found(), 2u);  // behind its end, and twice
}

TEST_F(ChecksTest, AnAcceptedTurnThatIsNowhere) {
  record_.accepted()->Add("turn-2", kSession);
  EXPECT_EQ(Found(), 1u);
}

TEST_F(ChecksTest, AHoleInSeq) {
  log_.back().set_seq(8);
  SeeAll();
  EXPECT_EQ(Found(), 1u);
}

TEST_F(ChecksTest, APositionThatGoesBack) {
  log_.back().set_position(3);
  watch_.started = false;
  EXPECT_EQ(Found(), 1u);
}

TEST_F(ChecksTest, ATextThatIsMissing) {
  log_[4].mutable_session_update()->set_kind("other");
  SeeAll();
  EXPECT_EQ(Found(), 1u);
}

TEST_F(ChecksTest, ATextThatCameTwice) {
  log_[4].mutable_session_update()->set_text("a");
  SeeAll();
  EXPECT_EQ(Found(), 1u);
}

TEST_F(ChecksTest, AnEventThatAReaderNeverGot) {
  watch_.seen.erase(watch_.seen.begin() + 2);
  EXPECT_EQ(Found(), 1u);
}

TEST_F(ChecksTest, TheLastEventsThatAReaderNeverGot) {
  watch_.seen.pop_back();
  EXPECT_EQ(Found(), 1u);
  watch_.to_the_end = false;  // it had left
  EXPECT_EQ(Found(), 0u);
}

TEST_F(ChecksTest, AnEventThatAReaderGotTwice) {
  watch_.seen.insert(watch_.seen.begin() + 2, watch_.seen[2]);
  EXPECT_EQ(Found(), 1u);
}

TEST_F(ChecksTest, OtherBytesThanInTheLog) {
  ++watch_.seen[3].bytes;
  EXPECT_EQ(Found(), 1u);
}

TEST_F(ChecksTest, APromptThatCameTwice) {
  Deliver(2, "session/prompt", kPrompt);
  EXPECT_EQ(Found(), 1u);
}

TEST_F(ChecksTest, ARequestThatCameTwice) {
  Deliver(3, "session/load", "");
  Deliver(3, "session/load", "");
  EXPECT_EQ(Found(), 1u);
}

TEST_F(ChecksTest, APromptThatWasNotToBeSent) {
  api::TurnResult* result = log_.back().mutable_turn_ended()->mutable_result();
  result->set_outcome(api::TurnResult::OUTCOME_CANCELLED);
  result->set_prompt_sent(false);
  SeeAll();
  EXPECT_EQ(Found(), 1u);
}

TEST_F(ChecksTest, ACompletedTurnWhosePromptNobodyGot) {
  agent_log_.clear();
  EXPECT_EQ(Found(), 1u);
}

TEST_F(ChecksTest, ADeletedSessionIsNotLookedAt) {
  record_.Deleting(kSession);
  log_.clear();
  EXPECT_EQ(Found(), 0u);
}

}  // namespace
}  // namespace acpd::chaos
