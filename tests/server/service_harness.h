#ifndef ACPD_TESTS_SERVER_SERVICE_HARNESS_H_
#define ACPD_TESTS_SERVER_SERVICE_HARNESS_H_

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "acpd/v1/session_service.grpc.pb.h"
#include "server/active_calls.h"
#include "server/call.h"
#include "server/codec.h"
#include "server/loop_thread.h"
#include "server/subscription.h"
#include "session/errors.h"
#include "session/event_log.h"
#include "session/sqlite_store.h"
#include "tests/server/temp_folder.h"

// A real store with sessions that the test writes itself, a real loop and a real gRPC server over
// loopback. Only the session manager is left out: the tests say what a plan or a Chat answers.
namespace acpd::server {

inline constexpr auto kPatience = std::chrono::seconds(30);

// Appends one event of a session.
using EventWriter = std::function<void(Codec&, const session::EventHeader&, std::string&)>;
struct TestEvent {
  EventWriter write;
  std::string turn_id;
};

template <class Event>
TestEvent Of(Event event, std::string turn_id = "") {
  return {[event](Codec& codec, const session::EventHeader& header, std::string& out) {
            codec.Encode(header, event, out);
          },
          std::move(turn_id)};
}
// An update with this text.
inline TestEvent Say(std::string text, std::string turn_id = "",
                     std::string kind = "agent_message_chunk") {
  return {[text, kind](Codec& codec, const session::EventHeader& header, std::string& out) {
            session::SessionUpdateEvent event;
            event.kind = kind;
            event.text = text;
            event.json = R"({"some":"json"})";
            codec.Encode(header, event, out);
          },
          std::move(turn_id)};
}
inline TestEvent TurnEnd(const std::string& turn_id) {
  return Of(session::TurnEndedEvent{}, turn_id);
}

class TestStore {
 public:
  // What tests of the store's own behaviour change.
  struct Special {
    session::StoreOptions options;
    session::SqliteStoreTuning tuning;
    std::function<void(const std::string& state_dir)> before_load;
  };
  explicit TestStore(size_t recent_bytes = 32u << 20, Special special = {}) {
    loop_.Run();
    session::StoreOptions options = special.options;
    options.state_dir = folder_.path();
    options.recent_bytes = recent_bytes;
    auto post = [executor = loop_.executor()](std::function<void()> call) {
      asio::post(executor, std::move(call));
    };
    auto opened = session::SqliteStore::Open(options, post, special.tuning);
    if (!opened.ok()) ADD_FAILURE() << opened.status();
    store_.log = (*opened)->log();
    store_.store = *std::move(opened);
    if (special.before_load) special.before_load(folder_.path());
    EXPECT_TRUE(store_.store->Load().ok());
  }
  ~TestStore() {
    EXPECT_TRUE(store_.store->Close(kPatience));
    EXPECT_TRUE(loop_.Stop(kPatience));
  }

  session::EventLog* log() { return store_.log; }
  session::Store* store() { return store_.store.get(); }
  LoopThread& loop() { return loop_; }
  Codec& codec() { return codec_; }

  // Commits the events as one record (making the session first) and returns when the log has them.
  void Append(const std::string& session_id, const std::vector<TestEvent>& events) {
    Commit({RecordOf(session_id, events)});
  }
  // A session of this project with labels.
  void Make(const std::string& session_id, const std::string& project_id,
            session::Labels labels = {}) {
    Session& made = sessions_[session_id];
    made.row.project_id = project_id;
    made.row.labels = std::move(labels);
  }
  // `events` become the successor's first.
  void Replace(const std::string& old_id, const std::string& new_id,
               const std::vector<TestEvent>& events) {
    sessions_[old_id].row.replaced_by = new_id;
    session::Record last =
        RecordOf(old_id, {Of(session::SessionReplacedEvent{new_id, "RESUME_FAILED", "", {}})});
    last.session = sessions_[old_id].row;
    Commit({std::move(last), RecordOf(new_id, events)});
  }
  void Delete(const std::string& session_id) {
    sessions_[session_id].row.deleted = true;
    session::Record last = RecordOf(session_id, {Of(session::SessionDeletedEvent{"who"})});
    last.session = sessions_[session_id].row;
    last.forget_session = true;
    Commit({std::move(last)});
  }
  // A turn's row, as the manager would have written it.
  void PutTurn(const std::string& session_id, const std::string& turn_id,
               session::TurnState state) {
    session::Record record = RecordOf(session_id, {});
    session::TurnRow turn;
    turn.turn_id = turn_id;
    turn.session_id = session_id;
    turn.project_id = sessions_[session_id].row.project_id;
    turn.state = state;
    record.turns.push_back(turn);
    Commit({std::move(record)});
  }

