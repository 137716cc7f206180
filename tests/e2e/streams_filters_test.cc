// What a stream leaves out, and where it ends.

#include <set>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using Code = grpc::StatusCode;

class FiltersTest : public TurnsTest {
 protected:
  // Two turns that say something and use a tool.
  void MakeTurns() {
    StartDaemon();
    const json tool = {{"sessionUpdate", "tool_call"}, {"toolCallId", "t-1"}, {"title", "Look"}};
    const json thought = {{"sessionUpdate", "agent_thought_chunk"},
                          {"content", {{"type", "text"}, {"text", "hm"}}}};
    const json steps = Steps(Step("update", thought), Step("update", tool), Say("found"));
    for (int i = 0; i < 2; ++i) {
      const auto chat = client().Say(kProject, session_id_, Scripted(steps));
      ASSERT_TRUE(chat.ok()) << chat.ToString();
      session_id_ = chat.response.session_id();
      turn_ids_.push_back(chat.response.turn_id());
    }
    request_.set_session_id(session_id_);
    request_.set_after_seq(0);
    request_.set_replay_only(true);
  }
  std::vector<Event> Replay(const api::SubscribeProgressRequest& request) {
    const auto stream = client().Subscribe(request);
    const auto end = stream->WaitForEnd();
    EXPECT_TRUE(end && end->ok()) << (end ? end->error_message() : "no end");
    EXPECT_TRUE(stream->Events().front().has_subscription_started());
    return stream->Stored();
  }
  static std::vector<std::string> UpdateKinds(const std::vector<Event>& events) {
    std::vector<std::string> kinds;
    for (const Event& event : events) {
      if (event.has_session_update()) kinds.push_back(event.session_update().kind());
    }
    return kinds;
  }

  std::string session_id_;
  std::vector<std::string> turn_ids_;
  api::SubscribeProgressRequest request_;
};

TEST_F(FiltersTest, ReplayOnlyEndsWithThePast) {
  ASSERT_NO_FATAL_FAILURE(MakeTurns());
  const auto stream = client().Subscribe(request_);
  const auto end = stream->WaitForEnd();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->ok()) << end->error_message();
  EXPECT_TRUE(stream->Events().back().has_caught_up());
  EXPECT_EQ(stream->Stored().size(), EventsOf(session_id_).size());
}

TEST_F(FiltersTest, UpdateKinds) {
  ASSERT_NO_FATAL_FAILURE(MakeTurns());
  request_.add_update_kinds("tool_call");
  const std::vector<Event> events = Replay(request_);
  EXPECT_THAT(UpdateKinds(events), ElementsAre("tool_call", "tool_call"));
  // Only updates are left out.
  std::set<Event::EventCase> kinds;
  for (const Event& event : events) kinds.insert(event.event_case());
  EXPECT_TRUE(kinds.contains(Event::kTurnEnded));
  EXPECT_TRUE(kinds.contains(Event::kSessionCreated));
}

TEST_F(FiltersTest, EventKinds) {
  ASSERT_NO_FATAL_FAILURE(MakeTurns());
  request_.add_event_kinds(api::EVENT_KIND_TURN_QUEUED);
  request_.add_event_kinds(api::EVENT_KIND_TURN_ENDED);
  EXPECT_THAT(KindsOf(Replay(request_)), ElementsAre(Event::kTurnQueued, Event::kTurnEnded,
                                                     Event::kTurnQueued, Event::kTurnEnded));
  request_.add_event_kinds(api::EVENT_KIND_SESSION_UPDATE);
  request_.add_update_kinds("agent_message_chunk");
  EXPECT_THAT(KindsOf(Replay(request_)),
              ElementsAre(Event::kTurnQueued, Event::kSessionUpdate, Event::kTurnEnded,
                          Event::kTurnQueued, Event::kSessionUpdate, Event::kTurnEnded));
}

TEST_F(FiltersTest, AFilteredReadersCursorMovesToo) {
  ASSERT_NO_FATAL_FAILURE(MakeTurns());
  request_.add_event_kinds(api::EVENT_KIND_SESSION_CREATED);
  const auto stream = client().Subscribe(request_);
  ASSERT_TRUE(stream->WaitForEnd());
  EXPECT_EQ(stream->Stored().size(), 1u);
  const uint64_t reached = stream->Events().back().position();
  EXPECT_EQ(reached, EventsOf(session_id_).back().position());
}

TEST_F(FiltersTest, OneTurn) {
  ASSERT_NO_FATAL_FAILURE(MakeTurns());
  request_.set_turn_id(turn_ids_[1]);
  const std::vector<Event> events = Replay(request_);
  ASSERT_FALSE(events.empty());
  for (const Event& event : events) EXPECT_EQ(event.turn_id(), turn_ids_[1]);
  EXPECT_TRUE(events.front().has_turn_queued());
  EXPECT_TRUE(events.back().has_turn_ended());
  request_.set_turn_id("no-such-turn");
  const auto stream = client().Subscribe(request_);
  ASSERT_TRUE(stream->WaitForEnd());
  EXPECT_EQ(stream->WaitForEnd()->error_code(), Code::NOT_FOUND);
  EXPECT_EQ(stream->Trailer("acpd-reason"), "TURN_NOT_FOUND");
}

