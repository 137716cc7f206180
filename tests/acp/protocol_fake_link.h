#ifndef ACPD_TESTS_ACP_PROTOCOL_FAKE_LINK_H_
#define ACPD_TESTS_ACP_PROTOCOL_FAKE_LINK_H_

#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "acp/signal.h"
#include "acp/worker_link.h"

namespace acpd::acp {

// A worker by hand: the test says what it sends, and sees what is sent to it. Loop thread only.
struct FakeWorker {
  explicit FakeWorker(asio::any_io_executor loop) : changed(loop) {}

  void Say(absl::StatusOr<LinkEvent> event) {
    events.push_back({std::move(event), ""});
    changed.Notify();
  }
  void SayStdout(std::string bytes) {
    SayStdoutAt(offset, bytes);
    offset += bytes.size();
  }
  void SayStdoutAt(uint64_t at, std::string bytes) {
    events.push_back({LinkEvent(StdoutChunk{at, {}}), std::move(bytes)});
    changed.Notify();
  }

  std::deque<std::pair<absl::StatusOr<LinkEvent>, std::string>> events;  // with a chunk's bytes
  uint64_t offset = 0;
  int reads = 0;
  bool closed = false;
  std::vector<std::string> sent;
  Signal changed;
};

class FakeLink : public WorkerLink {
 public:
  explicit FakeLink(std::shared_ptr<FakeWorker> worker) : worker_(std::move(worker)) {}

  awaitable<absl::StatusOr<LinkEvent>> Read() override {
    chunk_.reset();  // views into the last event end here
    ++worker_->reads;
    while (worker_->events.empty() && !worker_->closed) {
      co_await worker_->changed.Wait(SteadyTime::max());
    }
    if (worker_->closed) co_return absl::CancelledError("closed");
    auto [event, bytes] = std::move(worker_->events.front());
    worker_->events.pop_front();
    if (event.ok()) Provide(*event, bytes);
    co_return std::move(event);
  }

  void SendAttach(const Attach& attach) override {
    Note("attach " + std::to_string(attach.generation) + " " + std::to_string(attach.from_offset) +
         " " + std::to_string(attach.window));
  }
  void SendStdin(uint64_t seq, std::string_view line) override {
    Note("stdin " + std::to_string(seq) + " " + std::string(line));
  }
  void SendAck(uint64_t offset) override { Note("ack " + std::to_string(offset)); }
  void SendAckExit() override { Note("ack exit"); }
  void SendStop(milliseconds grace) override { Note("stop " + std::to_string(grace.count())); }
  void SendTerminalOpen(const TerminalOpen& open) override {
    Note("terminal open " + EncodeTerminalOpen(open));
  }
  void SendTerminalWatch(uint64_t number, uint64_t from) override {
    Note("terminal watch " + std::to_string(number) + " " + std::to_string(from));
  }
  void SendTerminalRead(uint64_t number, uint64_t tag) override {
    Note("terminal read " + std::to_string(number) + " " + std::to_string(tag));
  }
  void SendTerminalKill(uint64_t number) override {
    Note("terminal kill " + std::to_string(number));
  }
  void SendTerminalRelease(uint64_t number) override {
    Note("terminal release " + std::to_string(number));
  }
  void Close() override {
    worker_->closed = true;
    worker_->changed.Notify();
  }

 private:
  void Note(std::string what) { worker_->sent.push_back(std::move(what)); }

  // The bytes stand in memory of their own, padded as the link promises and with what would be
  // input if it were read as such.
  void Provide(LinkEvent& event, const std::string& bytes) {
    auto* out = std::get_if<StdoutChunk>(&event);
    if (out == nullptr) return;
    chunk_ = std::make_unique<char[]>(bytes.size() + 64);
    std::memcpy(chunk_.get(), bytes.data(), bytes.size());
    std::memset(chunk_.get() + bytes.size(), '\n', 64);
    out->bytes = {chunk_.get(), bytes.size()};
  }

  std::shared_ptr<FakeWorker> worker_;
  std::unique_ptr<char[]> chunk_;
};

}  // namespace acpd::acp

#endif  // ACPD_TESTS_ACP_PROTOCOL_FAKE_LINK_H_
