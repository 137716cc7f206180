// The gate for long lines: how many connections put one together at once, and that nobody starves.

#include <gtest/gtest.h>

#include "tests/acp/protocol_allocations.h"
#include "tests/acp/protocol_connection_fixture.h"

namespace acpd::acp {
namespace {

using std::chrono::steady_clock;

// An agent that writes long lines, with its connection.
struct Writer {
  Writer(asio::io_context& loop, asio::thread_pool& pool, std::shared_ptr<LongLineGate> gate)
      : worker(std::make_shared<FakeWorker>(loop.get_executor())),
        recorder(loop.get_executor()),
        connection(std::make_shared<AgentConnection>(
            loop.get_executor(), pool, std::make_unique<FakeLink>(worker), &recorder,
            AgentConnection::Options{.long_lines = std::move(gate)})) {
    connection->Start(1, 0);
  }
  bool read_all() const { return worker->events.empty(); }
  size_t lines() const {
    return std::count_if(recorder.seen.begin(), recorder.seen.end(),
                         [](const std::string& s) { return s.starts_with("noise"); });
  }

  std::shared_ptr<FakeWorker> worker;
  Recorder recorder;
  std::shared_ptr<AgentConnection> connection;
};

class LongLinesTest : public testing::Test {
 protected:
  ~LongLinesTest() override {
    writers.clear();
    loop.restart();
    loop.run_for(std::chrono::seconds(30));
    EXPECT_TRUE(loop.stopped()) << "a reader has not ended";
    pool.join();
  }

  void Make(size_t count, LongLineGate::Limits limits) {
    gate = std::make_shared<LongLineGate>(loop.get_executor(), limits);
    for (size_t i = 0; i < count; ++i) {
      writers.push_back(std::make_unique<Writer>(loop, pool, gate));
    }
  }
  // Each begins a long line in one piece and goes on in a second.
  void BeginAll() {
    for (const auto& writer : writers) {
      writer->worker->SayStdout(std::string(1500, 'x'));
      Poll();
      writer->worker->SayStdout("y");
      Poll();
    }
  }
  void Poll() {
    loop.restart();
    while (loop.poll() > 0) {
    }
  }
  void RunUntil(const std::function<bool()>& reached) {
    const SteadyTime deadline = steady_clock::now() + std::chrono::seconds(30);
    loop.restart();
    while (!reached()) {
      ASSERT_LT(steady_clock::now(), deadline);
      loop.run_one_for(milliseconds(5));
      if (loop.stopped()) loop.restart();
    }
  }
  // Who has read all that there is.
  std::string ReadAll() const {
    std::string who;
    for (const auto& writer : writers) who += writer->read_all() ? 'y' : '-';
    return who;
  }

  // No test waits for these to pass.
  static constexpr milliseconds kNever{3'600'000};

