// A restart of acpd inside a line over the cap: the next connection ends the line as one would
// have.

#include <gtest/gtest.h>

#include "tests/acp/protocol_connection_fixture.h"
#include "tests/acp/protocol_oversize_lines.h"
#include "tests/acp/protocol_splitter.h"

namespace acpd::acp {
namespace {

constexpr size_t kTinyCap = 4;
constexpr size_t kMostSaved = 5 << 10;

std::string Reported(const OversizeCase& c, const std::string& line) {
  return "oversize " + std::to_string(line.size()) + " " + c.id + " " + c.method;
}

TEST(Discard, ALineGoesOnAfterARestartAtAnyOfItsBytes) {
  for (const OversizeCase& c : OversizeCases()) {
    const std::string line = Fill(c.line, 1100);
    const std::vector<std::string> expected = {Reported(c, line), "next"};
    for (size_t cut = 0; cut <= line.size(); ++cut) {
      SplitterRun before(kTinyCap, 1000);
      before.Feed(line.substr(0, cut));
      const uint64_t from = before.splitter.consumed();
      ASSERT_EQ(before.splitter.discarded().empty(), cut <= kTinyCap + 1);
      ASSERT_EQ(from, cut <= kTinyCap + 1 ? 1000 : 1000 + cut);
      SplitterRun after(kTinyCap, from, before.splitter.discarded());
      EXPECT_EQ(after.splitter.consumed(), from);
      after.Feed(line.substr(from - 1000) + "\nnext\n");
      EXPECT_EQ(after.seen, expected) << c.line << " cut at " << cut;
      EXPECT_EQ(after.splitter.consumed(), 1000 + line.size() + 6);
    }
  }
}

TEST(Discard, ARestartBehindEachByteChangesNothing) {
  for (const OversizeCase& c : OversizeCases()) {
    const std::string line = Fill(c.line, 1100);
    uint64_t from = kTinyCap + 2;
    SplitterRun first(kTinyCap);
    first.Feed(line.substr(0, from));
    std::string saved = first.splitter.discarded();
    for (; from < line.size(); ++from) {
      SplitterRun next(kTinyCap, from, saved);
      next.Feed(line.substr(from, 1));
      saved = next.splitter.discarded();
      ASSERT_LE(saved.size(), kMostSaved);
      ASSERT_TRUE(next.seen.empty());
    }
    SplitterRun last(kTinyCap, from, saved);
    last.Feed("\n");
    EXPECT_EQ(last.seen, std::vector<std::string>{Reported(c, line)}) << c.line;
  }
}

TEST(Discard, ALowerOrHigherCapAfterTheRestartChangesNothing) {
  const std::string line = R"({"id":1,"method":"m","params":")" + std::string(100, 'x') + "\"}";
  for (const size_t cap : {size_t{1}, size_t{100}, size_t{1} << 20}) {
    SplitterRun before(50);
    before.Feed(line.substr(0, 60));
    SplitterRun after(cap, 60, before.splitter.discarded());
    after.Feed(line.substr(60) + "\n");
    EXPECT_EQ(after.seen,
              std::vector<std::string>{"oversize " + std::to_string(line.size()) + " 1 m"});
  }
}

TEST(Discard, WhatIsSavedIsSmallWhateverTheLine) {
  const std::string token(1022, 't');
  SplitterRun run(kTinyCap);
  run.Feed(R"({"id":")" + token + R"(","method":")" + token + R"(",")" + token + R"(":")" + token);
  EXPECT_LE(run.splitter.discarded().size(), kMostSaved);
  run.Feed(std::string(1 << 20, 't') + "\":" + std::string(1 << 20, '['));
  EXPECT_LE(run.splitter.discarded().size(), kMostSaved);
  EXPECT_GT(run.splitter.discarded().size(), 2000u) << "the id and the method are kept";
}

TEST(Discard, TextThatIsNotOursMeansALineOfWhichNothingIsKnown) {
  SplitterRun before(kTinyCap);
  before.Feed(R"({"id":1,"method":"m","params":")");
  const std::string good = before.splitter.discarded();
  std::vector<std::string> cases = {"x", std::string(5000, '\xff'), good + "x"};
  for (size_t size = 1; size < good.size(); ++size) cases.push_back(good.substr(0, size));
  cases.push_back(good);
  cases.back()[16] = 2;  // a flag that is neither
  cases.push_back(good);
  cases.back()[0] = '\x7f';  // more bytes than there were
  for (const std::string& bad : cases) {
    SplitterRun after(kTinyCap, 30, bad);
    EXPECT_TRUE(after.splitter.discarding());
    EXPECT_EQ(after.splitter.consumed(), 30u);
    after.Feed("{\"id\":2}\nok\n");
    EXPECT_EQ(after.seen, (std::vector<std::string>{"oversize 8  ", "ok"}));
  }
}

class DiscardTest : public ConnectionTest {
 protected:
  // Connects anew, as after a restart, where the last connection had come to.
  void Restart() {
    connection.reset();
    while (loop.poll() > 0) {
    }
    loop.restart();
    const uint64_t offset = worker->offset;
    recorder.seen.clear();
    worker = std::make_shared<FakeWorker>(loop.get_executor());
    Start({.max_line = 200}, offset, recorder.discard);
  }
};

TEST_F(DiscardTest, AConnectionGoesOnWhereTheLastOneStopped) {
  Start({.max_line = 200});
  worker->SayStdout(Update("a") + "{" + std::string(300, ' ') + R"("id":7,"met)");
  RunAll();
  EXPECT_EQ(recorder.seen, (Record{"update a", "discarding " + std::to_string(worker->offset)}));
  const uint64_t line_begin = Update("a").size();
  for (const char* piece : {R"(hod":"m","par)", R"(ams":")"}) {
    Restart();
    EXPECT_EQ(worker->sent, Record{"attach 3 " + std::to_string(worker->offset) + " " +
                                   std::to_string(200 + (1 << 20))});
    worker->SayStdout(piece);
    RunAll();
    EXPECT_EQ(recorder.seen, Record{"discarding " + std::to_string(worker->offset)});
  }
  Restart();
  worker->SayStdout("\"}\n" + Update("b"));
  RunAll();
  const uint64_t line_size = worker->offset - Update("b").size() - 1 - line_begin;
  EXPECT_EQ(recorder.seen, (Record{"oversize " + std::to_string(line_size) + " 7 m", "update b",
                                   "consumed " + std::to_string(worker->offset)}));
  EXPECT_EQ(recorder.discard, "");
}

TEST_F(DiscardTest, TheAgentsEndEndsTheLine) {
  Start({.max_line = 200});
  worker->SayStdout(R"({"id":7,"result":")" + std::string(300, 'x'));
  RunAll();
  EXPECT_FALSE(recorder.discard.empty());
  Restart();
  worker->Say(LinkEvent(WorkerExit{}));
  RunAll();
  EXPECT_EQ(recorder.seen, (Record{"oversize 318 7 ", "consumed 318", "exit 0"}));
  EXPECT_EQ(recorder.discard, "");
}

}  // namespace
}  // namespace acpd::acp
