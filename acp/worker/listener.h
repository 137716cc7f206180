#ifndef ACPD_ACP_WORKER_LISTENER_H_
#define ACPD_ACP_WORKER_LISTENER_H_

#include <string>

#include "acp/worker/posix.h"

namespace acpd::worker {

// The worker's socket: only its own user and root may connect. The path is removed with it. Loop
// thread only; owned by Worker.
class Listener {
 public:
  Listener() = default;
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // False, with errno, when the path cannot be bound; a path that exists is left alone.
  bool Open(const std::string& path);
  // The next connection that may be served; not open when there is none.
  UniqueFd Accept();

  // Nobody can connect any more; who has is still accepted.
  void RemovePath();
  bool PathExists() const;

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }

 private:
  UniqueFd fd_;
  std::string path_;
};

}  // namespace acpd::worker

#endif  // ACPD_ACP_WORKER_LISTENER_H_
