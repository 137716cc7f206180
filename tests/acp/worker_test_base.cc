#include "worker_test_base.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <filesystem>
#include <sstream>
#include <type_traits>

#include "acp/process_marks.h"
#include "acp/process_stat.h"
#include "acp/socket_link.h"

namespace acpd::acp {
namespace {

void Note(Peer::Record& record, const StdoutChunk& chunk) {
  if (record.out.empty()) record.out_start = chunk.offset;
  if (chunk.offset != record.next()) record.gap = true;
  record.last_offset = chunk.offset;
  record.longest_chunk = std::max(record.longest_chunk, chunk.bytes.size());
  record.out.append(chunk.bytes);
}

void Note(Peer::Terminal& terminal, const TerminalOutput& output) {
  if (terminal.frames.empty()) {
    terminal.out_start = terminal.next = output.offset;
  }
  if (output.offset < terminal.next) terminal.overlap = true;
  if (output.offset > terminal.next) terminal.gaps += output.offset - terminal.next;
  if (terminal.exited()) terminal.late = true;
  terminal.next = output.offset + output.bytes.size();
  terminal.out.append(output.bytes);
  terminal.frames.push_back(output.bytes.size());
}

void Note(Peer::Record& record, const LinkEvent& event) {
  if (!std::holds_alternative<StdoutChunk>(event)) record.order.push_back(event.index());
  if (const auto* state = std::get_if<TerminalState>(&event)) {
    record.terminals[state->number].states.push_back(*state);
  }
  if (const auto* output = std::get_if<TerminalOutput>(&event)) {
    Note(record.terminals[output->number], *output);
  }
  if (const auto* snapshot = std::get_if<TerminalSnapshot>(&event)) {
    record.snapshots.push_back(*snapshot);
  }
  if (const auto* hello = std::get_if<Hello>(&event)) record.hello = *hello;
  if (const auto* chunk = std::get_if<StdoutChunk>(&event)) Note(record, *chunk);
  if (const auto* chunk = std::get_if<StderrChunk>(&event)) record.err.append(chunk->bytes);
  if (const auto* done = std::get_if<StdinDone>(&event)) record.done.push_back(done->seq);
  if (const auto* exit = std::get_if<WorkerExit>(&event)) record.exit = *exit;
}

awaitable<void> ReadAll(WorkerLink* link, std::shared_ptr<Peer::Record> record,
                        std::shared_ptr<bool> auto_ack) {
  for (;;) {
    absl::StatusOr<LinkEvent> event = co_await link->Read();
    if (!event.ok()) {
      record->end = event.status();
      co_return;
    }
    Note(*record, *event);
    if (*auto_ack && std::holds_alternative<StdoutChunk>(*event)) link->SendAck(record->next());
  }
}

}  // namespace

Peer::Peer(asio::any_io_executor loop, std::unique_ptr<WorkerLink> link) : link_(std::move(link)) {
  Spawn(loop, ReadAll(link_.get(), record_, auto_ack_),
        [](const std::string& what) { ADD_FAILURE() << "the reader failed: " << what; });
}

Peer::~Peer() { Close(); }

void Peer::Close() { link_->Close(); }

std::vector<std::string> Peer::Record::Lines() const {
  std::vector<std::string> lines;
  std::istringstream in(out);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

WorkerTest::WorkerTest() {
  // Short: sockets lie in it.
  std::string name = std::filesystem::temp_directory_path() / "worker-XXXXXX";
  folder_ = mkdtemp(name.data());
  program_ = ACPD_WORKER_PROGRAM;
  launcher_ = MakeLauncher(io_.get_executor(), pool_, program_);
}

WorkerTest::~WorkerTest() {
  WaitFor("all workers to be reaped", [] { return OwnChildren().empty(); });
  // A reader that was just cancelled still holds its peer's link.
  io_.poll();
  pool_.join();
  std::filesystem::remove_all(folder_);
}

LaunchSpec WorkerTest::Spec(std::vector<std::string> args) {
  LaunchSpec spec;
  spec.worker_id =
      std::filesystem::path(folder_).filename().string() + "-" + std::to_string(next_socket_);
  spec.argv = std::move(args);
  spec.argv.insert(spec.argv.begin(), ACPD_WORKER_TEST_AGENT);
  spec.env = {{"PATH", "/usr/bin:/bin"}, {"GREETING", "hello"}};
  spec.cwd = folder_;
  return spec;
}

absl::StatusOr<WorkerTest::Started> WorkerTest::TryStart(LaunchSpec spec) {
  Started started;
  started.socket = folder_ + "/" + std::to_string(next_socket_++);
  absl::StatusOr<LaunchedWorker> launched = Await(launcher_->Launch(
      std::move(spec), started.socket, std::chrono::steady_clock::now() + kPatience));
  if (!launched.ok()) return launched.status();
  started.pid = launched->pid;
  started.start_ticks = launched->start_ticks;
  started.peer = std::make_unique<Peer>(io_.get_executor(), std::move(launched->link));
  return started;
}

WorkerTest::Started WorkerTest::Start(LaunchSpec spec, uint64_t window) {
  absl::StatusOr<Started> started = TryStart(std::move(spec));
  if (!started.ok()) throw std::runtime_error(started.status().ToString());
  started->peer->link().SendAttach({1, 0, window});
  Peer& peer = *started->peer;
  WaitFor("HELLO", [&peer] { return peer.seen().hello.has_value(); });
  return *std::move(started);
}

std::unique_ptr<Peer> WorkerTest::Connect(const std::string& socket_path) {
  asio::local::stream_protocol::socket socket(io_);
  socket.connect(asio::local::stream_protocol::endpoint(socket_path));
  return std::make_unique<Peer>(io_.get_executor(), MakeWorkerLink(std::move(socket)));
}

std::unique_ptr<Peer> WorkerTest::Attach(const std::string& socket, uint64_t generation,
                                         uint64_t from, uint64_t window) {
  auto peer = Connect(socket);
  peer->link().SendAttach({generation, from, window});
  return peer;
}

bool WorkerTest::WaitFor(const std::string& what, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      ADD_FAILURE() << "waited in vain for " << what;
      return false;
    }
    if (io_.stopped()) io_.restart();
    io_.run_one_for(milliseconds(2));
  }
  return true;
}

