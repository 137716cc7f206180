// How a connection ends: the exit, a loss, Close.

#include <gtest/gtest.h>

#include "tests/acp/protocol_connection_fixture.h"

namespace acpd::acp {
namespace {

TEST_F(ConnectionTest, TheLastLineMayLackItsNewline) {
  Start();
  worker->SayStdout(Update("a") + R"({"id":3,"result":null})");
  worker->Say(LinkEvent(WorkerExit{false, 4, "", worker->offset}));
  worker->Say(LinkEvent(StdinDone{9}));
  RunUntil([this] { return recorder.seen.size() == 5; });
  while (loop.poll() > 0) {
  }
  EXPECT_EQ(recorder.seen,
            (Record{"update a", "consumed " + std::to_string(Update("a").size()), "answer 3 null",
                    "consumed " + std::to_string(worker->offset), "exit 4"}));
  connection->AcknowledgeExit();
  EXPECT_EQ(worker->sent.back(), "ack exit");
  EXPECT_FALSE(worker->closed);
}

TEST_F(ConnectionTest, ALongLastLineComesBeforeTheExit) {
  Start();
  worker->SayStdout("x" + std::string(256 << 10, 'y'));
  worker->Say(LinkEvent(WorkerExit{true, 9, "", worker->offset}));
  RunUntil([this] { return recorder.seen.size() == 3; });
  EXPECT_EQ(recorder.seen, (Record{"noise (262145)", "consumed 262145", "signal 9"}));
}

TEST_F(ConnectionTest, ALostLinkIsReportedOnce) {
  Start();
  worker->SayStdout("half");
  worker->Say(absl::UnavailableError("the worker is gone"));
  worker->Say(absl::UnavailableError("again"));
  RunUntil([this] { return !recorder.seen.empty(); });
  while (loop.poll() > 0) {
  }
  EXPECT_EQ(recorder.seen, Record{"lost the worker is gone"});
}

TEST_F(ConnectionTest, NoLossBehindAnExit) {
  Start();
  worker->Say(LinkEvent(WorkerExit{}));
  worker->Say(absl::UnavailableError("the worker is gone"));
  RunUntil([this] { return !recorder.seen.empty(); });
  while (loop.poll() > 0) {
  }
  EXPECT_EQ(recorder.seen, Record{"exit 0"});
}

TEST_F(ConnectionTest, OutputThatDoesNotContinueIsALoss) {
  for (const uint64_t offset : {99, 105, 107, 0}) {
    recorder.seen.clear();
    worker = std::make_shared<FakeWorker>(loop.get_executor());
    Start({}, 100);
    worker->SayStdout("noise\n");
    worker->SayStdoutAt(offset, "more\n");
    RunAll();
    EXPECT_EQ(recorder.seen, (Record{"noise noise", "consumed 106",
                                     "lost The worker's output goes on at byte " +
                                         std::to_string(offset) + " instead of 106."}));
  }
}

TEST_F(ConnectionTest, AnExceptionOfTheHandlerIsALoss) {
  Start();
  recorder.on_note = [this](const std::string&) {
    recorder.on_note = nullptr;
    throw std::runtime_error("on purpose");
  };
  worker->SayStdout("noise\nmore\n");
  RunUntil([this] { return recorder.seen.size() == 2; });
  EXPECT_EQ(recorder.seen, (Record{"noise noise", "lost Reading failed: on purpose"}));
}

TEST_F(ConnectionTest, SendsWhatItIsGiven) {
  Start();
  connection->SendLine(1, "line");
  connection->Acknowledge(5);
  connection->Stop(milliseconds(250));
  connection->AcknowledgeExit();
  worker->sent.erase(worker->sent.begin());
  EXPECT_EQ(worker->sent, (Record{"stdin 1 line", "ack 5", "stop 250", "ack exit"}));
}

TEST_F(ConnectionTest, NothingComesAfterClose) {
  Start();
  worker->SayStdout(Update("a"));
  RunAll();
  connection->Close();
  EXPECT_TRUE(worker->closed);
  worker->SayStdout(Update("b"));
  while (loop.poll() > 0) {
  }
  EXPECT_EQ(recorder.seen.size(), 2u);
}

TEST_F(ConnectionTest, CloseWhileThereIsNoRoom) {
  recorder.room = false;
  Start();
  worker->SayStdout(Update("a"));
  while (loop.poll() > 0) {
  }
  connection->Close();
  recorder.room = true;
  recorder.room_changed.Notify();
  while (loop.poll() > 0) {
  }
  EXPECT_EQ(recorder.seen, Record{});
  EXPECT_EQ(worker->reads, 0);
}

TEST_F(ConnectionTest, CloseWhileALongLineIsParsed) {
  Start();
  worker->SayStdout(Update(std::string(300 << 10, 'x')));
  RunUntil([this] { return worker->events.empty(); });
  connection.reset();
  loop.restart();
  loop.run_for(std::chrono::seconds(30));
  EXPECT_TRUE(loop.stopped());
  EXPECT_EQ(recorder.seen, Record{});
}

// Each kind of call may close or destroy the connection, or stop the agent.
class InsideACall : public ConnectionTest, public testing::WithParamInterface<std::string> {
 protected:
  void SayAll() {
    worker->Say(LinkEvent(Hello()));
    worker->SayStdout(R"({"id":1,"result":{}})"
                      "\n" +
                      Update("a") + "noise\n" +
                      R"({"id":2,"method":"m"})"
                      "\n"
                      R"({"method":"n"})"
                      "\n" +
                      std::string(2000, 'x') + "\n" + Update(std::string(300 << 10, 'x')));
    worker->Say(LinkEvent(StderrChunk{"text"}));
    worker->Say(LinkEvent(StdinDone{1}));
    worker->SayStdout("last");
    worker->Say(LinkEvent(WorkerExit{}));
  }
};

TEST_P(InsideACall, CloseEndsAll) {
  Start();
  recorder.on_note = [this](const std::string& what) {
    if (!what.starts_with(GetParam())) return;
    connection->Stop(milliseconds(1));
    connection->Close();
    connection.reset();
  };
  SayAll();
  RunUntil([this] { return worker->closed; });
  while (loop.poll() > 0) {
  }
  EXPECT_TRUE(recorder.seen.back().starts_with(GetParam())) << recorder.seen.back();
  EXPECT_EQ(worker->sent.back(), "stop 1");
}

TEST_P(InsideACall, StopChangesNothingElse) {
  Start();
  recorder.on_note = [this](const std::string& what) {
    if (what.starts_with(GetParam())) connection->Stop(milliseconds(2));
  };
  SayAll();
  RunUntil([this] { return !recorder.seen.empty() && recorder.seen.back() == "exit 0"; });
  EXPECT_EQ(recorder.seen.size(), 14u);
  EXPECT_EQ(worker->sent[1], "stop 2");
}

INSTANTIATE_TEST_SUITE_P(EveryCall, InsideACall,
                         testing::Values("hello", "answer", "update a", "update (", "noise n",
                                         "request", "notification", "consumed", "stderr", "done",
                                         "exit"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = std::isalnum(c) ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace acpd::acp
