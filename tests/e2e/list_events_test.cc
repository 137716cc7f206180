// ListEvents of a real acpd: a session's history while it is made, after a restart, of sessions
// that were replaced or deleted.

#include <algorithm>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class HistoryTest : public TurnsTest {
 protected:
  static api::ListEventsRequest History(const std::string& session_id, bool coalesce = false,
                                        bool descending = false) {
    api::ListEventsRequest request;
    request.set_session_id(session_id);
    request.set_coalesce(coalesce);
    request.set_descending(descending);
    return request;
  }
  std::vector<Event> List(api::ListEventsRequest request) {
    std::vector<Event> events;
    do {
      const auto page = client().Call(&Client::Stub::ListEvents, request);
      EXPECT_TRUE(page.ok()) << page.ToString();
      EXPECT_EQ(page.trailers.count("acpd-session-id"), 1u);
      events.insert(events.end(), page.response.events().begin(), page.response.events().end());
      request.set_page_token(page.response.next_page_token());
    } while (!request.page_token().empty());
    return events;
  }
  static std::vector<std::string> Bytes(const std::vector<Event>& events) {
    std::vector<std::string> bytes;
    for (const Event& event : events) bytes.push_back(event.SerializeAsString());
    return bytes;
  }
  static std::vector<std::string> Texts(const std::vector<Event>& events) {
    std::vector<std::string> texts;
    for (const Event& event : events) {
      if (!event.session_update().text().empty()) texts.push_back(event.session_update().text());
    }
    return texts;
  }
};

