#include "acp/worker/spool.h"

#include <errno.h>
#include <stdio.h>

#include <string_view>

#include "acp/worker/posix.h"

namespace acpd::worker {
namespace {

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t wrote = write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return true;
}

bool WriteStdout(int fd, const StdoutBuffer& stdout_bytes) {
  for (uint64_t offset = stdout_bytes.first(); offset < stdout_bytes.end();) {
    iovec pieces[2];
    stdout_bytes.View(offset, StdoutBuffer::kChunk, pieces);
    std::string_view bytes(static_cast<const char*>(pieces[0].iov_base), pieces[0].iov_len);
    if (!WriteAll(fd, acp::EncodeNumbered(acp::FrameType::kStdout, offset, bytes))) return false;
    offset += bytes.size();
  }
  return true;
}

// A launch spec holds the agent's keys, which are in no file: of it only the worker's id is told.
std::string EncodeHelloWithoutKeys(acp::Hello hello) {
  acp::LaunchSpec spec;
  spec.worker_id = hello.spec.worker_id;
  hello.spec = spec;
  return acp::EncodeHello(hello);
}

}  // namespace

bool WriteSpool(const std::string& path, const acp::Hello& hello, const StdoutBuffer& stdout_bytes,
                const acp::WorkerExit& exit) {
  std::string temporary = path + ".new";
  unlink(temporary.c_str());
  UniqueFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.open()) return false;
  bool whole = WriteAll(fd.get(), EncodeHelloWithoutKeys(hello)) &&
               WriteStdout(fd.get(), stdout_bytes) && WriteAll(fd.get(), acp::EncodeExit(exit)) &&
               fsync(fd.get()) == 0;
  if (whole && rename(temporary.c_str(), path.c_str()) == 0) return true;
  unlink(temporary.c_str());
  return false;
}

}  // namespace acpd::worker
