#include <sys/stat.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <filesystem>
#include <fstream>

#include "acp/spool_link.h"
#include "worker_test_base.h"

// The spool of a worker that gave up waiting, read as if the worker still sent it.
namespace acpd::acp {
namespace {

using std::chrono::steady_clock;
using SpoolResult = absl::StatusOr<std::unique_ptr<WorkerLink>>;

class WorkerSpoolTest : public WorkerTest {
 protected:
  static constexpr uint64_t kFirst = 1000;

  std::string socket() const { return folder_ + "/0"; }

  // A spool as a worker writes it: `size` patterned bytes from kFirst on.
  std::string Bytes(size_t size) {
    Hello hello;
    hello.agent_exited = true;
    hello.first_kept_offset = kFirst;
    hello.last_stdin_done = 4;
    hello.spec = Spec({"echo"});
    std::string bytes = EncodeHello(hello);
    const std::string out = BurstPattern(size);
    for (size_t at = 0; at < size; at += 256 << 10) {
      bytes += EncodeNumbered(FrameType::kStdout, kFirst + at, out.substr(at, 256 << 10));
    }
    return bytes + EncodeExit({false, 3, "the tail", kFirst + size});
  }
  void Put(std::string_view bytes) {
    std::ofstream(SpoolPath(socket()), std::ios::binary) << bytes;
  }
  // As Attach does where nobody listens.
  SpoolResult Open() {
    return Await(
        launcher_->Attach(socket(), Spec({}).worker_id, 1, 1, steady_clock::now() + kPatience));
  }
  std::unique_ptr<Peer> Read(uint64_t from) {
    SpoolResult link = Open();
    if (!link.ok()) throw std::runtime_error(link.status().ToString());
    auto peer = std::make_unique<Peer>(io_.get_executor(), *std::move(link));
    peer->link().SendAttach({9, from, 1 << 20});
    return peer;
  }
  absl::Status FailureOf(std::string_view bytes) {
    Put(bytes);
    auto peer = Read(0);
    WaitFor("the end", [&] { return !peer->seen().end.ok(); });
    return peer->seen().end;
  }
};

TEST_F(WorkerSpoolTest, AWorkerThatGaveUpIsReadToItsEnd) {
  LaunchSpec spec = Spec({"burst", "3000000"});
  spec.orphan_timeout_ms = 200;
  Started worker = Start(spec);
  WaitFor("the burst", [&] { return worker.peer->seen().next() == 3'000'000; });
  worker.peer->link().SendAck(1'000'000);
  worker.peer->link().Close();
  WaitForGone(worker.pid);
  ASSERT_TRUE(std::filesystem::exists(SpoolPath(worker.socket)));

  SpoolResult link = Await(launcher_->Attach(worker.socket, spec.worker_id, worker.pid,
                                             worker.start_ticks, steady_clock::now() + kPatience));
  ASSERT_TRUE(link.ok()) << link.status();
  Peer peer(io_.get_executor(), *std::move(link));
  io_.poll();
  EXPECT_FALSE(peer.seen().hello.has_value()) << "nothing comes before ATTACH";
  peer.link().SendAttach({2, 1'234'567, 1 << 20});
  WaitFor("EXIT", [&] { return peer.seen().exit.has_value(); });
  EXPECT_EQ(peer.seen().hello->first_kept_offset, 1'234'567u);
  EXPECT_EQ(peer.seen().out_start, 1'234'567u);
  EXPECT_FALSE(peer.seen().gap);
  EXPECT_TRUE(peer.seen().out == BurstPattern(3'000'000).substr(1'234'567));
  EXPECT_LE(peer.seen().longest_chunk, 256u << 10);
  EXPECT_TRUE(peer.seen().end.ok()) << "as a worker that waits for ACK_EXIT";
  peer.link().SendStdin(1, "too late");
  peer.link().SendAck(3'000'000);
  peer.link().SendStop(milliseconds(0));
  peer.link().SendAckExit();
  WaitFor("the end", [&] { return !peer.seen().end.ok(); });
  EXPECT_EQ(peer.seen().end.code(), absl::StatusCode::kUnavailable);
  WaitFor("the spool to go", [&] { return !std::filesystem::exists(SpoolPath(worker.socket)); });
}

TEST_F(WorkerSpoolTest, ItBeginsExactlyWhereItIsAskedTo) {
  constexpr size_t kSize = 600'000;
  Put(Bytes(kSize));
  const std::string all = BurstPattern(kSize);
  for (const uint64_t from : {uint64_t{0}, kFirst, kFirst + 1, kFirst + (256 << 10),
                              kFirst + (256 << 10) + 1, kFirst + kSize - 1, kFirst + kSize}) {
    auto peer = Read(from);
    WaitFor("EXIT", [&] { return peer->seen().exit.has_value(); });
    const uint64_t start = std::max(from, kFirst);
    EXPECT_EQ(peer->seen().hello->first_kept_offset, start);
    EXPECT_EQ(peer->seen().hello->last_stdin_done, 4u);
    if (start < kFirst + kSize) {
      EXPECT_EQ(peer->seen().out_start, start);
    }
    EXPECT_TRUE(peer->seen().out == all.substr(start - kFirst)) << from;
    EXPECT_FALSE(peer->seen().gap);
    EXPECT_EQ(peer->seen().exit->stderr_tail, "the tail");
  }
  EXPECT_TRUE(std::filesystem::exists(SpoolPath(socket()))) << "nobody has acknowledged its end";
}

TEST_F(WorkerSpoolTest, ASpoolWhoseSocketIsLeftGoesWithIt) {
  Put(Bytes(10));
  {
    asio::local::stream_protocol::acceptor nobody(io_);
    nobody.open();
    nobody.bind(asio::local::stream_protocol::endpoint(socket()));
  }
  ASSERT_TRUE(std::filesystem::exists(socket()));
  auto peer = Read(0);
  WaitFor("EXIT", [&] { return peer->seen().exit.has_value(); });
  peer->link().SendAckExit();
  WaitFor("the files to go", [&] { return std::filesystem::is_empty(folder_); });
}

TEST_F(WorkerSpoolTest, ATornOneIsUnavailable) {
  const std::string whole = Bytes(300);
  for (size_t size = 0; size < whole.size(); size += size < 40 ? 1 : 29) {
    const absl::Status end = FailureOf(whole.substr(0, size));
    EXPECT_EQ(end.code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(end.message(), "the spool that its worker left is torn: it has no end") << size;
  }
}

TEST_F(WorkerSpoolTest, AMalformedOneIsUnavailable) {
  Hello stranger;
  stranger.spec.worker_id = "another";
  Hello own;
  own.spec = Spec({});
  const std::string hello = EncodeHello(own);
  const std::string end = EncodeExit({});
  const auto out = [](uint64_t at) { return EncodeNumbered(FrameType::kStdout, at, "abc"); };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"no frame", std::string("\0\0\0\0\0", 5)},
      {"a frame over the limit", std::string("\xff\xff\xff\xff\x01", 5)},
      {"another worker's", EncodeHello(stranger) + end},
      {"no HELLO", end},
      {"two of them", hello + hello},
      {"output before HELLO", out(0)},
      {"output with a gap", hello + out(0) + out(4)},
      {"output twice", hello + out(0) + out(0)},
      {"an end elsewhere", hello + out(0) + end},
  };
  for (const auto& [name, bytes] : cases) {
    const absl::Status failure = FailureOf(bytes);
    EXPECT_EQ(failure.code(), absl::StatusCode::kUnavailable) << name;
    EXPECT_EQ(failure.message(), "the spool that its worker left is malformed") << name;
  }
}

TEST_F(WorkerSpoolTest, OneOfAnotherVersionSaysItsVersion) {
  std::string bytes = Bytes(10);
  bytes[5] = static_cast<char>(kLinkVersion + 1);
  Put(bytes);
  auto peer = Read(0);
  WaitFor("HELLO", [&] { return peer->seen().hello.has_value(); });
  EXPECT_EQ(peer->seen().hello->link_version, kLinkVersion + 1);
  WaitFor("the end", [&] { return !peer->seen().end.ok(); });
}

TEST_F(WorkerSpoolTest, OnlyAFileIsRead) {
  ASSERT_EQ(mkfifo(SpoolPath(socket()).c_str(), 0600), 0);
  EXPECT_EQ(Open().status().message(), "the spool that its worker left is no file of ours");
  std::filesystem::remove(SpoolPath(socket()));
  std::ofstream(folder_ + "/elsewhere") << Bytes(10);
  std::filesystem::create_symlink("elsewhere", SpoolPath(socket()));
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(WorkerSpoolTest, CloseEndsTheReader) {
  Put(Bytes(600'000));
  auto waits = std::make_unique<Peer>(io_.get_executor(), *Open());
  io_.poll();
  waits->Close();
  WaitFor("its end", [&] { return !waits->seen().end.ok(); });
  EXPECT_EQ(waits->seen().end.code(), absl::StatusCode::kCancelled);
  auto reads = Read(0);
  WaitFor("HELLO", [&] { return reads->seen().hello.has_value(); });
  reads->Close();
  WaitFor("its end", [&] { return !reads->seen().end.ok(); });
  EXPECT_EQ(reads->seen().end.code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace acpd::acp