TEST_F(HistoryTest, IsWhatAStreamHasSent) {
  StartDaemon();
  const auto chat = client().Say(kProject, "", Scripted(Steps(Step("burst", json{1500, 30}))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string id = chat.response.session_id();
  client().Say(kProject, id, "hello");
  std::vector<Event> sent = EventsOf(id);
  ASSERT_GT(sent.size(), 1500u);
  for (const int page_size : {0, 37, 500}) {
    api::ListEventsRequest request = History(id);
    request.set_page_size(page_size);
    EXPECT_EQ(Bytes(List(request)), Bytes(sent)) << page_size;
  }
  std::vector<Event> backwards = List(History(id, false, true));
  std::reverse(backwards.begin(), backwards.end());
  EXPECT_EQ(Bytes(backwards), Bytes(sent));
  RestartDaemon();
  api::ListEventsRequest old_session = History(id);
  old_session.set_before_seq(sent.back().seq() + 1);  // behind it acpd's end closed the session
  EXPECT_EQ(Bytes(List(old_session)), Bytes(sent));
}

TEST_F(HistoryTest, WhatAMessageSaysWhileItIsSaid) {
  StartDaemon();
  const json usage = {{"sessionUpdate", "usage_update"}, {"used", 1}, {"size", 2}};
  const api::ChatResponse running = BeginAt("begin");
  const std::string id = running.session_id();
  barriers().Release("begin");
  const std::string turn = Accept(
      id, Steps(Say("one "), Say("two "), Step("update", usage), Barrier("middle"), Say("three"),
                Step("update", json{{"sessionUpdate", "plan"}, {"entries", json::array()}}),
                Say("four")));
  ASSERT_TRUE(barriers().WaitReached("middle"));
  ASSERT_TRUE(WaitUntil([&] { return !Texts(List(History(id, true))).empty(); }));
  ASSERT_TRUE(WaitUntil([&] { return Texts(List(History(id, true))).back() == "one two "; }));
  const std::vector<Event> so_far = List(History(id, true));
  api::ListEventsRequest rest = History(id, true);
  rest.set_after_seq(so_far.back().seq());
  barriers().Release("middle");
  ASSERT_EQ(WaitForTurn(turn).state(), api::TURN_STATE_ENDED);
  EXPECT_THAT(Texts(List(rest)), ElementsAre("three", "four"));
  EXPECT_THAT(Texts(List(History(id, true))), testing::IsSupersetOf({"one two three", "four"}));
  std::vector<Event> backwards = List(History(id, true, true));
  std::reverse(backwards.begin(), backwards.end());
  EXPECT_EQ(Bytes(backwards), Bytes(List(History(id, true))));
}

// Cut into parts on its way, and whole again.
TEST_F(HistoryTest, ALargeChunk) {
  StartDaemon();
  std::string large;
  for (int i = 0; large.size() < 1'600'000; ++i) large += std::to_string(i) + "\n\"\xe2\x82\xac";
  large.resize(large.rfind('\n'));
  const auto chat = client().Say(kProject, "", Scripted(Steps(Say(large), Say(" and more"))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string id = chat.response.session_id();
  ASSERT_GT(Texts(List(History(id))).size(), 2u) << "it was split";
  for (const bool descending : {false, true}) {
    const std::vector<Event> events = List(History(id, true, descending));
    ASSERT_THAT(Texts(events), SizeIs(1));
    EXPECT_TRUE(Texts(events)[0] == large + " and more");
    for (const Event& event : events) EXPECT_EQ(event.session_update().parts(), 0u);
  }
}

TEST_F(HistoryTest, FiltersAsStreamsHaveThem) {
  StartDaemon();
  const auto chat = client().Say(kProject, "", "hello");
  api::ListEventsRequest request = History(chat.response.session_id());
  request.add_event_kinds(api::EVENT_KIND_TURN_QUEUED);
  request.add_event_kinds(api::EVENT_KIND_TURN_ENDED);
  EXPECT_THAT(KindsOf(List(request)), ElementsAre(Event::kTurnQueued, Event::kTurnEnded));
  request.add_event_kinds(api::EVENT_KIND_SESSION_UPDATE);
  request.add_update_kinds("no such kind");
  EXPECT_THAT(KindsOf(List(request)), ElementsAre(Event::kTurnQueued, Event::kTurnEnded));
}

TEST_F(HistoryTest, AReplacedSessionHasItsOwnLog) {
  json script = json::object();
  script["session/resume"] = Steps(Error(-32002, "Resource not found"));
  UseScript(script);
  StartDaemon();
  const std::string old_id = MakeDormant();
  const auto chat = client().Say(kProject, old_id, "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::vector<Event> old_events = List(History(old_id));
  ASSERT_FALSE(old_events.empty());
  EXPECT_EQ(old_events.back().event_case(), Event::kSessionReplaced);
  for (const Event& event : old_events) EXPECT_EQ(event.session_id(), old_id);
  const std::vector<Event> new_events = List(History(chat.response.session_id()));
  EXPECT_EQ(new_events.front().event_case(), Event::kSessionCreated);
  EXPECT_EQ(new_events.back().event_case(), Event::kTurnEnded);
}

TEST_F(HistoryTest, SessionsThatAreNotThere) {
  StartDaemon();
  const auto refused = [&](const std::string& id) {
    const auto page = client().Call(&Client::Stub::ListEvents, History(id));
    EXPECT_EQ(page.trailers.count("acpd-reason"), 1u) << page.ToString();
    return page.reason();
  };
  EXPECT_EQ(refused("nobody"), "SESSION_NOT_FOUND");
  EXPECT_EQ(refused(""), "INVALID_SESSION_ID");
  EXPECT_EQ(refused("a/b"), "INVALID_SESSION_ID");
  const auto chat = client().Say(kProject, "", "hello");
  const std::string id = chat.response.session_id();
  api::ListEventsRequest request = History(id);
  request.set_page_size(1);
  const auto page = client().Call(&Client::Stub::ListEvents, request);
  api::DeleteSessionRequest remove;
  remove.set_session_id(id);
  ASSERT_TRUE(client().Call(&Client::Stub::DeleteSession, remove).ok());
  EXPECT_EQ(refused(id), "SESSION_NOT_FOUND");
  request.set_page_token(page.response.next_page_token());
  EXPECT_EQ(client().Call(&Client::Stub::ListEvents, request).reason(), "SESSION_NOT_FOUND")
      << "in the middle of its pages";
}

TEST_F(HistoryTest, ASessionThatHasSaidNothing) {
  StartDaemon();
  api::CreateSessionRequest create;
  create.mutable_setup()->set_project_id(kProject);
  const auto made = client().Call(&Client::Stub::CreateSession, create);
  ASSERT_TRUE(made.ok()) << made.ToString();
  api::ListEventsRequest request = History(made.response.session_id());
  EXPECT_EQ(Bytes(List(request)), Bytes(EventsOf(made.response.session_id())));
  request.add_event_kinds(api::EVENT_KIND_TURN_ENDED);
  EXPECT_THAT(List(request), IsEmpty());
}

// A client with gRPC's own limit on answers.
TEST_F(HistoryTest, PagesOfLargeEventsCanBeReceived) {
  StartDaemon();
  const json tool = {{"sessionUpdate", "tool_call"},
                     {"toolCallId", "t"},
                     {"title", "x"},
                     {"rawOutput", std::string(900'000, 'x')}};
  json steps = json::array();
  for (int i = 0; i < 6; ++i) steps.push_back(Step("update", tool));
  const auto chat = client().Say(kProject, "", Scripted(steps));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  api::ListEventsRequest request = History(chat.response.session_id());
  request.add_update_kinds("tool_call");
  request.add_event_kinds(api::EVENT_KIND_SESSION_UPDATE);
  EXPECT_THAT(List(request), SizeIs(6));
  const auto page = client().Call(&Client::Stub::ListEvents, request);
  EXPECT_THAT(page.response.events(), SizeIs(2));
  EXPECT_FALSE(page.response.next_page_token().empty());
}

}  // namespace
}  // namespace acpd::e2e
