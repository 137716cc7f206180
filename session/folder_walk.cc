#include "session/folder_walk.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <utility>

namespace acpd::session {
namespace {

using worker::UniqueFd;

// Each folder of a path that is walked by hand holds a descriptor.
constexpr size_t kMaxDepth = 256;

std::atomic<bool> kernel_resolution = true;

std::vector<std::string> SplitPath(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    if (!part.empty() && part != ".") parts.emplace_back(part);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}

// One component further, in text.
void Append(std::string& path, std::string_view part) {
  if (part == "..") {
    path.erase(std::min(path.rfind('/'), path.size()));
  } else {
    path.append("/").append(part);
  }
}

UniqueFd OpenFolderBeneath(int root, const std::string& path) {
  open_how how = {};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const long fd = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof(how));
  return UniqueFd(static_cast<int>(fd));
}

}  // namespace

void UseKernelResolution(bool use) { kernel_resolution = use; }

std::string PlainPath(std::string_view path) {
  std::string plain;
  for (const std::string& part : SplitPath(path)) Append(plain, part);
  return plain;
}

std::vector<KnownRoot> LookUpRoots(const std::vector<std::string>& roots) {
  std::vector<KnownRoot> known;
  for (const std::string& root : roots) {
    if (!root.starts_with('/')) continue;
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(root.c_str(), nullptr),
                                                           &std::free);
    known.push_back({.path = root,
                     .given = PlainPath(root),
                     .real = real ? PlainPath(real.get()) : "",
                     .there = real != nullptr});
  }
  return known;
}

std::string ReadLink(int link, int* error) {
  struct statfs system;
  if (::fstatfs(link, &system) == 0 && system.f_type == PROC_SUPER_MAGIC) {
    *error = ELOOP;
    return "";
  }
  char target[PATH_MAX];
  const ssize_t size = ::readlinkat(link, "", target, sizeof(target));
  *error = size < 0 ? errno : size == 0 ? ENOENT : 0;
  return std::string(target, size > 0 ? size : 0);
}

int FolderWalk::Go(std::string_view path) {
  PutFirst(path);
  int error = EnterRoot();
  while (error == 0 && !rest_.empty()) {
    const std::string name = std::move(rest_.back());
    rest_.pop_back();
    error = Step(name);
  }
  if (error == 0 && open_.empty()) error = EXDEV;
  return error;
}

void FolderWalk::PutFirst(std::string_view path) {
  std::vector<std::string> parts = SplitPath(path);
  std::move(parts.rbegin(), parts.rend(), std::back_inserter(rest_));
}

int FolderWalk::Step(const std::string& name) {
  if (!open_.empty()) return name == ".." ? StepUp() : StepDown(name);
  Append(outside_, name);
  return EnterRoot();
}

int FolderWalk::EnterRoot() {
  const auto root = std::find_if(roots_.begin(), roots_.end(), [this](const KnownRoot& known) {
    return outside_ == known.given || (known.there && outside_ == known.real);
  });
  if (root == roots_.end()) return 0;
  UniqueFd folder(::open(root->path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.open()) return errno;
  root_ = &*root;
  open_.push_back(std::move(folder));
  const int error = EnterByKernel();
  return error < 0 ? 0 : error;
}

int FolderWalk::EnterByKernel() {
  if (!kernel_resolution || rest_.empty()) return -1;
  std::string path;
  for (auto part = rest_.rbegin(); part != rest_.rend(); ++part) path.append(*part).append("/");
  UniqueFd folder = OpenFolderBeneath(open_.back().get(), path);
  if (!folder.open()) {
    switch (errno) {
      case ENOENT:
        return make_ ? -1 : ENOENT;
      case ENOTDIR:
      case EACCES:
      case ELOOP:
      case EMFILE:
      case ENFILE:
      case ENOMEM:
        return errno;
      default:
        // EXDEV: a link may lead out and in again. EAGAIN: somebody renames all the time. ENOSYS,
        // EPERM: no such call here.
        return -1;
    }
  }
  open_.push_back(std::move(folder));
  rest_.clear();
  return 0;
}

int FolderWalk::StepUp() {
  open_.pop_back();
  if (!open_.empty()) return 0;
  outside_ = root_->real;
  Append(outside_, "..");
  return EnterRoot();
}

int FolderWalk::StepDown(const std::string& name) {
  if (open_.size() >= kMaxDepth) return ENAMETOOLONG;
  constexpr int kFlags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd next(::openat(open_.back().get(), name.c_str(), kFlags));
  if (!next.open() && errno == ENOENT && make_) {
    if (const int error = Make(name); error != 0) return error;
    next.Reset(::openat(open_.back().get(), name.c_str(), kFlags));
  }
  struct stat info;
  if (!next.open() || ::fstat(next.get(), &info) != 0) return errno;
  if (S_ISLNK(info.st_mode)) return Follow(next.get());
  if (!S_ISDIR(info.st_mode)) return ENOTDIR;
  open_.push_back(std::move(next));
  return 0;
}

int FolderWalk::Make(const std::string& name) {
  // `missing/..` is an error for every program. Making it first could leave a folder behind for a
  // path that leads out.
  if (std::find(rest_.begin(), rest_.end(), "..") != rest_.end()) return ENOENT;
  const int made = ::mkdirat(open_.back().get(), name.c_str(), 0777);
  return made == 0 || errno == EEXIST ? 0 : errno;
}

int FolderWalk::Follow(int link) {
  if (++links_ > kMaxLinks) return ELOOP;
  int error = 0;
  const std::string target = ReadLink(link, &error);
  if (error != 0) return error;
  PutFirst(target);
  if (!target.starts_with('/')) return 0;
  open_.clear();
  outside_.clear();
  return EnterRoot();
}

}  // namespace acpd::session
