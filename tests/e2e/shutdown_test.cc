// SIGTERM while fifty readers follow ten turns.

#include <chrono>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr size_t kTurns = 10;
constexpr size_t kReaders = 50;
constexpr seconds kLimit{10};  // shutdown.timeout

class ShutdownTest : public TurnsTest {
 protected:
  void StartWith(const std::string& workers, seconds limit = kLimit) {
    options().extra["shutdown"] = {{"workers", workers},
                                   {"timeout", std::to_string(limit.count()) + "s"}};
    StartDaemon();
  }
  void BeginAll() {
    for (size_t i = 0; i < kTurns; ++i)
      turns_.push_back(BeginAt("b" + std::to_string(i), "p" + std::to_string(i)).turn_id());
    for (size_t i = 0; i < kReaders; ++i) {
      api::SubscribeProgressRequest request;
      request.set_everything(true);
      request.set_after_position(0);
      readers_.push_back(client().Subscribe(request));
    }
    for (const auto& reader : readers_) ASSERT_TRUE(reader->WaitFor(HasCaughtUp()));
  }
  // SIGTERM; in time, with code 0, and every reader told why and where it stands.
  void StopInTime() {
    const auto begin = steady_clock::now();
    EXPECT_EQ(daemon().Stop(kLimit + seconds(10)), (ExitStatus{0, 0}));
    EXPECT_LT(steady_clock::now() - begin, kLimit + seconds(2));
    for (const auto& reader : readers_) {
      const auto end = reader->WaitForEnd();
      ASSERT_TRUE(end);
      EXPECT_EQ(end->error_code(), grpc::StatusCode::UNAVAILABLE) << end->error_message();
      EXPECT_EQ(reader->Trailer("acpd-reason"), "SHUTTING_DOWN");
      EXPECT_EQ(reader->Trailer("acpd-position"),
                std::to_string(reader->Stored().back().position()));
    }
  }
  // Where a reader stood when acpd stopped.
  uint64_t Cursor() const { return readers_.front()->Stored().back().position(); }

  std::vector<std::string> turns_;
  std::vector<std::unique_ptr<Subscription>> readers_;
};

TEST_F(ShutdownTest, B64EndsTheTurns) {
  StartWith("stop");
  BeginAll();
  StopInTime();
  EXPECT_THAT(leftovers().Processes(), IsEmpty());
  for (const std::string& turn : turns_) EXPECT_TRUE(readers_[0]->WaitFor(EndOf(turn))) << turn;
  readers_.clear();

  StartDaemon();
  for (const std::string& turn : turns_) {
    const api::Turn ended = WaitForTurn(turn);
    EXPECT_EQ(ended.result().outcome(), api::TurnResult::OUTCOME_CANCELLED);
    EXPECT_EQ(ended.result().cancelled_by(), "shutdown");
  }
}

// Neither does an agent that does not stop.
TEST_F(ShutdownTest, AReaderThatDoesNotReadDelaysNothing) {
  const seconds limit(1);
  StartWith("stop", limit);
  const std::string long_text(2u << 20, 'x');
  const auto chat = client().Say(kProject, "", long_text);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  ASSERT_TRUE(client().Say(kProject, chat.response.session_id(), long_text).ok());
  const auto stubborn = client().Begin(kProject, chat.response.session_id(),
                                       Scripted(Steps(Step("on_cancel", "ignore"), Barrier("b"))));
  ASSERT_TRUE(stubborn.ok()) << stubborn.ToString();
  grpc::ClientContext context;
  api::SubscribeProgressRequest request;
  request.set_everything(true);
  request.set_after_position(0);
  const auto reader = client().stub()->SubscribeProgress(&context, request);
  reader->WaitForInitialMetadata();

  const auto begin = steady_clock::now();
  EXPECT_EQ(daemon().Stop(), (ExitStatus{0, 0}));
  EXPECT_LT(steady_clock::now() - begin, limit + seconds(2));
  context.TryCancel();
  EXPECT_FALSE(reader->Finish().ok());
}

TEST_F(ShutdownTest, B64KeepsTheTurns) {
  StartWith("keep");
  BeginAll();
  const std::vector<int> agents = log().Pids();
  ASSERT_THAT(agents, SizeIs(kTurns));
  StopInTime();
  for (const int agent : agents) EXPECT_TRUE(IsAlive(agent)) << agent;
  const uint64_t cursor = Cursor();
  readers_.clear();

  StartWith("stop");
  api::SubscribeProgressRequest request;
  request.set_everything(true);
  request.set_after_position(cursor);
  const auto reader = client().Subscribe(request);
  for (size_t i = 0; i < kTurns; ++i) barriers().Release("b" + std::to_string(i));
  for (const std::string& turn : turns_) {
    EXPECT_EQ(WaitForTurn(turn).result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
    EXPECT_TRUE(reader->WaitFor(EndOf(turn))) << turn;
  }
  EXPECT_EQ(log().Pids(), agents) << "the same agents went on";
  EXPECT_THAT(log().Received("session/prompt"), SizeIs(kTurns)) << "no prompt came twice";
}

}  // namespace
}  // namespace acpd::e2e
