#ifndef ACPD_TESTS_SERVER_LIST_EVENTS_HARNESS_H_
#define ACPD_TESTS_SERVER_LIST_EVENTS_HARNESS_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/list_events.h"
#include "server/service.h"
#include "tests/server/service_harness.h"

// ListEvents through a real server over a real store, without the session manager.
namespace acpd::server {

// An update of the agent, as a test writes it.
struct TestUpdate {
  std::string kind = "agent_message_chunk", text, message_id, json = R"({"some":"json"})";
  bool replayed = false;
  uint32_t part = 0, parts = 0;
};
inline TestEvent UpdateOf(TestUpdate update, std::string turn_id = "") {
  return {[update](Codec& codec, const session::EventHeader& header, std::string& out) {
            session::SessionUpdateEvent event;
            event.kind = update.kind;
            event.text = update.text;
            event.json = update.json;
            event.message_id = update.message_id;
            event.replayed = update.replayed;
            event.part = update.part;
            event.parts = update.parts;
            codec.Encode(header, event, out);
          },
          std::move(turn_id)};
}
// An update that is no chunk of text.
inline TestEvent OtherUpdate(const std::string& kind) {
  TestUpdate update;
  update.kind = kind;
  return UpdateOf(update);
}

// The service's ListEvents alone.
class ListingService final : public ServiceBase {
 public:
  using Reactor = grpc::ServerUnaryReactor;
  using Context = grpc::CallbackServerContext;

  ListingService(asio::any_io_executor loop, session::EventLog* log) : log_(log) {
    calls_.loop = std::move(loop);
    calls_.active = &active;
    calls_.leave = [](const session::CallPtr& call) { call->gone = true; };
  }
  Reactor* ListEvents(Context* context, const grpc::ByteBuffer* bytes,
                      grpc::ByteBuffer* response) override {
    v1::ListEventsRequest request;
    grpc::ByteBuffer copy(*bytes);
    EXPECT_TRUE(
        grpc::SerializationTraits<v1::ListEventsRequest>::Deserialize(&copy, &request).ok());
    auto params = ListEventsFrom(request);
    if (!params.ok()) return Refuse(context, params.status());
    return UnaryCall::Start(
        calls_, context, [this, params = *std::move(params), response](UnaryCall& call) {
          return server::ListEvents(log_, calls_.loop, call.call(), params, response);
        });
  }
  ActiveCalls active;

 private:
  session::EventLog* const log_;
  CallContext calls_;
};

// What one call answered.
struct ListedPage {
  grpc::Status status;
  std::string reason;
  v1::ListEventsResponse response;
};

using EventList = std::vector<v1::ProgressEvent>;

class ListEventsTest : public ::testing::Test {
 protected:
  ListEventsTest() : ListEventsTest(32u << 20) {}
  explicit ListEventsTest(size_t recent_bytes) : store_(recent_bytes) {}
  ~ListEventsTest() override {
    server_.Stop(std::chrono::milliseconds(500));
    EXPECT_TRUE(service_.active.AwaitNone(std::chrono::steady_clock::now() + kPatience));
  }

  ListedPage Call(const v1::ListEventsRequest& request,
                  std::chrono::milliseconds deadline = kPatience) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + deadline);
    ListedPage page;
    page.status = server_.stub().ListEvents(&context, request, &page.response);
    page.reason = ValueOf(context.GetServerTrailingMetadata(), "acpd-reason");
    return page;
  }
  v1::ListEventsResponse Page(const v1::ListEventsRequest& request) {
    ListedPage page = Call(request);
    EXPECT_TRUE(page.status.ok()) << page.reason << ": " << page.status.error_message();
    return page.response;
  }
  // All pages up to the last one.
  std::vector<EventList> Pages(v1::ListEventsRequest request) {
    std::vector<EventList> pages;
    do {
      const v1::ListEventsResponse page = Page(request);
      EXPECT_LT(page.ByteSizeLong(), 3u << 20);
      pages.emplace_back(page.events().begin(), page.events().end());
      request.set_page_token(page.next_page_token());
    } while (!request.page_token().empty() && pages.size() < 100'000);
    return pages;
  }
  EventList All(const v1::ListEventsRequest& request) {
    EventList all;
    for (const EventList& page : Pages(request)) all.insert(all.end(), page.begin(), page.end());
    return all;
  }
  // The session's log, as a reader that starts at its beginning gets it from the event log.
  EventList Log(const std::string& session_id) {
    EventList log;
    uint64_t after = 0;
    while (true) {
      session::EventLog::Page page = Next(session_id, after);
      if (page.rows.empty()) return log;
      for (const session::LogRowPtr& row : page.rows) {
        for (size_t i = 0; i < row->size(); ++i) {
          v1::ProgressEvent event;
          EXPECT_TRUE(event.ParseFromString(std::string(row->event(i))));
          event.set_position(row->first_position + i);
          log.push_back(std::move(event));
        }
      }
      after = page.rows.back()->last_position();
    }
  }

  static v1::ListEventsRequest Plain(const std::string& session_id) {
    v1::ListEventsRequest request;
    request.set_session_id(session_id);
    return request;
  }
  static v1::ListEventsRequest Joined(const std::string& session_id, bool descending = false) {
    v1::ListEventsRequest request = Plain(session_id);
    request.set_coalesce(true);
    request.set_descending(descending);
    return request;
  }
  // "TEXT@SEQ" of updates with text, else the kind; with a space behind each.
  static std::string Lines(const EventList& events) {
    std::string lines;
    for (const v1::ProgressEvent& event : events) {
      const bool is_update = event.has_session_update();
      const std::string& text = event.session_update().text();
      if (is_update) lines += text.empty() ? event.session_update().kind() : text;
      if (!is_update) lines += TestReader::Line(event);
      lines += "@" + std::to_string(event.seq()) + " ";
    }
    return lines;
  }
  static EventList Reversed(const EventList& events) { return {events.rbegin(), events.rend()}; }
  static std::vector<std::string> Bytes(const EventList& events) {
    std::vector<std::string> bytes;
    for (const v1::ProgressEvent& event : events) bytes.push_back(event.SerializeAsString());
    return bytes;
  }

  TestStore store_;
  ListingService service_{store_.loop().executor(), store_.log()};
  TestServer server_{&service_};

 private:
  session::EventLog::Page Next(const std::string& session_id, uint64_t after) {
    auto later = std::make_shared<std::promise<session::EventLog::Page>>();
    session::EventLog::Page page;
    uint64_t ticket = 0;
    const session::LogScope scope = {session::LogScope::Kind::kSession, session_id};
    const bool now = store_.log()->Next(
        scope, after, 1u << 20, true, &page,
        [later](session::EventLog::Page read) { later->set_value(std::move(read)); }, &ticket);
    if (now) return page;
    auto future = later->get_future();
    EXPECT_EQ(future.wait_for(kPatience), std::future_status::ready);
    return future.get();
  }
};

}  // namespace acpd::server

#endif  // ACPD_TESTS_SERVER_LIST_EVENTS_HARNESS_H_