bool WorkerTest::WaitForGone(int64_t pid) {
  return WaitFor("the end of process " + std::to_string(pid), [pid] { return !IsAlive(pid); });
}

bool WorkerTest::WaitForExit(Started& worker) {
  return WaitFor("EXIT", [&worker] { return worker.peer->seen().exit.has_value(); });
}

void WorkerTest::Finish(Started& worker) {
  worker.peer->set_auto_ack(true);
  worker.peer->link().SendAck(worker.peer->seen().next());
  worker.peer->link().SendStop(milliseconds(0));
  WaitForExit(worker);
  worker.peer->link().SendAckExit();
  WaitForGone(worker.pid);
  EXPECT_FALSE(std::filesystem::exists(worker.socket)) << "the worker left its socket behind";
}

bool IsAlive(int64_t pid) {
  auto stat = ReadProcessStat(static_cast<pid_t>(pid));
  return stat && stat->state != 'Z' && stat->state != 'X';
}

size_t PrivateBytes(int64_t pid) {
  std::istringstream in(ReadProcFile("/proc/" + std::to_string(pid) + "/smaps_rollup"));
  size_t total = 0, kib = 0;
  for (std::string line; std::getline(in, line);) {
    if (sscanf(line.c_str(), "Private_Clean: %zu", &kib) == 1 ||
        sscanf(line.c_str(), "Private_Dirty: %zu", &kib) == 1) {
      total += kib << 10;
    }
  }
  return total;
}

std::string BurstPattern(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + (i / 7 + i / 4096) % 26);
  return text;
}

std::vector<int64_t> MarkedProcesses(const std::string& worker_id) {
  std::vector<int64_t> marked;
  for (pid_t pid : AllProcesses()) {
    std::string environment = ReadProcFile("/proc/" + std::to_string(pid) + "/environ");
    if (environment.find("ACPD_WORKER_ID=" + worker_id + '\0') != std::string::npos) {
      marked.push_back(pid);
    }
  }
  return marked;
}

std::vector<int64_t> OwnChildren() {
  std::vector<int64_t> children;
  for (pid_t pid : AllProcesses()) {
    auto stat = ReadProcessStat(pid);
    if (stat && stat->parent == getpid()) children.push_back(pid);
  }
  return children;
}

}  // namespace acpd::acp
