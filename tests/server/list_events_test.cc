// ListEvents without joining: pages, filters, limits and errors.
#include <gmock/gmock.h>

#include "tests/server/list_events_harness.h"

namespace acpd::server {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ListedEventsTest : public ListEventsTest {
 protected:
  // Commits `count` updates in records of several sizes, each with `padding` bytes of JSON.
  void Fill(const std::string& session_id, int count, size_t padding = 0) {
    for (int made = 0, record = 1; made < count; record = record % 17 + 1) {
      std::vector<TestEvent> events;
      for (; static_cast<int>(events.size()) < record && made < count; ++made) {
        TestUpdate update;
        update.text = "t" + std::to_string(made);
        update.json.append(padding, 'x');
        events.push_back(UpdateOf(update, "turn"));
      }
      store_.Append(session_id, events);
    }
  }
  // The numbers of events of each page.
  std::vector<size_t> Sizes(const v1::ListEventsRequest& request) {
    std::vector<size_t> sizes;
    for (const EventList& page : Pages(request)) sizes.push_back(page.size());
    return sizes;
  }
};

TEST_F(ListedEventsTest, PagesForwardsAndBackwardsAreTheWholeLog) {
  Fill("s", 700);
  Fill("other", 20);
  const EventList log = Log("s");
  ASSERT_THAT(log, SizeIs(700));
  for (const int size : {0, 1, 7, 100, 500}) {
    v1::ListEventsRequest request = Plain("s");
    request.set_page_size(size);
    EXPECT_EQ(Bytes(All(request)), Bytes(log)) << size;
    request.set_descending(true);
    EXPECT_EQ(Bytes(All(request)), Bytes(Reversed(log))) << size;
  }
}

TEST_F(ListedEventsTest, PageSizes) {
  Fill("s", 1050);
  v1::ListEventsRequest request = Plain("s");
  EXPECT_THAT(Pages(request), SizeIs(11)) << "100 without page_size";
  request.set_page_size(100'000);
  EXPECT_THAT(Sizes(request), ElementsAre(500, 500, 50)) << "500 at most";
  request.set_page_size(525);
  request.set_before_seq(1001);
  EXPECT_THAT(Sizes(request), ElementsAre(500, 500)) << "the last page says so";
  request.set_page_size(-1);
  const ListedPage negative = Call(request);
  EXPECT_EQ(negative.status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(negative.reason, "INVALID_REQUEST");
}

TEST_F(ListedEventsTest, Bounds) {
  Fill("s", 40);
  const EventList log = Log("s");
  for (const auto& [after, before] : {std::pair(0, 0),
                                      {0, 1},
                                      {0, 2},
                                      {1, 0},
                                      {39, 0},
                                      {40, 0},
                                      {41, 0},
                                      {7, 9},
                                      {7, 8},
                                      {9, 7},
                                      {5, 31},
                                      {0, 99},
                                      {99, 0}}) {
    v1::ListEventsRequest request = Plain("s");
    request.set_page_size(4);
    request.set_after_seq(after);
    request.set_before_seq(before);
    EventList within;
    for (const v1::ProgressEvent& event : log) {
      const int seq = static_cast<int>(event.seq());
      if (seq > after && (before == 0 || seq < before)) within.push_back(event);
    }
    EXPECT_EQ(Bytes(All(request)), Bytes(within)) << after << " " << before;
    request.set_descending(true);
    EXPECT_EQ(Bytes(All(request)), Bytes(Reversed(within))) << after << " " << before;
  }
  v1::ListEventsRequest farthest = Plain("s");
  farthest.set_before_seq(~uint64_t{0});
  EXPECT_THAT(All(farthest), SizeIs(40));
  farthest.set_after_seq(~uint64_t{0});
  EXPECT_THAT(All(farthest), IsEmpty());
}

TEST_F(ListedEventsTest, Filters) {
  TestUpdate plan;
  plan.kind = "plan";
  store_.Append("s", {Say("a", "t"), UpdateOf(plan), TurnEnd("t"), Say("b", "t"), UpdateOf(plan)});
  v1::ListEventsRequest request = Plain("s");
  request.add_update_kinds("plan");
  EXPECT_EQ(Lines(All(request)), "plan@2 turn_ended@3 plan@5 ") << "of updates only";
  request.add_event_kinds(v1::EVENT_KIND_SESSION_UPDATE);
  EXPECT_EQ(Lines(All(request)), "plan@2 plan@5 ");
  request.set_descending(true);
  request.set_page_size(1);
  EXPECT_EQ(Lines(All(request)), "plan@5 plan@2 ");
  EXPECT_THAT(Sizes(request), ElementsAre(1, 1));
  request.clear_update_kinds();
  request.clear_event_kinds();
  request.add_event_kinds(v1::EVENT_KIND_TURN_ENDED);
  EXPECT_EQ(Lines(All(request)), "turn_ended@3 ");
  request.add_event_kinds(v1::EVENT_KIND_NOTICE);
  EXPECT_EQ(Lines(All(request)), "turn_ended@3 ");
  request.clear_event_kinds();
  request.add_event_kinds(v1::EVENT_KIND_NOTICE);
  EXPECT_THAT(Sizes(request), ElementsAre(0));
}

// What does not match is not searched for without end.
TEST_F(ListedEventsTest, APageTakesSoMuchOfTheLogAndNoMore) {
  store_.Append("s", {TurnEnd("first")});
  Fill("s", 300, 100'000);
  store_.Append("s", {TurnEnd("last")});
  for (const bool descending : {false, true}) {
    v1::ListEventsRequest request = Plain("s");
    request.set_descending(descending);
    request.add_event_kinds(v1::EVENT_KIND_TURN_ENDED);
    // 30 MB in pages of 8 MiB; the last may have come with the end.
    EXPECT_THAT(Sizes(request), ElementsAre(1, 0, 0, 1)) << descending;
    EXPECT_EQ(Lines(All(request)),
              descending ? "turn_ended@302 turn_ended@1 " : "turn_ended@1 turn_ended@302 ");
    request.clear_event_kinds();
    request.add_event_kinds(v1::EVENT_KIND_NOTICE);
    EXPECT_THAT(Sizes(request), ElementsAre(0, 0, 0, 0)) << descending;
  }
}

TEST_F(ListedEventsTest, PagesEndAtTwoMebibytes) {
  Fill("s", 50, 300'000);
  v1::ListEventsRequest request = Plain("s");
  EXPECT_EQ(Bytes(All(request)), Bytes(Log("s")));
  for (const bool descending : {false, true}) {
    request.set_descending(descending);
    const std::vector<size_t> sizes = Sizes(request);
    EXPECT_THAT(sizes, SizeIs(9));
    EXPECT_EQ(sizes[0], 6u) << "1.8 MB; one more would be over";
  }
}

TEST_F(ListedEventsTest, AnEventOverTwoMebibytesHasAPageOfItsOwn) {
  Fill("s", 3);
  Fill("s", 2, 2'700'000);
  Fill("s", 3);
  v1::ListEventsRequest request = Plain("s");
  EXPECT_THAT(Sizes(request), ElementsAre(3, 1, 1, 3));
  EXPECT_EQ(Bytes(All(request)), Bytes(Log("s")));
  request.set_descending(true);
  EXPECT_THAT(Sizes(request), ElementsAre(3, 1, 1, 3));
  EXPECT_EQ(Bytes(All(request)), Bytes(Reversed(Log("s"))));
}

TEST_F(ListedEventsTest, TokensAreGoodForTheirListOnly) {
  Fill("s", 30);
  v1::ListEventsRequest request = Plain("s");
  request.set_page_size(10);
  const std::string token = Page(request).next_page_token();
  const std::function<void(v1::ListEventsRequest&)> changes[] = {
      [](auto& other) { other.set_session_id("t"); },
      [](auto& other) { other.set_after_seq(1); },
      [](auto& other) { other.set_before_seq(25); },
      [](auto& other) { other.set_descending(true); },
      [](auto& other) { other.add_event_kinds(v1::EVENT_KIND_NOTICE); },
      [](auto& other) { other.add_update_kinds("plan"); },
      [](auto& other) { other.set_coalesce(true); },
      [](auto& other) { other.set_page_token("nonsense"); },
      [](auto& other) { other.set_page_token(other.page_token() + "AAAA"); },
  };
  for (const auto& change : changes) {
    v1::ListEventsRequest other = request;
    other.set_page_token(token);
    change(other);
    const ListedPage refused = Call(other);
    EXPECT_EQ(refused.status.error_code(), grpc::INVALID_ARGUMENT) << other.ShortDebugString();
    EXPECT_EQ(refused.reason, "INVALID_PAGE_TOKEN") << other.ShortDebugString();
  }
  request.set_page_token(token);
  request.set_page_size(3);
  const v1::ListEventsResponse page = Page(request);
  EXPECT_EQ(Lines({page.events().begin(), page.events().end()}), "t10@11 t11@12 t12@13 ")
      << "page_size may change";
}

TEST_F(ListedEventsTest, BadRequests) {
  const std::pair<std::function<void(v1::ListEventsRequest&)>, const char*> cases[] = {
      {[](auto& request) { request.clear_session_id(); }, "INVALID_SESSION_ID"},
      {[](auto& request) { request.set_session_id("a/b"); }, "INVALID_SESSION_ID"},
      {[](auto& request) { request.add_event_kinds(v1::EVENT_KIND_UNSPECIFIED); },
       "INVALID_REQUEST"},
      {[](auto& request) { request.add_event_kinds(static_cast<v1::EventKind>(11)); },
       "INVALID_REQUEST"},
      {[](auto& request) { request.add_update_kinds(std::string(5000, 'x')); }, "INVALID_REQUEST"},
  };
  for (const auto& [spoil, reason] : cases) {
    v1::ListEventsRequest request = Plain("s");
    spoil(request);
    const ListedPage refused = Call(request);
    EXPECT_EQ(refused.status.error_code(), grpc::INVALID_ARGUMENT) << reason;
    EXPECT_EQ(refused.reason, reason);
  }
}

TEST_F(ListedEventsTest, EmptyReplacedAndDeletedSessions) {
  // The manager says whether a session exists; the log of one without events is empty.
  EXPECT_THAT(Sizes(Plain("nothing")), ElementsAre(0));
  EXPECT_THAT(Sizes(Joined("nothing", true)), ElementsAre(0));
  store_.Append("old", {Say("a")});
  store_.Replace("old", "new", {Say("b")});
  EXPECT_EQ(Lines(All(Plain("old"))), "a@1 session_replaced@2 ") << "not the successor's";
  EXPECT_EQ(Lines(All(Plain("new"))), "b@1 ");
  store_.Delete("new");
  const ListedPage deleted = Call(Plain("new"));
  EXPECT_EQ(deleted.status.error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(deleted.reason, "SESSION_NOT_FOUND");
}

// A page of a log that grows ends where it ends now, and what comes then follows.
TEST_F(ListedEventsTest, ALogThatGrows) {
  Fill("s", 3);
  v1::ListEventsRequest request = Plain("s");
  request.set_page_size(2);
  v1::ListEventsResponse page = Page(request);
  Fill("s", 2);
  request.set_page_token(page.next_page_token());
  page = Page(request);
  EXPECT_EQ(page.events(1).seq(), 4u);
  request.set_page_token(page.next_page_token());
  page = Page(request);
  ASSERT_EQ(page.events_size(), 1);
  EXPECT_EQ(page.next_page_token(), "");
  request.clear_page_token();
  request.set_after_seq(page.events(0).seq());
  EXPECT_THAT(All(request), IsEmpty());
  Fill("s", 1);
  EXPECT_EQ(Lines(All(request)), "t0@6 ");
}

// Readers that are held up hold up the call to its deadline, and the loop not at all.
TEST_F(ListedEventsTest, AnAnswerThatDoesNotComeInTime) {
  Fill("s", 3);
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  constexpr int kMoreThanReaders = 8;
  for (int i = 0; i < kMoreThanReaders; ++i) {
    store_.log()->ReadSession({"s", 0, 0, false}, 1,
                              [released](session::SessionRows) { released.wait(); });
  }
  const ListedPage late = Call(Plain("s"), std::chrono::seconds(1));
  const bool loop_is_free = store_.loop().Call([] {}, std::chrono::seconds(1));
  release.set_value();
  EXPECT_EQ(late.status.error_code(), grpc::UNAVAILABLE) << late.status.error_message();
  EXPECT_EQ(late.reason, "STORE_UNAVAILABLE");
  EXPECT_TRUE(loop_is_free);
  EXPECT_THAT(Sizes(Plain("s")), ElementsAre(3));
}

}  // namespace
}  // namespace acpd::server
