#include "session/state_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace acpd::session {
namespace {

absl::Status CannotUse(const std::string& path, const std::string& why) {
  return absl::FailedPreconditionError(absl::StrCat("state_dir: ", path, " cannot be used (", why,
                                                    "): check its owner and mode, or name another "
                                                    "state_dir."));
}

std::string HolderOf(int fd) {
  char text[32] = {};
  const ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
  const std::string pid(absl::StripAsciiWhitespace(std::string(text, n > 0 ? n : 0)));
  return pid.empty() ? "unknown" : pid;
}

}  // namespace

absl::Status MakeStateDir(const std::string& path) {
  std::filesystem::path dir = std::filesystem::path(path).lexically_normal();
  if (!dir.has_filename()) dir = dir.parent_path();  // "a/b/"
  std::error_code error;
  if (dir.has_parent_path()) std::filesystem::create_directories(dir.parent_path(), error);
  if (error) return CannotUse(path, error.message());
  if (mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST) return CannotUse(path, strerror(errno));
  if (!std::filesystem::is_directory(path, error)) return CannotUse(path, "not a folder");
  return absl::OkStatus();
}

absl::StatusOr<StateLock> StateLock::Take(const std::string& state_dir) {
  const std::string path = state_dir + "/lock";
  StateLock lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock.fd_ < 0) return CannotUse(path, strerror(errno));
  if (flock(lock.fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return CannotUse(path, strerror(errno));
    return absl::FailedPreconditionError(absl::StrCat("Another acpd (pid ", HolderOf(lock.fd_),
                                                      ") uses ", state_dir,
                                                      ": stop it, or name another state_dir."));
  }
  const std::string pid = absl::StrCat(getpid(), "\n");
  if (ftruncate(lock.fd_, 0) != 0 ||
      pwrite(lock.fd_, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    // A full disk: the lock holds all the same, only its holder stays unnamed.
  }
  return lock;
}

StateLock::StateLock(StateLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

StateLock& StateLock::operator=(StateLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

StateLock::~StateLock() {
  if (fd_ >= 0) close(fd_);
}

ReserveFile::ReserveFile(std::string path) : path_(std::move(path)) {
  struct stat info;
  there_ = stat(path_.c_str(), &info) == 0 && info.st_size == static_cast<off_t>(kBytes);
}

void ReserveFile::Make() {
  struct statvfs disk;
  const std::string dir = std::filesystem::path(path_).parent_path();
  if (there_ || statvfs(dir.c_str(), &disk) != 0) return;
  if (disk.f_bavail * disk.f_frsize < 8 * kBytes) return;
  const int fd = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return;
  there_ = posix_fallocate(fd, 0, kBytes) == 0;
  close(fd);
  if (!there_) unlink(path_.c_str());
}

bool ReserveFile::GiveUp() {
  if (!there_) return false;
  there_ = false;
  return unlink(path_.c_str()) == 0;
}

}  // namespace acpd::session