TEST_F(FiltersTest, OmitJsonLeavesTheTypedFields) {
  ASSERT_NO_FATAL_FAILURE(MakeTurns());
  const auto updates = [&] {
    std::vector<api::SessionUpdate> found;
    for (const Event& event : Replay(request_)) {
      if (event.has_session_update()) found.push_back(event.session_update());
    }
    return found;
  };
  const auto whole = updates();
  request_.set_omit_json(true);
  const auto lean = updates();
  ASSERT_EQ(whole.size(), 6u);
  ASSERT_EQ(lean.size(), whole.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_FALSE(whole[i].json().empty());
    EXPECT_EQ(lean[i].text(), whole[i].text());
    EXPECT_EQ(lean[i].kind(), whole[i].kind());
    if (!whole[i].text().empty()) {
      EXPECT_EQ(lean[i].json(), "");
    }
  }
}

TEST_F(FiltersTest, LabelsInProjectScope) {
  StartDaemon();
  std::map<std::string, std::string> sessions;
  for (const char* team : {"red", "blue"}) {
    api::ChatRequest chat = ChatOf(kProject, "", "hello", api::WAIT_FOR_FINISHED);
    (*chat.mutable_labels())["team"] = team;
    sessions[team] = client().Chat(chat).response.session_id();
  }
  request_.set_project_id(kProject);
  request_.set_after_position(0);
  request_.set_replay_only(true);
  (*request_.mutable_labels())["team"] = "blue";
  const std::vector<Event> events = Replay(request_);
  ASSERT_FALSE(events.empty());
  for (const Event& event : events) EXPECT_EQ(event.session_id(), sessions["blue"]);
  request_.clear_replay_only();
  const auto live = client().Subscribe(request_);
  ASSERT_TRUE(live->WaitFor(HasCaughtUp()));
  client().Say(kProject, sessions["red"], "not shown");
  const auto shown = client().Say(kProject, sessions["blue"], "shown");
  ASSERT_TRUE(live->WaitFor(EndOf(shown.response.turn_id())));
  EXPECT_EQ(TextOf(live->Stored()), "helloshown");
}

TEST_F(FiltersTest, ProjectsAndEverything) {
  StartDaemon();
  const auto a = client().Say(kProject, "", "one"), b = client().Say("other", "", "two");
  ASSERT_TRUE(a.ok() && b.ok());
  request_.set_project_id("other");
  request_.set_after_position(0);
  request_.set_replay_only(true);
  EXPECT_EQ(TextOf(Replay(request_)), "two");
  request_.set_everything(true);
  EXPECT_EQ(TextOf(Replay(request_)), "onetwo");
  // A project that nobody has named yet can be watched.
  request_.Clear();
  request_.set_project_id("to-come");
  const auto live = client().Subscribe(request_);
  ASSERT_TRUE(live->WaitFor(HasCaughtUp()));
  const auto c = client().Say("to-come", "", "three");
  ASSERT_TRUE(live->WaitFor(EndOf(c.response.turn_id())));
  EXPECT_EQ(TextOf(live->Stored()), "three");
  EXPECT_EQ(live->Stored().front().seq(), 1u);
}

TEST_F(FiltersTest, UntilTurnEndsBehindItsEnd) {
  StartDaemon();
  const api::ChatResponse running = BeginAt("hold");
  const std::string next = Accept(running.session_id(), Steps(Say("next")));
  request_.set_session_id(running.session_id());
  request_.set_after_seq(0);
  request_.set_until_turn_id(running.turn_id());
  const auto stream = client().Subscribe(request_);
  ASSERT_TRUE(stream->WaitFor(HasCaughtUp()));
  barriers().Release("hold");
  const auto end = stream->WaitForEnd();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->ok()) << end->error_message();
  EXPECT_TRUE(EndOf(running.turn_id())(stream->Events().back()));
  // Ended before the cursor: what was stored till then, and the end.
  WaitForTurn(next);
  request_.set_after_seq(EventsOf(running.session_id()).back().seq());
  const auto late = client().Subscribe(request_);
  ASSERT_TRUE(late->WaitForEnd());
  EXPECT_TRUE(late->WaitForEnd()->ok());
  EXPECT_TRUE(late->Events().back().has_caught_up());
  request_.set_until_turn_id("no-such-turn");
  const auto unknown = client().Subscribe(request_);
  ASSERT_TRUE(unknown->WaitForEnd());
  EXPECT_EQ(unknown->Trailer("acpd-reason"), "TURN_NOT_FOUND");
}

}  // namespace
}  // namespace acpd::e2e
