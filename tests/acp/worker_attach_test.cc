#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <fstream>

#include "acp/socket_link.h"
#include "worker_test_base.h"

// Who may attach to a worker, what a new connection gets, and what becomes of a worker that nobody
// attaches to.
namespace acpd::acp {
namespace {

class WorkerAttachTest : public WorkerTest {};

TEST_F(WorkerAttachTest, ANewConnectionGetsExactlyWhatWasNotAcknowledged) {
  constexpr size_t kSize = 3'000'000, kAcked = 1'234'567;
  Started worker = StartVerb({"burst", std::to_string(kSize)});
  worker.peer->link().SendStdin(1, "before");
  WaitFor("the burst", [&] { return worker.peer->seen().out.size() == kSize + 7; });
  worker.peer->link().SendAck(kAcked);
  worker.peer->link().Close();
  WaitFor("the reader's end", [&] { return !worker.peer->seen().end.ok(); });
  EXPECT_EQ(worker.peer->seen().end.code(), absl::StatusCode::kCancelled);

  std::string all = BurstPattern(kSize) + "before\n";
  auto second = Attach(worker.socket, 2, kAcked + 100);
  WaitFor("HELLO", [&] { return second->seen().hello.has_value(); });
  EXPECT_EQ(second->seen().hello->last_stdin_done, 1u);
  EXPECT_EQ(second->seen().hello->first_kept_offset, kAcked + 100);
  WaitFor("the rest again", [&] { return second->seen().next() == all.size(); });
  EXPECT_EQ(second->seen().out_start, kAcked + 100);
  EXPECT_FALSE(second->seen().gap);
  EXPECT_TRUE(second->seen().out == all.substr(kAcked + 100));

  auto third = Attach(worker.socket, 3, 0);
  WaitFor("the rest a third time", [&] { return third->seen().next() == all.size(); });
  EXPECT_EQ(third->seen().out_start, kAcked + 100);
  worker.peer = std::move(third);
  Finish(worker);
}

TEST_F(WorkerAttachTest, WhatTheAgentSaysWhileNobodyIsAttachedIsKept) {
  Started worker = StartVerb({"echo"});
  worker.peer->link().SendStdin(1, "last before the loss");
  worker.peer->link().Close();
  auto second = Attach(worker.socket, 2, 0);
  WaitFor("the echo", [&] { return second->seen().out == "last before the loss\n"; });
  worker.peer = std::move(second);
  Finish(worker);
}

TEST_F(WorkerAttachTest, TheHighestGenerationWins) {
  Started worker = StartVerb({"echo"});
  auto fifth = Attach(worker.socket, 5, 0);
  WaitFor("the new one's HELLO", [&] { return fifth->seen().hello.has_value(); });
  WaitFor("the old one's end", [&] { return !worker.peer->seen().end.ok(); });
  EXPECT_EQ(worker.peer->seen().end.code(), absl::StatusCode::kUnavailable);

  auto fourth = Attach(worker.socket, 4, 0);
  WaitFor("the refusal", [&] { return !fourth->seen().end.ok(); });
  EXPECT_FALSE(fourth->seen().hello.has_value());

  fifth->link().SendStdin(1, "still served");
  WaitFor("the echo", [&] { return fifth->seen().out == "still served\n"; });
  // The same generation again is the same acpd, which lost its connection before we did.
  auto again = Attach(worker.socket, 5, 0);
  WaitFor("the echo again", [&] { return again->seen().out == "still served\n"; });
  worker.peer = std::move(again);
  Finish(worker);
}

TEST_F(WorkerAttachTest, ARepeatedSeqIsIgnored) {
  Started worker = StartVerb({"echo"});
  worker.peer->link().SendStdin(1, "once");
  worker.peer->link().SendStdin(2, "twice");
  worker.peer->link().SendStdin(2, "twice");
  worker.peer->link().SendStdin(1, "once");
  worker.peer->link().Close();
  auto second = Attach(worker.socket, 2, 0);
  second->link().SendStdin(2, "twice");
  second->link().SendStdin(3, "thrice");
  WaitFor("the third line", [&] { return second->seen().Lines().size() == 3; });
  EXPECT_EQ(second->seen().out, "once\ntwice\nthrice\n");
  EXPECT_EQ(second->seen().done, std::vector<uint64_t>{3});
  worker.peer = std::move(second);
  Finish(worker);
}

// Speaks bytes of its own choice to a worker.
class RawClient {
 public:
  RawClient(asio::io_context& io, const std::string& path) : socket_(io) {
    socket_.connect(asio::local::stream_protocol::endpoint(path));
  }
  void Send(std::string_view bytes) { asio::write(socket_, asio::buffer(bytes)); }
  // True when the worker closes the connection, whatever it says before.
  bool ReadToEnd() {
    std::string bytes;
    boost::system::error_code error;
    asio::read(socket_, asio::dynamic_buffer(bytes), error);
    return error == asio::error::eof || error == asio::error::connection_reset;
  }

