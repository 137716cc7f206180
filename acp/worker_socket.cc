#include "acp/worker_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "acp/process_stat.h"

namespace acpd::acp {
namespace {

bool IsExpected(int fd, Listening expected) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  if (peer.uid != geteuid()) return false;
  if (expected.pid != 0 && peer.pid != expected.pid) return false;
  if (expected.start_ticks == 0) return true;
  const auto stat = ReadProcessStat(peer.pid);
  return stat && stat->start_ticks == expected.start_ticks;
}

int Connect(const std::string& path, Listening expected) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return -ENAMETOOLONG;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -errno;
  int error = 0;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    error = errno;
  } else if (!IsExpected(fd, expected)) {
    error = EPERM;
  }
  if (error == 0) return fd;
  close(fd);
  return -error;
}

awaitable<int> ConnectHere(std::string path, Listening expected) {
  co_return Connect(path, expected);
}

}  // namespace

awaitable<int> ConnectToWorker(asio::thread_pool& pool, std::string path, Listening expected) {
  co_return co_await asio::co_spawn(pool.get_executor(), ConnectHere(std::move(path), expected),
                                    use_awaitable);
}

bool NobodyListens(int error) { return error == ENOENT || error == ECONNREFUSED; }

absl::StatusOr<asio::local::stream_protocol::socket> TakeSocket(asio::any_io_executor loop,
                                                                int fd) {
  asio::local::stream_protocol::socket socket(std::move(loop));
  boost::system::error_code error;
  socket.assign(asio::local::stream_protocol(), fd, error);
  if (!error) return socket;
  close(fd);
  return absl::UnavailableError("cannot connect to acpd-worker: " + error.message());
}

}  // namespace acpd::acp