  asio::io_context loop;
  asio::thread_pool pool{1};
  std::shared_ptr<LongLineGate> gate;
  std::vector<std::unique_ptr<Writer>> writers;
};

TEST_F(LongLinesTest, OnlySoManyAreReadOn) {
  Make(5, {.places = 2, .long_line = 1000, .stall = kNever, .longest = kNever});
  BeginAll();
  EXPECT_EQ(ReadAll(), "yy---");
  writers[1]->worker->SayStdout("end\n");
  Poll();
  EXPECT_EQ(writers[1]->lines(), 1u);
  EXPECT_EQ(ReadAll(), "yyy--") << "the first that waits has its turn";
  writers[0]->worker->SayStdout("end\n");
  Poll();
  EXPECT_EQ(ReadAll(), "yyyy-");
  for (const size_t i : {2, 3, 4}) writers[i]->worker->SayStdout("end\n");
  Poll();
  EXPECT_EQ(ReadAll(), "yyyyy");
  for (const auto& writer : writers) EXPECT_EQ(writer->lines(), 1u);
}

TEST_F(LongLinesTest, ShortLinesNeverWait) {
  Make(3, {.places = 1, .long_line = 1000, .stall = kNever, .longest = kNever});
  BeginAll();
  EXPECT_EQ(ReadAll(), "y--");
  Writer quick(loop, pool, gate);
  quick.worker->SayStdout(std::string(900, 'q'));
  Poll();
  quick.worker->SayStdout("\nshort\n");
  Poll();
  EXPECT_TRUE(quick.read_all());
  EXPECT_EQ(quick.lines(), 2u);
}

TEST_F(LongLinesTest, OneThatStallsDoesNotKeepTheOthersOut) {
  Make(4, {.places = 2, .long_line = 1000, .stall = milliseconds(20), .longest = kNever});
  BeginAll();
  RunUntil([this] { return ReadAll() == "yyyy"; });
  // They go on where they were, in any order.
  for (const size_t i : {3, 0, 2, 1}) {
    writers[i]->worker->SayStdout("more");
    writers[i]->worker->SayStdout("end\n");
  }
  RunUntil([this] { return ReadAll() == "yyyy"; });
  Poll();
  for (const auto& writer : writers) EXPECT_EQ(writer->recorder.seen[0], "noise (1508)");
}

TEST_F(LongLinesTest, OneThatTricklesDoesNotEither) {
  Make(3, {.places = 2, .long_line = 1000, .stall = kNever, .longest = milliseconds(50)});
  for (const size_t i : {0, 1}) writers[i]->worker->SayStdout(std::string(1500, 'x'));
  Poll();
  writers[2]->worker->SayStdout(std::string(1500, 'x'));
  Poll();
  writers[2]->worker->SayStdout("end\n");
  Poll();
  EXPECT_EQ(writers[2]->lines(), 0u);
  RunUntil([this] {
    for (const size_t i : {0, 1}) {
      if (writers[i]->read_all()) writers[i]->worker->SayStdout("x");
    }
    return writers[2]->lines() == 1;
  });
}

TEST_F(LongLinesTest, WhoGoesMakesRoom) {
  Make(5, {.places = 2, .long_line = 1000, .stall = kNever, .longest = kNever});
  BeginAll();
  writers[2]->connection->Close();  // while it waits
  Poll();
  EXPECT_EQ(writers[3]->read_all(), false);
  writers[0]->connection->Close();  // while it holds a place
  Poll();
  EXPECT_TRUE(writers[3]->read_all());
  EXPECT_FALSE(writers[4]->read_all());
  writers[1]->worker->Say(LinkEvent(WorkerExit{}));  // the end of its line comes with its own end
  RunUntil([this] { return writers[4]->read_all(); });
  EXPECT_EQ(writers[1]->recorder.seen.back(), "exit 0");
}

// Writes `lines` lines of 4 MiB, a piece whenever the last one was read.
struct Feeder {
  static constexpr size_t kLine = 4 << 20;
  static constexpr size_t kPiece = 128 << 10;

  void Feed(Writer& writer) {
    if (!writer.read_all() || written == lines * kLine) return;
    std::string piece(kPiece, 'x');
    written += kPiece;
    if (written % kLine == 0) piece.back() = '\n';
    writer.worker->SayStdout(std::move(piece));
  }
  // Of the line at hand, as far as it was read.
  size_t Pending(const Writer& writer) const {
    return (written - (writer.read_all() ? 0 : kPiece)) % kLine;
  }

  size_t lines = 3;
  size_t written = 0;
};

TEST_F(LongLinesTest, ManyAtOnceStayWithinTheBoundAndAllComeThrough) {
  Make(8, {.places = 2, .long_line = 1 << 20, .stall = kNever, .longest = kNever});
  Poll();
  const size_t before = test::AllocatedBytes();
  std::vector<Feeder> feeders(writers.size());
  size_t most = 0;
  RunUntil([&] {
    size_t long_ones = 0, lines = 0;
    for (size_t i = 0; i < writers.size(); ++i) {
      long_ones += feeders[i].Pending(*writers[i]) > (1 << 20) + Feeder::kPiece ? 1 : 0;
      feeders[i].Feed(*writers[i]);
      lines += writers[i]->lines();
    }
    most = std::max(most, long_ones);
    return lines == 3 * writers.size();
  });
  EXPECT_LE(most, 2u);
  EXPECT_GE(most, 1u);
  Poll();
  // A line that has been read keeps no more than the next one needs.
  EXPECT_LT(test::AllocatedBytes(), before + (2u << 20));
}

TEST_F(LongLinesTest, WithoutAGateNobodyWaits) {
  for (int i = 0; i < 4; ++i) writers.push_back(std::make_unique<Writer>(loop, pool, nullptr));
  for (const auto& writer : writers) {
    writer->worker->SayStdout(std::string(2 << 20, 'x'));
    writer->worker->SayStdout("y");
  }
  Poll();
  EXPECT_EQ(ReadAll(), "yyyy");
}

}  // namespace
}  // namespace acpd::acp
