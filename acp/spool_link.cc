#include "acp/spool_link.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "acp/link_input.h"
#include "acp/signal.h"

namespace acpd::acp {
namespace {

// What the reader and the link share; the reader holds it, so that the link may go at any time.
struct Spool {
  Spool(asio::any_io_executor loop, asio::thread_pool& pool, int fd, std::string socket_path,
        std::string worker_id)
      : pool(pool),
        fd(fd),
        socket_path(std::move(socket_path)),
        worker_id(std::move(worker_id)),
        changed(std::move(loop)) {}
  ~Spool() { ::close(fd); }
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  absl::StatusOr<bool> Admit(LinkEvent& event);
  bool AdmitHello(Hello& hello);
  bool AdmitChunk(StdoutChunk& chunk, bool* wanted);

  asio::thread_pool& pool;
  const int fd;
  const std::string socket_path;
  const std::string worker_id;
  LinkInput input;
  std::optional<uint64_t> from;  // set by SendAttach, before which nothing is read
  bool greeted = false;          // HELLO was read
  bool served = true;            // in a version of the link that we know
  bool ended = false;            // EXIT was read
  bool left = false;             // EXIT was acknowledged
  bool closed = false;
  uint64_t next = 0;  // offset that the next STDOUT must have
  absl::Status broken;
  Signal changed;
};

absl::Status Unusable(const char* why) {
  return absl::UnavailableError(std::string("the spool that its worker left is ") + why);
}

bool Spool::AdmitHello(Hello& hello) {
  if (std::exchange(greeted, true)) return false;
  served = hello.link_version >= kOldestLinkVersion && hello.link_version <= kLinkVersion;
  if (!served) return true;
  next = hello.first_kept_offset;
  hello.first_kept_offset = std::max(hello.first_kept_offset, *from);
  return hello.spec.worker_id == worker_id;
}

// Cuts off what the reader has had.
bool Spool::AdmitChunk(StdoutChunk& chunk, bool* wanted) {
  if (chunk.offset != next) return false;
  next += chunk.bytes.size();
  *wanted = next > *from;
  if (!*wanted || chunk.offset >= *from) return true;
  chunk.bytes.remove_prefix(*from - chunk.offset);
  chunk.offset = *from;
  return true;
}

// False for what the reader is not to see.
absl::StatusOr<bool> Spool::Admit(LinkEvent& event) {
  bool wanted = true;
  bool right = greeted && served;
  if (auto* hello = std::get_if<Hello>(&event)) {
    right = AdmitHello(*hello);
  } else if (auto* chunk = std::get_if<StdoutChunk>(&event)) {
    right = right && AdmitChunk(*chunk, &wanted);
  } else if (const auto* exit = std::get_if<WorkerExit>(&event)) {
    right = right && exit->end_offset == next;
    ended = true;
  }
  if (!right) return Unusable("malformed");
  return wanted;
}

awaitable<ssize_t> ReadPiece(std::shared_ptr<Spool> spool, std::span<char> room) {
  for (;;) {
    const ssize_t got = ::read(spool->fd, room.data(), room.size());
    if (got >= 0 || errno != EINTR) co_return got;
  }
}

awaitable<void> FillFromSpool(std::shared_ptr<Spool> spool) {
  const std::span<char> room = spool->input.Room();
  const ssize_t got =
      co_await asio::co_spawn(spool->pool.get_executor(), ReadPiece(spool, room), use_awaitable);
  if (got < 0) spool->broken = Unusable("not readable");
  if (got == 0) spool->broken = Unusable("torn: it has no end");
  if (got > 0) spool->input.Added(static_cast<size_t>(got));
}

awaitable<absl::StatusOr<LinkEvent>> ReadSpoolEvent(std::shared_ptr<Spool> spool) {
  for (;;) {
    if (spool->closed) co_return absl::CancelledError("the link is closed");
    if (!spool->broken.ok()) co_return spool->broken;
    if (spool->left) co_return absl::UnavailableError("the worker has left");
    if (!spool->from || spool->ended) {
      co_await spool->changed.Wait(SteadyTime::max());
      continue;
    }
    absl::StatusOr<std::optional<LinkEvent>> event = spool->input.Next();
    if (!event.ok()) {
      spool->broken = Unusable("malformed");
    } else if (!event->has_value()) {
      co_await FillFromSpool(spool);
    } else {
      const absl::StatusOr<bool> wanted = spool->Admit(**event);
      if (!wanted.ok()) spool->broken = wanted.status();
      if (wanted.ok() && *wanted) co_return **std::move(event);
    }
  }
}

class SpoolLink : public WorkerLink {
 public:
  explicit SpoolLink(std::shared_ptr<Spool> spool) : spool_(std::move(spool)) {}
  ~SpoolLink() override { Close(); }

  awaitable<absl::StatusOr<LinkEvent>> Read() override { return ReadSpoolEvent(spool_); }
  void SendAttach(const Attach& attach) override {
    spool_->from = attach.from_offset;
    spool_->changed.Notify();
  }
  void SendStdin(uint64_t, std::string_view) override {}
  void SendAck(uint64_t) override {}
  void SendStop(milliseconds) override {}
  // A terminal ends with its agent. Who asks for one finds the end of the agent next.
  void SendTerminalOpen(const TerminalOpen&) override {}
  void SendTerminalWatch(uint64_t, uint64_t) override {}
  void SendTerminalRead(uint64_t, uint64_t) override {}
  void SendTerminalKill(uint64_t) override {}
  void SendTerminalRelease(uint64_t) override {}
  void SendAckExit() override {
    if (!spool_->ended || std::exchange(spool_->left, true)) return;
    asio::post(spool_->pool, [socket = spool_->socket_path] {
      ::unlink(SpoolPath(socket).c_str());
      ::unlink(socket.c_str());
    });
    spool_->changed.Notify();
  }
  void Close() override {
    spool_->closed = true;
    spool_->changed.Notify();
  }

 private:
  std::shared_ptr<Spool> spool_;
};

awaitable<absl::StatusOr<int>> OpenSpoolFile(std::string path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0 && errno == ENOENT) {
    co_return absl::UnavailableError(
        "its worker is gone, or its socket is (was runtime_dir emptied?)");
  }
  if (fd < 0) {
    co_return absl::UnavailableError(
        std::string("its worker is gone and its spool cannot be read: ") + std::strerror(errno));
  }
  struct stat file {};
  if (::fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == ::geteuid()) co_return fd;
  ::close(fd);
  co_return Unusable("no file of ours");
}

}  // namespace

std::string SpoolPath(const std::string& socket_path) { return socket_path + ".spool"; }

awaitable<absl::StatusOr<std::unique_ptr<WorkerLink>>> OpenSpoolLink(asio::any_io_executor loop,
                                                                     asio::thread_pool& pool,
                                                                     std::string socket_path,
                                                                     std::string worker_id) {
  const absl::StatusOr<int> fd = co_await asio::co_spawn(
      pool.get_executor(), OpenSpoolFile(SpoolPath(socket_path)), use_awaitable);
  if (!fd.ok()) co_return fd.status();
  auto spool = std::make_shared<Spool>(std::move(loop), pool, *fd, std::move(socket_path),
                                       std::move(worker_id));
  co_return std::make_unique<SpoolLink>(std::move(spool));
}

}  // namespace acpd::acp
