#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "acp/signal.h"
#include "server/call.h"
#include "server/service.h"
#include "session/errors.h"
#include "tests/server/service_harness.h"

namespace acpd::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// What one call of the domain does.
using Script = std::function<awaitable<absl::Status>(UnaryCall&, v1::Session*)>;

awaitable<absl::Status> Succeed(UnaryCall& call, v1::Session* response) {
  response->set_title("done");
  call.AddTrailer(kSessionIdKey, "s");
  co_return absl::OkStatus();
}
awaitable<absl::Status> Fail(UnaryCall&, v1::Session* response) {
  response->set_title("half done");
  absl::Status error = session::MakeError("SESSION_BUSY", "it is busy: \xe2\x82\xac");
  session::AttachIds(error, "s", "t");
  co_return error;
}
awaitable<absl::Status> Throw(UnaryCall&, v1::Session*) {
  throw std::runtime_error("oh");
  co_return absl::OkStatus();
}

// Waits like the manager: for a signal, until the deadline or until the caller has left.
struct Waiting {
  std::shared_ptr<Signal> signal;
  std::atomic<int> begun{0}, left{0};
};
awaitable<absl::Status> WaitUntilLeft(Waiting* waiting, session::CallPtr call) {
  call->waiting_on = waiting->signal.get();
  ++waiting->begun;
  while (!call->gone) {
    const bool notified = co_await waiting->signal->Wait(call->deadline);
    if (!notified) break;
  }
  co_return absl::OkStatus();
}

class CallService final : public ServiceBase {
 public:
  CallService(asio::any_io_executor loop, Waiting* waiting) : waiting_(waiting) {
    calls_.loop = loop;
    calls_.active = &active;
    calls_.leave = [waiting](const session::CallPtr& call) {
      ++waiting->left;
      call->gone = true;
      if (call->waiting_on) call->waiting_on->Notify();
    };
  }
  grpc::ServerUnaryReactor* GetSession(grpc::CallbackServerContext* context,
                                       const v1::GetSessionRequest* request,
                                       v1::Session* response) override {
    return UnaryCall::Start(calls_, context, [this, request, response](UnaryCall& call) {
      const std::string& what = request->session_id();
      if (what == "fail") return Fail(call, response);
      if (what == "throw") return Throw(call, response);
      if (what == "headers") call.SendHeaders({{kSessionIdKey, "s"}, {kTurnIdKey, "t"}});
      if (what == "wait" || what == "headers") return WaitUntilLeft(waiting_, call.call());
      return Succeed(call, response);
    });
  }
  ActiveCalls active;

 private:
  Waiting* const waiting_;
  CallContext calls_;
};

class CallTest : public ::testing::Test {
 protected:
  CallTest() {
    waiting_.signal = std::make_shared<Signal>(loop_.executor());
    loop_.Run();
  }
  ~CallTest() override {
    server_.Stop(milliseconds(500));
    EXPECT_TRUE(service_.active.AwaitNone(std::chrono::steady_clock::now() + kPatience));
    EXPECT_TRUE(loop_.Stop(kPatience));
  }
  grpc::Status Get(const std::string& what, milliseconds deadline = kPatience) {
    v1::GetSessionRequest request;
    request.set_session_id(what);
    context_ = std::make_unique<grpc::ClientContext>();
    context_->set_deadline(std::chrono::system_clock::now() + deadline);
    return server_.stub().GetSession(context_.get(), request, &session_);
  }
  std::string Trailer(const std::string& key) {
    return ValueOf(context_->GetServerTrailingMetadata(), key);
  }
  std::string Header(const std::string& key) {
    return ValueOf(context_->GetServerInitialMetadata(), key);
  }

  LoopThread loop_;
  Waiting waiting_;
  CallService service_{loop_.executor(), &waiting_};
  TestServer server_{&service_};
  std::unique_ptr<grpc::ClientContext> context_;
  v1::Session session_;
};

TEST_F(CallTest, AnswersWithTrailers) {
  const grpc::Status status = Get("succeed");
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(session_.title(), "done");
  EXPECT_EQ(Trailer("acpd-session-id"), "s");
  EXPECT_EQ(Trailer("acpd-reason"), "");
}

TEST_F(CallTest, FailsWithReasonAndIds) {
  const grpc::Status status = Get("fail");
  EXPECT_EQ(status.error_code(), grpc::FAILED_PRECONDITION);
  EXPECT_EQ(status.error_message(), "it is busy: \xe2\x82\xac");
  EXPECT_EQ(Trailer("acpd-reason"), "SESSION_BUSY");
  EXPECT_EQ(Trailer("acpd-session-id"), "s");
  EXPECT_EQ(Trailer("acpd-turn-id"), "t");
}

TEST_F(CallTest, AnEscapedExceptionIsInternal) {
  EXPECT_EQ(Get("throw").error_code(), grpc::INTERNAL);
  EXPECT_EQ(Trailer("acpd-reason"), "INTERNAL");
  EXPECT_TRUE(Get("succeed").ok()) << "and hurts nobody else";
}

TEST_F(CallTest, AnswersBeforeTheDeadline) {
  EXPECT_TRUE(Get("wait", seconds(1)).ok()) << "not DEADLINE_EXCEEDED";
  EXPECT_EQ(waiting_.left, 0);
}

TEST_F(CallTest, HeadersTravelAheadOfTheAnswer) {
  v1::GetSessionRequest request;
  request.set_session_id("headers");
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  grpc::CompletionQueue queue;
  auto call = server_.stub().AsyncGetSession(&context, request, &queue);
  call->ReadInitialMetadata(&context);
  void* tag = nullptr;
  bool ok = false;
  ASSERT_TRUE(queue.Next(&tag, &ok));
  EXPECT_EQ(ValueOf(context.GetServerInitialMetadata(), "acpd-turn-id"), "t");
  grpc::Status status;
  call->Finish(&session_, &status, &queue);
  asio::post(loop_.executor(),
             [this] { waiting_.signal->Notify(); });  // wakes, but nobody has left
  context.TryCancel();
  ASSERT_TRUE(queue.Next(&tag, &ok));
  EXPECT_EQ(status.error_code(), grpc::CANCELLED);
  queue.Shutdown();
}

TEST_F(CallTest, ACallerThatLeavesEndsTheWait) {
  v1::GetSessionRequest request;
  request.set_session_id("wait");
  grpc::ClientContext context;
  std::thread caller([&] {
    v1::Session session;
    EXPECT_EQ(server_.stub().GetSession(&context, request, &session).error_code(), grpc::CANCELLED);
  });
  const auto patience = std::chrono::steady_clock::now() + kPatience;
  while (waiting_.begun == 0 && std::chrono::steady_clock::now() < patience)
    std::this_thread::yield();
  context.TryCancel();
  caller.join();
  EXPECT_TRUE(service_.active.AwaitNone(std::chrono::steady_clock::now() + kPatience));
  EXPECT_EQ(waiting_.left, 1);
}

TEST_F(CallTest, NewCallsAreRefusedInAShutdown) {
  service_.active.Drain();
  EXPECT_EQ(Get("succeed").error_code(), grpc::UNAVAILABLE);
  EXPECT_EQ(Trailer("acpd-reason"), "SHUTTING_DOWN");
}

TEST_F(CallTest, WithoutADeadlineThereIsNone) {
  grpc::CallbackServerContext context;
  EXPECT_EQ(AnswerDeadline(context), SteadyTime::max());
}

}  // namespace
}  // namespace acpd::server
