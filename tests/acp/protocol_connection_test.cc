#include <gtest/gtest.h>

#include "acp/agent_connection.h"
#include "tests/acp/protocol_connection_fixture.h"

namespace acpd::acp {
namespace {

TEST_F(ConnectionTest, AttachesWithRoomForTheLongestLine) {
  Start({.max_line = 1000, .max_depth = 10}, 77);
  EXPECT_EQ(worker->sent, Record{"attach 3 77 " + std::to_string(1000 + (1 << 20))});
}

TEST_F(ConnectionTest, EverythingComesInWireOrder) {
  Start();
  Hello hello;
  hello.agent_pid = 42;
  worker->Say(LinkEvent(hello));
  const std::string first = R"({"id":1,"result":{}})"
                            "\n" +
                            Update("a") +
                            "junk\n"
                            R"({"id":"x","method":"m"})"
                            "\n";
  const std::string before_answer = R"({"method":"n"})"
                                    "\n[]\n";
  const std::string second = before_answer + R"({"id":2,"error":{}})"
                                             "\n";
  worker->SayStdout(first);
  worker->Say(LinkEvent(StderrChunk{"oops"}));
  worker->Say(LinkEvent(StdinDone{5}));
  worker->SayStdout(second);
  RunAll();
  EXPECT_EQ(
      recorder.seen,
      (Record{"hello 42", "answer 1 {}", "update a", "noise junk", R"(request "x" m)",
              "consumed " + std::to_string(first.size()), "stderr oops", "done 5", "notification n",
              "noise []", "consumed " + std::to_string(first.size() + before_answer.size()),
              "answer 2 {}", "consumed " + std::to_string(first.size() + second.size())}));
}

TEST_F(ConnectionTest, PiecesDoNotMatter) {
  const std::string wire = Update("one") + "\r\n" + Update("two") + "noise\n" + Update("three");
  const Record all = {"update one", "update two", "noise noise", "update three"};
  for (size_t cut = 0; cut <= wire.size(); cut += 5) {
    recorder.seen.clear();
    worker = std::make_shared<FakeWorker>(loop.get_executor());
    Start({}, 1000);
    worker->SayStdout(wire.substr(0, cut));
    worker->SayStdout(wire.substr(cut));
    RunAll();
    ASSERT_FALSE(recorder.seen.empty());
    EXPECT_EQ(recorder.seen.back(), "consumed " + std::to_string(1000 + wire.size()));
    std::erase_if(recorder.seen, [](const std::string& s) { return s.starts_with("consumed"); });
    EXPECT_EQ(recorder.seen, all) << cut;
  }
}

TEST_F(ConnectionTest, AnUnfinishedLineConsumesNothing) {
  Start();
  worker->SayStdout("half a ");
  RunAll();
  EXPECT_EQ(recorder.seen, Record{});
  worker->SayStdout("line\nand ");
  worker->SayStdout("");
  RunAll();
  EXPECT_EQ(recorder.seen, (Record{"noise half a line", "consumed 12"}));
  worker->SayStdout("\n\n");
  RunAll();
  EXPECT_EQ(recorder.seen.back(), "consumed 18");
}

TEST_F(ConnectionTest, ReadsOnlyWhileThereIsRoom) {
  recorder.room = false;
  Start();
  worker->SayStdout(Update("a"));
  while (loop.poll() > 0) {
  }
  EXPECT_EQ(worker->reads, 0);
  EXPECT_EQ(recorder.waits, 1);
  recorder.on_note = [this](const std::string& what) { recorder.room = what.starts_with("up"); };
  recorder.room = true;
  recorder.room_changed.Notify();
  worker->SayStdout(Update("b"));
  RunUntil([this] { return recorder.seen.size() == 2; });
  while (loop.poll() > 0) {
  }
  EXPECT_EQ(worker->reads, 1) << "no room behind the first chunk";
  EXPECT_EQ(recorder.waits, 2);
  recorder.on_note = nullptr;
  recorder.room = true;
  recorder.room_changed.Notify();
  RunAll();
  EXPECT_EQ(recorder.seen[2], "update b");
}

TEST_F(ConnectionTest, LongLinesAreParsedInTheirPlace) {
  Start();
  const std::string big(300 << 10, 'x');
  std::string wire = Update("before") + Update(big) + R"({"id":1,"result":")" + big + "\"}\n" +
                     Update("after") + "junk " + big + "\n";
  const size_t size = wire.size();
  for (size_t at = 0; at < size; at += 256 << 10) worker->SayStdout(wire.substr(at, 256 << 10));
  RunUntil([&] {
    return !recorder.seen.empty() && recorder.seen.back() == "consumed " + std::to_string(size);
  });
  std::erase_if(recorder.seen, [](const std::string& s) { return s.starts_with("consumed"); });
  EXPECT_EQ(recorder.seen, (Record{"update before", "update (307200)", "answer 1 (307202)",
                                   "update after", "noise (307205)"}));
}

TEST_F(ConnectionTest, TheLinkIsNotReadWhileALongLineIsParsed) {
  Start();
  worker->SayStdout(Update(std::string(300 << 10, 'x')) + "noise\n");
  worker->Say(LinkEvent(StdinDone{1}));
  recorder.on_note = [this](const std::string& what) {
    if (what != "done 1") {
      EXPECT_EQ(worker->reads, 1) << what;
    }
  };
  RunUntil([this] { return recorder.seen.size() == 4; });
  EXPECT_EQ(recorder.seen[0], "update (307200)");
  EXPECT_EQ(recorder.seen[1], "noise noise");
  EXPECT_EQ(recorder.seen[3], "done 1");
}

TEST_F(ConnectionTest, TheLoopHasItsTurnAfterEachChunk) {
  Start();
  int turns = 0;
  std::vector<int> turn_of_update;
  std::function<void()> count = [&] {
    ++turns;
    if (recorder.seen.size() < 8) asio::post(loop, count);
  };
  recorder.on_note = [&](const std::string& what) {
    if (what.starts_with("update")) turn_of_update.push_back(turns);
  };
  for (int i = 0; i < 4; ++i) worker->SayStdout(Update("x"));
  asio::post(loop, count);
  RunUntil([this] { return recorder.seen.size() == 8; });
  ASSERT_EQ(turn_of_update.size(), 4u);
  for (int i = 1; i < 4; ++i) EXPECT_GT(turn_of_update[i], turn_of_update[i - 1]);
  while (loop.poll() > 0) {  // `count` may be posted once more
  }
}

TEST_F(ConnectionTest, LinesOverTheCapAreReportedAndTheRestGoesOn) {
  Start({.max_line = 200, .max_depth = 5});
  worker->SayStdout(R"({"id":7,"method":"m","params":")" + std::string(300, 'x'));
  RunAll();
  EXPECT_EQ(recorder.seen, Record{"discarding 331"}) << "what is thrown away is not waited for";
  worker->SayStdout("\"}\n" + Update("x") +
                    R"({"id":8,"method":"deep","params":[[[[[1]]]]]})"
                    "\n");
  RunAll();
  EXPECT_EQ(recorder.seen,
            (Record{"discarding 331", "oversize 333 7 m", "update x", "oversize 45 8 deep",
                    "consumed " + std::to_string(worker->offset)}));
}

}  // namespace
}  // namespace acpd::acp
