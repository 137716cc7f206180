#include "acp/worker_link.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <deque>
#include <limits>
#include <utility>

#include "acp/link_input.h"
#include "acp/socket_link.h"

namespace acpd::acp {
namespace {

using Socket = asio::local::stream_protocol::socket;
using boost::system::error_code;

constexpr size_t kYieldAfter = 256 << 10;
// One line and many small frames. A worker always reads, so more than this means that it is stuck.
constexpr size_t kMaxQueued = kMaxFrame + (1 << 20);

// What the reader, the writer and the link share; each coroutine holds it, so that the link may go
// at any time.
struct Channel : std::enable_shared_from_this<Channel> {
  explicit Channel(Socket connected) : socket(std::move(connected)) {
    error_code ignored;
    socket.non_blocking(true, ignored);
  }

  void Send(std::string frame);
  error_code WriteSome();
  void Shut() {
    error_code ignored;
    socket.close(ignored);
  }

  Socket socket;
  LinkInput input;
  size_t read_since_yield = 0;
  bool closed = false;  // by Close
  absl::Status broken;  // why no more can be read

  std::deque<std::string> queue;
  size_t queued_bytes = 0;
  size_t front_written = 0;
  bool writing = false;  // a writer coroutine runs
};

// Writes until the socket takes no more (would_block), all is written, or it breaks.
error_code Channel::WriteSome() {
  error_code error;
  while (!queue.empty() && !error) {
    const std::string& frame = queue.front();
    size_t wrote = socket.write_some(asio::buffer(frame) + front_written, error);
    front_written += wrote;
    queued_bytes -= wrote;
    if (front_written < frame.size()) continue;
    queue.pop_front();
    front_written = 0;
  }
  return error;
}

// Runs while there is something queued that the socket did not take at once.
awaitable<void> WriteQueued(std::shared_ptr<Channel> channel) {
  error_code error;
  do {
    co_await channel->socket.async_wait(Socket::wait_write,
                                        asio::redirect_error(use_awaitable, error));
    if (!error) error = channel->WriteSome();
  } while (error == asio::error::would_block);
  channel->writing = false;
  // A connection that broke is found by the reader, which sees the same socket end.
  if (error) channel->queue.clear();
}

void Channel::Send(std::string frame) {
  if (!socket.is_open()) return;
  if (queued_bytes + frame.size() > kMaxQueued) {
    broken = absl::UnavailableError("the worker does not read");
    Shut();
    return;
  }
  queued_bytes += frame.size();
  queue.push_back(std::move(frame));
  if (writing || WriteSome() != asio::error::would_block) return;
  writing = true;
  Spawn(socket.get_executor(), WriteQueued(shared_from_this()),
        [channel = shared_from_this()](const std::string& what) {
          channel->broken = absl::UnavailableError("cannot write to the worker: " + what);
          channel->Shut();
        });
}

// Reads what the socket has, waiting for it if it has nothing. Failures are left in `broken`.
awaitable<void> Fill(std::shared_ptr<Channel> channel) {
  if (channel->read_since_yield >= kYieldAfter) {
    channel->read_since_yield = 0;
    co_await asio::post(channel->socket.get_executor(), use_awaitable);
  }
  error_code error;
  std::span<char> room = channel->input.Room();
  size_t got = channel->socket.read_some(asio::buffer(room.data(), room.size()), error);
  if (error == asio::error::would_block) {
    channel->read_since_yield = 0;
    channel->input.Shrink();
    co_await channel->socket.async_wait(Socket::wait_read,
                                        asio::redirect_error(use_awaitable, error));
    got = 0;
  }
  channel->read_since_yield += got;
  channel->input.Added(got);
  if (error && channel->broken.ok()) {
    channel->broken =
        absl::UnavailableError("the connection to the worker is gone: " + error.message());
  }
}

awaitable<absl::StatusOr<LinkEvent>> ReadEvent(std::shared_ptr<Channel> channel) {
  for (;;) {
    if (channel->closed) co_return absl::CancelledError("the link is closed");
    if (!channel->broken.ok()) co_return channel->broken;
    absl::StatusOr<std::optional<LinkEvent>> event = channel->input.Next();
    if (!event.ok()) {
      channel->broken = event.status();
      channel->Shut();
    } else if (event->has_value()) {
      co_return **std::move(event);
    } else {
      co_await Fill(channel);
    }
  }
}

class SocketLink : public WorkerLink {
 public:
  explicit SocketLink(Socket socket) : channel_(std::make_shared<Channel>(std::move(socket))) {}
  ~SocketLink() override { Shut(); }

  awaitable<absl::StatusOr<LinkEvent>> Read() override { return ReadEvent(channel_); }
  void SendAttach(const Attach& attach) override { channel_->Send(EncodeAttach(attach)); }
  void SendStdin(uint64_t seq, std::string_view line) override {
    channel_->Send(EncodeNumbered(FrameType::kStdin, seq, line));
  }
  void SendAck(uint64_t offset) override {
    channel_->Send(EncodeNumbered(FrameType::kAck, offset));
  }
  void SendAckExit() override { channel_->Send(EncodeAckExit()); }
  void SendStop(std::chrono::milliseconds grace) override {
    constexpr int64_t kMax = std::numeric_limits<uint32_t>::max();
    channel_->Send(EncodeStop(static_cast<uint32_t>(std::clamp<int64_t>(grace.count(), 0, kMax))));
  }
  void SendTerminalOpen(const TerminalOpen& open) override {
    channel_->Send(EncodeTerminalOpen(open));
  }
  void SendTerminalWatch(uint64_t number, uint64_t from_offset) override {
    channel_->Send(EncodeTwoNumbers(FrameType::kTerminalWatch, number, from_offset));
  }
  void SendTerminalRead(uint64_t number, uint64_t tag) override {
    channel_->Send(EncodeTwoNumbers(FrameType::kTerminalRead, number, tag));
  }
  void SendTerminalKill(uint64_t number) override {
    channel_->Send(EncodeNumbered(FrameType::kTerminalKill, number));
  }
  void SendTerminalRelease(uint64_t number) override {
    channel_->Send(EncodeNumbered(FrameType::kTerminalRelease, number));
  }
  void Close() override { Shut(); }

 private:
  void Shut() {
    channel_->closed = true;
    channel_->Shut();
  }
  std::shared_ptr<Channel> channel_;
};

}  // namespace

std::unique_ptr<WorkerLink> MakeWorkerLink(asio::local::stream_protocol::socket socket) {
  return std::make_unique<SocketLink>(std::move(socket));
}

}  // namespace acpd::acp