 private:
  asio::local::stream_protocol::socket socket_;
};

TEST_F(WorkerAttachTest, MalformedFramesEndTheConnectionAndHarmNothing) {
  Started worker = StartVerb({"echo"});
  const std::string attach = EncodeAttach({9, 0, 1000});
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"no ATTACH first", EncodeNumbered(FrameType::kAck, 0)},
      {"cut ATTACH", std::string("\x05\0\0\0\x10"
                                 "1234",
                                 9)},
      {"empty frame", std::string("\0\0\0\0", 4)},
      {"length over the limit", std::string("\xff\xff\xff\xff\x10", 5)},
      {"second ATTACH", attach + attach},
      {"STDIN without a number", attach + std::string("\x01\0\0\0\x11", 5)},
      {"ACK of what was never sent", attach + EncodeNumbered(FrameType::kAck, 5)},
      {"ACK with bytes", attach + EncodeNumbered(FrameType::kAck, 0, "x")},
      {"STOP without a grace", attach + std::string("\x01\0\0\0\x14", 5)},
  };
  for (const auto& [name, bytes] : cases) {
    RawClient client(io_, worker.socket);
    client.Send(bytes);
    EXPECT_TRUE(client.ReadToEnd()) << name;
  }
  auto last = Attach(worker.socket, 9, 0);
  last->link().SendStdin(1, "unharmed");
  WaitFor("the echo", [&] { return last->seen().out == "unharmed\n"; });
  worker.peer = std::move(last);
  Finish(worker);
}

TEST_F(WorkerAttachTest, UnknownFramesAreSkippedAndSplitOnesPutTogether) {
  Started worker = StartVerb({"echo"});
  worker.peer->link().Close();
  asio::local::stream_protocol::socket socket(io_);
  socket.connect(asio::local::stream_protocol::endpoint(worker.socket));
  std::string bytes = EncodeAttach({2, 0, 1000}) + std::string("\x04\0\0\0\x7fxyz", 8) +
                      EncodeNumbered(FrameType::kStdin, 1, "in pieces");
  for (char byte : bytes) asio::write(socket, asio::buffer(&byte, 1));
  // A newer ATTACH is free to drop what this connection has not been read of yet.
  std::string said;
  WaitFor("the echo on this connection", [&] {
    std::string more(socket.available(), '\0');
    asio::read(socket, asio::buffer(more));
    said += more;
    return said.find("in pieces\n") != said.npos;
  });
  socket.close();
  auto peer = Attach(worker.socket, 3, 0);
  WaitFor("the echo", [&] { return peer->seen().out == "in pieces\n"; });
  worker.peer = std::move(peer);
  Finish(worker);
}

TEST_F(WorkerAttachTest, ASilentConnectionDoesNotKeepOthersOut) {
  Started worker = StartVerb({"echo"});
  std::vector<std::unique_ptr<Peer>> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(Connect(worker.socket));
  auto second = Attach(worker.socket, 2, 0);
  WaitFor("HELLO", [&] { return second->seen().hello.has_value(); });
  worker.peer = std::move(second);
  Finish(worker);
}

TEST_F(WorkerAttachTest, NobodyComesAndTheWorkerLeavesItsSpool) {
  LaunchSpec spec = Spec({"burst", "300000"});
  spec.orphan_timeout_ms = 1000;
  Started worker = Start(spec);
  worker.peer->link().SendStdin(1, "and this");
  WaitFor("the burst", [&] { return worker.peer->seen().next() == 300'009; });
  worker.peer->link().SendAck(1000);
  const int64_t agent = worker.peer->seen().hello->agent_pid;
  worker.peer->link().Close();
  WaitForGone(worker.pid);
  EXPECT_FALSE(IsAlive(agent));
  EXPECT_FALSE(std::filesystem::exists(worker.socket));

  const std::string path = worker.socket + ".spool";
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::ifstream in(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  // It is what an attached acpd would have been sent, so it is read as that.
  asio::local::stream_protocol::socket ours(io_), theirs(io_);
  asio::local::connect_pair(ours, theirs);
  Peer reader(io_.get_executor(), MakeWorkerLink(std::move(ours)));
  asio::co_spawn(io_, asio::async_write(theirs, asio::buffer(bytes), asio::use_awaitable),
                 [](std::exception_ptr, size_t) {});
  WaitFor("EXIT in the spool", [&] { return reader.seen().exit.has_value(); });
  EXPECT_TRUE(reader.seen().hello->agent_exited);
  EXPECT_EQ(reader.seen().hello->last_stdin_done, 1u);
  EXPECT_EQ(reader.seen().out_start, 1000u);
  EXPECT_TRUE(reader.seen().out == (BurstPattern(300'000) + "and this\n").substr(1000));
  EXPECT_EQ(reader.seen().exit->end_offset, 300'009u);
}

}  // namespace
}  // namespace acpd::acp
