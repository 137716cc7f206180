// ListEvents with coalesce: what a message is, and where pages end.
#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "tests/server/list_events_harness.h"

namespace acpd::server {
namespace {

using ::testing::ElementsAre;
using ::testing::Le;
using ::testing::SizeIs;

TestEvent MessageChunk(const std::string& text, const std::string& message_id = "",
                       const std::string& turn_id = "turn") {
  TestUpdate update;
  update.text = text;
  update.message_id = message_id;
  return UpdateOf(update, turn_id);
}

TestEvent SplitPart(uint32_t part, uint32_t parts, const std::string& text) {
  TestUpdate update;
  update.text = text;
  update.part = part;
  update.parts = parts;
  return UpdateOf(update, "turn");
}

class JoinedEventsTest : public ListEventsTest {
 protected:
  std::string Forwards(v1::ListEventsRequest request = Joined("s")) { return Lines(All(request)); }
  std::string Backwards(v1::ListEventsRequest request = Joined("s")) {
    request.set_descending(true);
    return Lines(Reversed(All(request)));
  }
};

TEST_F(JoinedEventsTest, AMessageIsOneEvent) {
  store_.Append("s", {TurnEnd("before"), MessageChunk("one, ", "m"), MessageChunk("two ", "m")});
  store_.Append("s",
                {MessageChunk("and three", "m"), TurnEnd("turn"), MessageChunk("alone", "m2")});
  for (const bool descending : {false, true}) {
    const EventList events = All(Joined("s", descending));
    ASSERT_EQ(Lines(descending ? Reversed(events) : events),
              "turn_ended@1 one, two and three@4 turn_ended@5 alone@6 ");
    v1::ProgressEvent joined = Log("s")[3];  // all but text and json
    joined.mutable_session_update()->set_text("one, two and three");
    joined.mutable_session_update()->clear_json();
    EXPECT_EQ(events[descending ? 2 : 1].DebugString(), joined.DebugString());
    EXPECT_EQ(events[descending ? 0 : 3].session_update().json(), "") << "also of a single chunk";
  }
  EXPECT_EQ(All(Plain("s"))[1].session_update().json(), R"({"some":"json"})");
}

// What the last event's seq is good for.
TEST_F(JoinedEventsTest, AfterSeqGoesOnBehindAMessage) {
  store_.Append("s", {MessageChunk("a"), MessageChunk("b")});
  EXPECT_EQ(Forwards(), "ab@2 ") << "as far as it was said";
  store_.Append("s", {MessageChunk("c"), MessageChunk("d"), TurnEnd("turn")});
  v1::ListEventsRequest rest = Joined("s");
  rest.set_after_seq(2);
  EXPECT_EQ(Forwards(rest), "cd@4 turn_ended@5 ");
  rest.set_before_seq(4);
  EXPECT_EQ(Forwards(rest), "c@3 ") << "within the bounds";
  EXPECT_EQ(Backwards(rest), "c@3 ");
}

TEST_F(JoinedEventsTest, WhatEndsAMessage) {
  const auto with = [](auto change) {
    TestUpdate update;
    update.text = "b";
    change(update);
    return UpdateOf(update, "turn");
  };
  const std::pair<const char*, TestEvent> others[] = {
      {"kind", with([](auto& update) { update.kind = "agent_thought_chunk"; })},
      {"message_id", with([](auto& update) { update.message_id = "other"; })},
      {"replayed", with([](auto& update) { update.replayed = true; })},
      {"turn", MessageChunk("b", "", "another turn")},
      {"no text", with([](auto& update) { update.text = ""; })},
      {"tool_call", OtherUpdate("tool_call")},
      {"tool_call_update", OtherUpdate("tool_call_update")},
      {"plan", OtherUpdate("plan")},
      {"unknown", OtherUpdate("a kind of tomorrow")},
      {"turn_ended", TurnEnd("turn")},
      {"turn_started", Of(session::TurnStartedEvent(), "turn")},
      {"permission", Of(session::PermissionRequestedEvent(), "turn")},
      {"resolved", Of(session::QuestionResolvedEvent(), "turn")},
      {"ready", Of(session::SessionReadyEvent())},
      {"exited", Of(session::WorkerExitedEvent())},
  };
  int sessions = 0;
  for (const auto& [name, other] : others) {
    const std::string session = "s-" + std::to_string(++sessions);
    store_.Append(session, {MessageChunk("a"), MessageChunk("a"), other, MessageChunk("c"),
                            MessageChunk("c")});
    const EventList events = All(Joined(session));
    EXPECT_THAT(events, SizeIs(3)) << name << ": " << Lines(events);
    EXPECT_EQ(Bytes(All(Joined(session, true))), Bytes(Reversed(events))) << name;
    // Also where it is filtered out.
    v1::ListEventsRequest filtered = Joined(session);
    filtered.add_update_kinds("agent_message_chunk");
    filtered.add_event_kinds(v1::EVENT_KIND_SESSION_UPDATE);
    EXPECT_THAT(All(filtered).size(), testing::AnyOf(2u, 3u)) << name;
    EXPECT_THAT(Lines(All(filtered)),
                testing::AllOf(testing::HasSubstr("aa@2 "), testing::HasSubstr("cc@5 ")))
        << name;
  }
}

TEST_F(JoinedEventsTest, WhatMayStandWithinAMessage) {
  const std::pair<const char*, TestEvent> asides[] = {
      {"usage_update", OtherUpdate("usage_update")},
      {"session_info_update", OtherUpdate("session_info_update")},
      {"available_commands_update", OtherUpdate("available_commands_update")},
      {"current_mode_update", OtherUpdate("current_mode_update")},
      {"config_option_update", OtherUpdate("config_option_update")},
      {"turn_queued", Of(session::TurnQueuedEvent(), "another turn")},
      {"session_changed", Of(session::SessionChangedEvent())},
      {"notice", Of(session::NoticeEvent())},
  };
  for (const auto& [name, aside] : asides) {
    const std::string session = std::string("s-") + name;
    store_.Append(session, {aside, MessageChunk("a"), aside, aside, MessageChunk("b"), aside,
                            MessageChunk("c"), aside});
    EXPECT_EQ(Lines(All(Joined(session))), std::string(name) + "@1 " + name + "@3 " + name + "@4 " +
                                               name + "@6 abc@7 " + name + "@8 ");
    EXPECT_EQ(Bytes(All(Joined(session, true))), Bytes(Reversed(All(Joined(session))))) << name;
    v1::ListEventsRequest filtered = Joined(session);
    filtered.add_update_kinds("agent_message_chunk");
    filtered.add_event_kinds(v1::EVENT_KIND_SESSION_UPDATE);
    EXPECT_EQ(Forwards(filtered), "abc@7 ") << name;
    EXPECT_EQ(Backwards(filtered), "abc@7 ") << name;
    // Each behind the last message ends no page early.
    v1::ListEventsRequest small = Joined(session);
    small.set_page_size(4);
    const std::vector<EventList> pages = Pages(small);
    ASSERT_THAT(pages, SizeIs(3)) << name;
    EXPECT_EQ(Lines(pages[1]), std::string(name) + "@3 " + name + "@4 " + name + "@6 abc@7 ");
  }
}

TEST_F(JoinedEventsTest, PagesEndBetweenMessages) {
  for (const std::string message : {"a", "b", "c", "d", "e"}) {
    store_.Append("s", {MessageChunk(message, message), MessageChunk(message, message)});
    store_.Append("s", {MessageChunk(message, message)});
  }
  for (const int size : {1, 2, 3, 5, 6}) {
    v1::ListEventsRequest request = Joined("s");
    request.set_page_size(size);
    EXPECT_EQ(Forwards(request), "aaa@3 bbb@6 ccc@9 ddd@12 eee@15 ") << size;
    EXPECT_EQ(Backwards(request), "aaa@3 bbb@6 ccc@9 ddd@12 eee@15 ") << size;
    EXPECT_THAT(Pages(request), SizeIs((5 + size - 1) / size)) << size;
  }
}

TEST_F(JoinedEventsTest, AMessageThatDoesNotFitHasTheNextPage) {
  for (const std::string message : {"a", "b", "c"}) {
    for (int i = 0; i < 10; ++i) {
      store_.Append("s", {MessageChunk(std::string(150'000, message[0]), message)});
    }
  }
  for (const bool descending : {false, true}) {
    const std::vector<EventList> pages = Pages(Joined("s", descending));
    ASSERT_THAT(pages, SizeIs(3));
    for (const EventList& page : pages) {
      ASSERT_THAT(page, SizeIs(1));
      EXPECT_EQ(page[0].session_update().text().size(), 1'500'000u);
    }
  }
}

TEST_F(JoinedEventsTest, OnlyAMessageOfMoreThanAPageIsCut) {
  store_.Append("s", {TurnEnd("before")});
  std::string whole;
  for (int i = 0; i < 50; ++i) {
    const std::string text =
        std::to_string(i) + std::string(100'000, static_cast<char>('a' + i % 26));
    store_.Append("s", {MessageChunk(text, "m")});
    whole += text;
  }
  store_.Append("s", {TurnEnd("turn")});
  for (const bool descending : {false, true}) {
    std::vector<EventList> pages = Pages(Joined("s", descending));
    ASSERT_THAT(pages, SizeIs(4)) << "5 MB, and what is before or behind it";
    EXPECT_THAT(pages[0], SizeIs(1)) << "it does not begin in a page that has something";
    EventList all;
    for (const EventList& page : pages) {
      size_t bytes = 0;
      for (const v1::ProgressEvent& event : page) bytes += event.ByteSizeLong();
      EXPECT_THAT(bytes, Le(2u << 20));
      all.insert(all.end(), page.begin(), page.end());
    }
    if (descending) std::reverse(all.begin(), all.end());
    std::string text;
    for (const v1::ProgressEvent& event : all) text += event.session_update().text();
    EXPECT_TRUE(text == whole);
    EXPECT_TRUE(all.front().has_turn_ended() && all.back().has_turn_ended());
  }
}

TEST_F(JoinedEventsTest, AMessageWithMoreWithinThanAPageIsCut) {
  store_.Append("s", {MessageChunk("a"), OtherUpdate("usage_update"), MessageChunk("b"),
                      OtherUpdate("usage_update"), MessageChunk("c"), MessageChunk("d")});
  v1::ListEventsRequest request = Joined("s");
  request.set_page_size(3);
  EXPECT_EQ(Forwards(request), "usage_update@2 usage_update@4 abcd@6 ");
  EXPECT_EQ(Backwards(request), "usage_update@2 usage_update@4 abcd@6 ");
  request.set_page_size(2);
  EXPECT_EQ(Forwards(request), "usage_update@2 ab@3 usage_update@4 cd@6 ");
  EXPECT_EQ(Backwards(request), "a@1 usage_update@2 usage_update@4 bcd@6 ");
  request.set_page_size(1);
  EXPECT_EQ(Forwards(request), "a@1 usage_update@2 b@3 usage_update@4 cd@6 ");
  EXPECT_EQ(Backwards(request), "a@1 usage_update@2 b@3 usage_update@4 cd@6 ");
}

// Little text in much of the log.
TEST_F(JoinedEventsTest, AMessageOfMoreLogThanAPageTakesIsCut) {
  TestUpdate update;
  update.json = std::string(200'000, 'j');
  for (int i = 0; i < 100; ++i) {
    update.text = static_cast<char>('a' + i % 26);
    store_.Append("s", {UpdateOf(update, "turn")});
  }
  for (const bool descending : {false, true}) {
    EventList events = All(Joined("s", descending));
    EXPECT_THAT(events, SizeIs(3)) << "20 MB";
    if (descending) std::reverse(events.begin(), events.end());
    std::string text;
    for (const v1::ProgressEvent& event : events) text += event.session_update().text();
    ASSERT_EQ(text.size(), 100u);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(text[i], 'a' + i % 26);
    EXPECT_EQ(events.back().seq(), 100u);
  }
}

TEST_F(JoinedEventsTest, ASplitChunkIsWholeAgain) {
  // Its JSON has more parts than its text.
  store_.Append(
      "s", {MessageChunk("x"), SplitPart(1, 4, "on"), SplitPart(2, 4, "e"), SplitPart(3, 4, ""),
            SplitPart(4, 4, ""), MessageChunk("y"), TurnEnd("turn")});
  // An image has no text.
  store_.Append("s", {MessageChunk("x"), SplitPart(1, 3, ""), SplitPart(2, 3, ""),
                      SplitPart(3, 3, ""), MessageChunk("y")});
  const std::string expected =
      "xoney@6 turn_ended@7 x@8 agent_message_chunk@9 agent_message_chunk@10 "
      "agent_message_chunk@11 y@12 ";
  EXPECT_EQ(Forwards(), expected);
  EXPECT_EQ(Backwards(), expected);
  v1::ListEventsRequest alone = Joined("s");
  alone.set_after_seq(1);
  alone.set_before_seq(6);
  for (const bool descending : {false, true}) {
    alone.set_descending(descending);
    const EventList whole = All(alone);
    ASSERT_EQ(Lines(whole), "one@5 ");
    EXPECT_EQ(whole[0].session_update().parts(), 0u);
    EXPECT_EQ(whole[0].session_update().part(), 0u);
    EXPECT_EQ(whole[0].session_update().json(), "");
  }
  const EventList image = All(Joined("s"));
  EXPECT_EQ(image[4].session_update().part(), 2u);
  EXPECT_EQ(image[4].session_update().json(), R"({"some":"json"})") << "as it is";
  // A bound within the image: parts whose first is not to be seen.
  v1::ListEventsRequest end = Joined("s");
  end.set_after_seq(9);
  EXPECT_EQ(Forwards(end), "agent_message_chunk@10 agent_message_chunk@11 y@12 ");
  EXPECT_EQ(Backwards(end), "agent_message_chunk@10 agent_message_chunk@11 y@12 ");
}

// ---- Against a second implementation, over logs and requests made up at random.

bool IsTextEvent(const v1::ProgressEvent& event) {
  const std::string& kind = event.session_update().kind();
  return kind == "agent_message_chunk" || kind == "agent_thought_chunk" ||
         kind == "user_message_chunk";
}

bool IsAsideEvent(const v1::ProgressEvent& event) {
  const std::string& kind = event.session_update().kind();
  return event.has_notice() || event.has_turn_queued() || event.has_session_changed() ||
         kind == "usage_update" || kind == "session_info_update";
}

bool BelongTogether(const v1::ProgressEvent& a, const v1::ProgressEvent& b) {
  const auto key = [](const v1::ProgressEvent& event) {
    const v1::SessionUpdate& update = event.session_update();
    return std::tuple(update.kind(), update.message_id(), update.replayed(), event.turn_id());
  };
  return key(a) == key(b);
}

// The whole log with its messages joined, in order.
EventList JoinAll(const EventList& log) {
  EventList joined;
  std::optional<v1::ProgressEvent> message;
  EventList within;  // and behind it
  const auto close = [&] {
    if (message) within.push_back(*message);
    std::sort(within.begin(), within.end(),
              [](const auto& a, const auto& b) { return a.seq() < b.seq(); });
    joined.insert(joined.end(), within.begin(), within.end());
    message.reset();
    within.clear();
  };
  const v1::ProgressEvent* last = nullptr;
  for (const v1::ProgressEvent& event : log) {
    const v1::SessionUpdate& update = event.session_update();
    const bool goes_on = last != nullptr && IsTextEvent(event) && update.part() > 1 && message &&
                         message->seq() == last->seq() &&
                         last->session_update().part() + 1 == update.part();
    last = &event;
    if (IsTextEvent(event) && (!update.text().empty() || goes_on)) {
      std::string text;
      if (message && BelongTogether(*message, event)) {
        text = message->session_update().text();
      } else {
        close();
      }
      message = event;
      v1::SessionUpdate* whole = message->mutable_session_update();
      whole->set_text(text + update.text());
      whole->clear_json();
      whole->clear_part();
      whole->clear_parts();
    } else if (IsAsideEvent(event)) {
      within.push_back(event);
    } else {
      close();
      joined.push_back(event);
    }
  }
  close();
  return joined;
}

class AnyLog {
 public:
  explicit AnyLog(uint32_t seed) : dice_(seed) {}

  int Roll(int sides) { return std::uniform_int_distribution<int>(0, sides - 1)(dice_); }
  template <class T, size_t n>
  const T& Pick(const T (&choices)[n]) {
    return choices[Roll(n)];
  }
  std::vector<TestEvent> Record() {
    std::vector<TestEvent> events;
    for (int i = Roll(12); i >= 0; --i) AddTo(events);
    return events;
  }

 private:
  void AddTo(std::vector<TestEvent>& events) {
    static const std::string kKinds[] = {"agent_message_chunk", "agent_message_chunk",
                                         "agent_message_chunk", "agent_thought_chunk",
                                         "user_message_chunk"};
    static const std::string kOthers[] = {"usage_update", "session_info_update", "usage_update",
                                          "tool_call", "plan"};
    static const std::string kTurns[] = {"t1", "t1", "t1", "t2"};
    static const std::string kIds[] = {"", "", "m1"};
    const int what = Roll(20);
    TestUpdate update;
    if (what < 14) {
      // A few in a row, so that there are messages.
      update.kind = Pick(kKinds);
      update.message_id = Pick(kIds);
      update.replayed = Roll(9) == 0;
      const std::string turn = Pick(kTurns);
      for (int i = Roll(5); i >= 0; --i) {
        update.text = Roll(12) == 0 ? "" : std::string(Roll(30) + 1, 'a' + Roll(26));
        update.json = std::string(Roll(300), 'j');
        events.push_back(UpdateOf(update, turn));
      }
    } else if (what == 14) {
      update.parts = 2 + Roll(3);
      const uint32_t with_text = Roll(static_cast<int>(update.parts) + 1);
      for (update.part = 1; update.part <= update.parts; ++update.part) {
        update.text = update.part <= with_text ? "part" : "";
        events.push_back(UpdateOf(update, "t1"));
      }
    } else if (what == 15) {
      events.push_back(TurnEnd("t1"));
    } else if (what == 16) {
      events.push_back(Of(session::NoticeEvent()));
    } else {
      events.push_back(OtherUpdate(Pick(kOthers)));
    }
  }

  std::mt19937 dice_;
};

class AnyLogTest : public JoinedEventsTest {
 protected:
  // What the request asks for, of the whole log.
  static EventList Reference(const EventList& log, const v1::ListEventsRequest& request) {
    EventList events;
    for (const v1::ProgressEvent& event : log) {
      const bool before = request.before_seq() == 0 || event.seq() < request.before_seq();
      if (event.seq() > request.after_seq() && before) events.push_back(event);
    }
    if (request.coalesce()) events = JoinAll(events);
    std::erase_if(events, [&](const v1::ProgressEvent& event) {
      const auto& kinds = request.event_kinds();
      const auto& updates = request.update_kinds();
      const bool of_kind = kinds.empty() || std::count(kinds.begin(), kinds.end(),
                                                       static_cast<int>(event.event_case())) > 0;
      const bool of_update =
          updates.empty() || !event.has_session_update() ||
          std::count(updates.begin(), updates.end(), event.session_update().kind()) > 0;
      return !of_kind || !of_update;
    });
    return request.descending() ? Reversed(events) : events;
  }
  // Pages of another size each time.
  EventList AnyPages(v1::ListEventsRequest request, AnyLog& any, int least, int most) {
    EventList all;
    int pages = 0;
    do {
      request.set_page_size(least + any.Roll(most - least + 1));
      const v1::ListEventsResponse page = Page(request);
      EXPECT_LE(page.events_size(), request.page_size());
      all.insert(all.end(), page.events().begin(), page.events().end());
      request.set_page_token(page.next_page_token());
    } while (!request.page_token().empty() && ++pages < 10'000);
    return all;
  }
};

TEST_F(AnyLogTest, PagesOfAnySizeAndFilterAreWhatTheWholeLogSays) {
  constexpr int kLogs = 12, kRecords = 25, kRequests = 25;
  for (uint32_t seed = 1; seed <= kLogs; ++seed) {
    AnyLog any(seed);
    const std::string session = "s" + std::to_string(seed);
    for (int i = 0; i < kRecords; ++i) store_.Append(session, any.Record());
    const EventList log = Log(session);
    const int end = static_cast<int>(log.size());
    size_t most_within = 1;  // a message with what stands within it
    for (size_t i = 0, run = 1; i < log.size(); ++i) {
      run = IsAsideEvent(log[i]) || IsTextEvent(log[i]) ? run + 1 : 1;
      most_within = std::max(most_within, run);
    }
    for (int i = 0; i < kRequests; ++i) {
      v1::ListEventsRequest request = Plain(session);
      request.set_descending(any.Roll(2) == 1);
      request.set_coalesce(any.Roll(4) != 0);
      if (any.Roll(3) == 0) request.set_after_seq(any.Roll(end));
      if (any.Roll(3) == 0) request.set_before_seq(1 + any.Roll(end));
      if (any.Roll(3) == 0) request.add_update_kinds("agent_message_chunk");
      if (any.Roll(5) == 0) request.add_update_kinds("usage_update");
      if (any.Roll(4) == 0) request.add_event_kinds(v1::EVENT_KIND_SESSION_UPDATE);
      if (any.Roll(6) == 0) request.add_event_kinds(v1::EVENT_KIND_TURN_ENDED);
      // With room for the largest message, so that none is cut.
      const int least = request.coalesce() ? static_cast<int>(most_within) : 1;
      ASSERT_EQ(Lines(AnyPages(request, any, least, least + 40)), Lines(Reference(log, request)))
          << seed << ": " << request.ShortDebugString();
    }
    // In small pages messages are cut; joined once more they are what they were.
    for (const bool descending : {false, true}) {
      EventList events = AnyPages(Joined(session, descending), any, 1, 3);
      if (descending) std::reverse(events.begin(), events.end());
      EXPECT_TRUE(std::is_sorted(events.begin(), events.end(), [](const auto& a, const auto& b) {
        return a.seq() < b.seq();
      })) << seed;
      ASSERT_EQ(Bytes(JoinAll(events)), Bytes(JoinAll(log))) << seed << descending;
    }
  }
}

}  // namespace
}  // namespace acpd::server