 private:
  struct Session {
    session::SessionRow row;
    uint64_t number = 0, seq = 0;
  };

  session::Record RecordOf(const std::string& session_id, const std::vector<TestEvent>& events) {
    Session& session = sessions_[session_id];
    session::Record record;
    if (session.number == 0) {
      session.row.session_id = session_id;
      if (session.row.project_id.empty()) session.row.project_id = "project";
      session.row.ready_once = true;
      record.session = session.row;
    }
    record.session_id = session_id;
    record.generation = store()->generation();
    record.number = ++session.number;
    record.events.first_seq = session.seq + 1;
    for (const TestEvent& event : events) {
      const session::EventHeader header{++session.seq, session.row.project_id, session_id,
                                        event.turn_id, 1'000'000};
      event.write(codec_, header, record.events.bytes);
      record.events.ends.push_back(record.events.bytes.size());
    }
    return record;
  }
  void Commit(std::vector<session::Record> group) {
    std::promise<absl::Status> committed;
    store()->Commit(std::move(group), [&](const session::CommitResult& result) {
      committed.set_value(result.status);
    });
    auto done = committed.get_future();
    ASSERT_EQ(done.wait_for(kPatience), std::future_status::ready);
    ASSERT_TRUE(done.get().ok());
  }

  TempFolder folder_;
  LoopThread loop_;
  Codec codec_;
  session::OpenedStore store_;
  std::map<std::string, Session> sessions_;
};

// The trailers and headers that a client saw.
template <class Map>
std::string ValueOf(const Map& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : std::string(found->second.data(), found->second.size());
}

// A started server with one service, on a free port.
class TestServer {
 public:
  explicit TestServer(grpc::Service* service) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(service);
    builder.SetMaxSendMessageSize(-1);
    server_ = builder.BuildAndStart();
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    channel_ = grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port),
                                         grpc::InsecureChannelCredentials(), arguments);
    stub_ = v1::SessionService::NewStub(channel_);
  }
  ~TestServer() { Stop(std::chrono::milliseconds(0)); }

  v1::SessionService::Stub& stub() { return *stub_; }
  const std::shared_ptr<grpc::Channel>& channel() { return channel_; }
  void Stop(std::chrono::milliseconds deadline) {
    server_->Shutdown(std::chrono::system_clock::now() + deadline);
    server_->Wait();
  }

 private:
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::SessionService::Stub> stub_;
};

// One stream as its reader sees it.
class TestReader {
 public:
  TestReader() { context_.set_deadline(std::chrono::system_clock::now() + kPatience); }
  void Subscribe(v1::SessionService::Stub& stub, const v1::SubscribeProgressRequest& request) {
    reader_ = stub.SubscribeProgress(&context_, request);
  }
  void ChatStream(v1::SessionService::Stub& stub, const v1::ChatStreamRequest& request) {
    reader_ = stub.ChatStream(&context_, request);
  }
  // The next event; fails the test when there is none.
  v1::ProgressEvent Next() {
    v1::ProgressEvent event;
    if (!reader_->Read(&event)) ADD_FAILURE() << "the stream ended: " << Finish().error_message();
    return event;
  }
  // The next `count` events in one line each: "TEXT@seq" of updates, else the kind's name.
  std::string Lines(int count) {
    std::string lines;
    for (int i = 0; i < count; ++i) lines += Line(Next()) + " ";
    return lines;
  }
  // All events up to the end.
  std::string Rest() {
    std::string lines;
    for (v1::ProgressEvent event; reader_->Read(&event); event.Clear()) lines += Line(event) + " ";
    return lines;
  }
  static std::string Line(const v1::ProgressEvent& event) {
    const auto* field = event.GetReflection()->GetOneofFieldDescriptor(
        event, v1::ProgressEvent::descriptor()->FindOneofByName("event"));
    if (event.has_session_update())
      return event.session_update().text() + "@" + std::to_string(event.seq());
    return field->name() + (event.resent() ? "(resent)" : "");
  }
  grpc::Status Finish() { return reader_->Finish(); }
  void WaitForHeaders() { reader_->WaitForInitialMetadata(); }
  void Cancel() { context_.TryCancel(); }
  std::string Trailer(const std::string& key) {
    return ValueOf(context_.GetServerTrailingMetadata(), key);
  }
  std::string Header(const std::string& key) {
    return ValueOf(context_.GetServerInitialMetadata(), key);
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::ProgressEvent>> reader_;
};

}  // namespace acpd::server

#endif  // ACPD_TESTS_SERVER_SERVICE_HARNESS_H_
