#include "acp/worker/listener.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace acpd::worker {
namespace {

bool MayConnect(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == geteuid() || peer.uid == 0;
}

}  // namespace

Listener::~Listener() {
  if (fd_.open()) unlink(path_.c_str());
}

bool Listener::Open(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return false;
  }
  memcpy(address.sun_path, path.data(), path.size());
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  mode_t mask = umask(0177);
  bool bound = bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  umask(mask);
  if (!bound || listen(fd.get(), 8) != 0) return false;
  fd_ = std::move(fd);
  path_ = path;
  return true;
}

void Listener::RemovePath() { unlink(path_.c_str()); }

bool Listener::PathExists() const { return access(path_.c_str(), F_OK) == 0; }

UniqueFd Listener::Accept() {
  UniqueFd fd(accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (fd.open() && !MayConnect(fd.get())) fd.Reset();
  return fd;
}

}  // namespace acpd::worker
