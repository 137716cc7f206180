#include "session/rooted_files.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "acp/text.h"
#include "session/folder_walk.h"

namespace acpd::session {
namespace {

using worker::UniqueFd;
using Kind = FileError::Kind;

struct ErrnoRow {
  int error;
  Kind kind;
  std::string_view hint;
};

// gemini takes an error for "a new file" by these words of its message.
constexpr std::string_view kNotFoundWords =
    " (Resource not found: No such file, it does not exist)";
constexpr std::string_view kGiveRights =
    ": give the daemon's user the right to it, or use another path";
constexpr std::string_view kFreeSpace = ": free some space there and try again";
constexpr std::string_view kTooManyLinks =
    ": its symbolic links form a loop or are those of /proc; use the path of the file itself";

constexpr std::array kErrnoRows = {
    ErrnoRow{ENOENT, Kind::kNotFound, kNotFoundWords},
    ErrnoRow{EISDIR, Kind::kNotAFile, ": it is a folder; name a file"},
    ErrnoRow{ENOTDIR, Kind::kNotAFile, ": a part of the path is no folder; correct it"},
    ErrnoRow{ENXIO, Kind::kNotAFile, ": it is a FIFO, device or socket; name a regular file"},
    ErrnoRow{EACCES, Kind::kDenied, kGiveRights},
    ErrnoRow{EPERM, Kind::kDenied, kGiveRights},
    ErrnoRow{EROFS, Kind::kDenied, ": the file system is read-only; use another path"},
    ErrnoRow{ENOSPC, Kind::kNoSpace, kFreeSpace},
    ErrnoRow{EDQUOT, Kind::kNoSpace, kFreeSpace},
    ErrnoRow{ENAMETOOLONG, Kind::kInvalid, ": use a shorter path"},
    ErrnoRow{ELOOP, Kind::kOther, kTooManyLinks},
};

std::string Quoted(const std::string& path) {
  return absl::StrCat("'", ShownText(path, PATH_MAX), "'");
}

FileError OutsideError(const FileRoots& roots, const std::string& path) {
  std::string folders;
  for (const std::string& root : roots.roots) {
    absl::StrAppend(&folders, folders.empty() ? "" : ", ", ShownText(root, PATH_MAX));
  }
  return {Kind::kOutside,
          absl::StrCat("The path ", Quoted(path), " lies outside the session's folders (", folders,
                       "), or a link leads out of them: use a path below one of them.")};
}

std::optional<FileError> CheckFilePath(const std::string& path) {
  std::string_view wrong;
  if (!path.starts_with('/')) wrong = "is not absolute: give the whole path, from / on.";
  if (path.find('\0') != std::string::npos) wrong = "holds a NUL byte: correct it.";
  if (path.size() >= PATH_MAX) wrong = "is too long: use a shorter path.";
  if (wrong.empty()) return std::nullopt;
  return FileError{Kind::kInvalid,
                   absl::StrCat("The path ", Quoted(path), " ", std::string(wrong))};
}

int ErrnoOfType(mode_t mode) {
  if (S_ISREG(mode)) return 0;
  return S_ISDIR(mode) ? EISDIR : ENXIO;
}

// A path as far as it goes without a link as its last component.
struct LastStep {
  FilePlace place;
  std::string target;  // not empty: it is a link, and this is where it leads
};

int LookAtName(LastStep& step, const std::string& parent) {
  UniqueFd file(
      ::openat(step.place.folder.get(), step.place.name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!file.open()) return errno == ENOENT ? 0 : errno;
  struct stat info;
  if (::fstat(file.get(), &info) != 0) return errno;
  if (S_ISREG(info.st_mode)) step.place.file = std::move(file);
  if (!S_ISLNK(info.st_mode)) return ErrnoOfType(info.st_mode);
  int error = 0;
  const std::string target = ReadLink(file.get(), &error);
  step.target = target.starts_with('/') ? target : parent + target;
  return error;
}

bool NamesFolder(const std::vector<KnownRoot>& roots, const std::string& path,
                 const std::string& name) {
  if (name.empty() || name == "." || name == "..") return true;
  const std::string plain = PlainPath(path);
  return std::any_of(roots.begin(), roots.end(), [&](const KnownRoot& root) {
    return plain == root.given || (root.there && plain == root.real);
  });
}

int LookAt(const std::vector<KnownRoot>& roots, const std::string& path, bool make,
           LastStep& step) {
  const size_t name_at = path.rfind('/') + 1;
  const std::string parent = path.substr(0, name_at);
  step.place.name = path.substr(name_at);
  if (NamesFolder(roots, path, step.place.name)) {
    const int error = FolderWalk(roots, false).Go(path);
    return error != 0 ? error : EISDIR;
  }
  FolderWalk walk(roots, make);
  if (const int error = walk.Go(parent); error != 0) return error;
  step.place.folder = walk.TakeFolder();
  return LookAtName(step, parent);
}

}  // namespace

FileError FileErrorOf(int error, std::string_view call, const std::string& path) {
  const auto* row = std::find_if(kErrnoRows.begin(), kErrnoRows.end(),
                                 [error](const ErrnoRow& r) { return r.error == error; });
  const bool known = row != kErrnoRows.end();
  const char* name = ::strerrorname_np(error);
  const char* text = error == ENOENT ? "no such file or directory" : ::strerrordesc_np(error);
  return {known ? row->kind : Kind::kOther,
          absl::StrCat(name ? name : "EIO", ": ", text ? text : "unknown error", ", ",
                       std::string(call), " ", Quoted(path),
                       std::string(known ? row->hint : ": try again or use another path"))};
}

std::variant<FilePlace, FileError> FindFile(const FileRoots& roots, const std::string& path,
                                            MissingFolders missing) {
  if (std::optional<FileError> wrong = CheckFilePath(path)) return *std::move(wrong);
  const std::vector<KnownRoot> known = LookUpRoots(roots.roots);
  std::string at = path;
  for (int links = 0; links <= kMaxLinks; ++links) {
    LastStep step;
    const int error = LookAt(known, at, missing == MissingFolders::kMake, step);
    if (error == EXDEV) return OutsideError(roots, path);
    if (error != 0) return FileErrorOf(error, "open", path);
    if (step.target.empty()) return std::move(step.place);
    at = std::move(step.target);
  }
  return FileErrorOf(ELOOP, "open", path);
}

UniqueFd OpenFound(const FilePlace& place, int flags, int* error) {
  // By its descriptor: the name may mean something else by now.
  const std::string file = absl::StrCat("/proc/self/fd/", place.file.get());
  UniqueFd opened(::open(file.c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!opened.open()) *error = errno;
  return opened;
}

std::variant<UniqueFd, FileError> OpenToRead(const FileRoots& roots, const std::string& path) {
  auto found = FindFile(roots, path, MissingFolders::kFail);
  if (auto* wrong = std::get_if<FileError>(&found)) return std::move(*wrong);
  const FilePlace place = std::get<FilePlace>(std::move(found));
  int error = ENOENT;
  UniqueFd file;
  if (place.file.open()) file = OpenFound(place, O_RDONLY, &error);
  if (!file.open()) return FileErrorOf(error, "open", path);
  return file;
}

}  // namespace acpd::session
