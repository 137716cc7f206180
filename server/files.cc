#include "server/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "server/strings.h"

namespace acpd::server {
namespace {

namespace fs = std::filesystem;

absl::Status Refuse(std::string_view path, std::string_view why) {
  return absl::FailedPreconditionError(Cat("cannot use the folder ", path, ": ", why));
}

absl::Status WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return absl::FailedPreconditionError(strerror(errno));
    text.remove_prefix(n);
  }
  return absl::OkStatus();
}

bool MayBeClosed(const std::string& path) {
  std::error_code ignored;
  return fs::is_empty(path, ignored) || fs::exists(fs::path(path) / "lock", ignored);
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    const std::string message = Cat("cannot read ", path, ": ", strerror(errno));
    return errno == ENOENT ? absl::NotFoundError(message) : absl::InvalidArgumentError(message);
  }
  std::string text(max + 1, '\0');
  size_t size = 0;
  ssize_t n = 1;
  while (size < text.size() && n != 0) {
    n = read(fd, text.data() + size, text.size() - size);
    if (n > 0) size += n;
    if (n < 0 && errno != EINTR) break;
  }
  const int error = n < 0 ? errno : 0;
  close(fd);
  if (error != 0)
    return absl::InvalidArgumentError(Cat("cannot read ", path, ": ", strerror(error)));
  if (size > max) {
    return absl::InvalidArgumentError(Cat(path, " is too large: more than ", max, " bytes"));
  }
  text.resize(size);
  return text;
}

absl::Status ReplaceFile(const std::string& path, std::string_view text) {
  const std::string draft = Cat(path, ".", getpid());
  const int fd = open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0)
    return absl::FailedPreconditionError(Cat("cannot write ", draft, ": ", strerror(errno)));
  const absl::Status written = WriteAll(fd, text);
  close(fd);
  if (written.ok() && rename(draft.c_str(), path.c_str()) == 0) return absl::OkStatus();
  const std::string why = written.ok() ? strerror(errno) : std::string(written.message());
  unlink(draft.c_str());
  return absl::FailedPreconditionError(Cat("cannot write ", path, ": ", why));
}

absl::Status MakePrivateFolder(const std::string& path, FollowLink follow) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (error) return Refuse(path, Cat("the folder above it cannot be made: ", error.message()));
  const bool made = mkdir(path.c_str(), 0700) == 0;
  if (!made && errno != EEXIST) return Refuse(path, strerror(errno));
  struct stat info {};
  const int found =
      follow == FollowLink::kYes ? stat(path.c_str(), &info) : lstat(path.c_str(), &info);
  if (found != 0) return Refuse(path, strerror(errno));
  if (!S_ISDIR(info.st_mode)) return Refuse(path, "it is no folder");
  if (info.st_uid != geteuid()) return Refuse(path, "it belongs to another user");
  if ((info.st_mode & 077) == 0) return absl::OkStatus();
  if (!made && !MayBeClosed(path)) {
    return Refuse(
        path, Cat("others may enter it and it holds files; take another or run: chmod 700 ", path));
  }
  return chmod(path.c_str(), 0700) == 0 ? absl::OkStatus() : Refuse(path, strerror(errno));
}

std::string ProgramFolder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

bool IsExecutable(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

}  // namespace acpd::server
