#ifndef ACPD_TESTS_SERVER_SERVICE_STREAM_HARNESS_H_
#define ACPD_TESTS_SERVER_SERVICE_STREAM_HARNESS_H_

#include <grpcpp/support/byte_buffer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "server/event_scan.h"
#include "server/service.h"
#include "server/subscription.h"
#include "tests/server/service_harness.h"

// The two streams of the service through a real gRPC server, over the real store and the answers
// that the session manager would give. Shared by the service_stream_*_test.cc files.
namespace acpd::server {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Kind = session::LogScope::Kind;

// What the session manager would answer.
struct Answers {
  absl::Status plan_error;
  session::SubscriptionPlan plan;
  bool keep_scope = true;  // the plan's scope is the one asked for
  absl::StatusOr<session::ChatReply> chat = absl::UnknownError("no chat");
};

inline awaitable<absl::StatusOr<session::SubscriptionPlan>> Plan(const Answers* answers,
                                                                 session::SubscriptionQuery query) {
  if (!answers->plan_error.ok()) co_return answers->plan_error;
  session::SubscriptionPlan plan = answers->plan;
  if (answers->keep_scope) plan.scope = query.scope;
  co_return plan;
}

inline awaitable<absl::StatusOr<session::ChatReply>> AnswerChat(
    const Answers* answers, session::ChatRequest request,
    std::function<void(const session::ChatReply&)> accepted) {
  EXPECT_EQ(request.wait_for, session::WaitFor::kAccepted);
  if (answers->chat.ok()) accepted(*answers->chat);
  co_return answers->chat;
}

// The service's two streams, over the answers.
class StreamService final : public ServiceBase {
 public:
  StreamService(TestStore* store, const Answers* answers) : answers_(answers) {
    streams_.calls.loop = store->loop().executor();
    streams_.calls.leave = [this](const session::CallPtr&) { ++left; };
    streams_.calls.active = &active;
    streams_.sources.log = store->log();
    streams_.sources.epoch = "this-epoch";
    streams_.sources.plan = [answers](session::CallPtr, session::SubscriptionQuery query) {
      return Plan(answers, query);
    };
    streams_.sources.turn_ended = [store](const std::string& turn_id,
                                          std::function<void(bool)> done) {
      store->store()->FindTurn({turn_id, "", ""}, [done](std::optional<session::FoundTurn> turn) {
        done(turn && turn->row.state == session::TurnState::kEnded);
      });
    };
    streams_.chat = [answers](session::CallPtr, session::ChatRequest request,
                              std::function<void(const session::ChatReply&)> accepted) {
      return AnswerChat(answers, std::move(request), std::move(accepted));
    };
  }
  grpc::ServerWriteReactor<grpc::ByteBuffer>* SubscribeProgress(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* bytes) override {
    grpc::ByteBuffer copy(*bytes);
    v1::SubscribeProgressRequest request;
    // Without a message: the caller left before it came.
    if (!grpc::SerializationTraits<v1::SubscribeProgressRequest>::Deserialize(&copy, &request)
             .ok()) {
      return Subscription::Refuse(context, absl::CancelledError("no request came"));
    }
    auto params = SubscribeFrom(request);
    if (!params.ok()) return Subscription::Refuse(context, params.status());
    return Subscription::Start(streams_, context, *params);
  }
  grpc::ServerWriteReactor<grpc::ByteBuffer>* ChatStream(grpc::CallbackServerContext* context,
                                                         const grpc::ByteBuffer*) override {
    SubscribeParams params;
    params.heartbeat = seconds(15);
    return Subscription::StartChat(streams_, context, session::ChatRequest(), params);
  }

  ActiveCalls active;
  std::atomic<int> left{0};

 private:
  const Answers* const answers_;
  Subscription::Surroundings streams_;
};

class StreamTest : public ::testing::Test {
 protected:
  explicit StreamTest(TestStore::Special special = {}) : store_(32u << 20, std::move(special)) {}
  ~StreamTest() override {
    service_.active.Drain();
    server_.Stop(milliseconds(500));
    EXPECT_TRUE(service_.active.AwaitNone(std::chrono::steady_clock::now() + kPatience))
        << "a stream was left behind";
  }
  static v1::SubscribeProgressRequest Session(const std::string& session_id) {
    v1::SubscribeProgressRequest request;
    request.set_session_id(session_id);
    return request;
  }
  static v1::SubscribeProgressRequest FromStart(v1::SubscribeProgressRequest request) {
    request.set_after_position(0);
    return request;
  }
  static v1::SubscribeProgressRequest Project(const std::string& project_id) {
    v1::SubscribeProgressRequest request;
    request.set_project_id(project_id);
    return request;
  }
  void Subscribe(TestReader& reader, const v1::SubscribeProgressRequest& request) {
    reader.Subscribe(server_.stub(), request);
  }
  uint64_t newest() { return store_.log()->newest_position(); }

  TestStore store_;
  Answers answers_;
  StreamService service_{&store_, &answers_};
  TestServer server_{&service_};
};

}  // namespace acpd::server

#endif  // ACPD_TESTS_SERVER_SERVICE_STREAM_HARNESS_H_
