#include "session/text_files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "acp/text.h"

namespace acpd::session {
namespace {

using worker::UniqueFd;
using Kind = FileError::Kind;

constexpr size_t kReadBlock = 128 << 10;
constexpr int kMaxTempNames = 16;
constexpr size_t kRandomBytes = 6;

FileError TooLarge(const std::string& path, std::string_view why) {
  return {Kind::kTooLarge, absl::StrCat("'", ShownText(path, PATH_MAX), "': ", std::string(why))};
}

// Picks lines out of a text that comes in blocks.
class LinePicker {
 public:
  LinePicker(uint64_t skip, uint64_t take, size_t max_bytes)
      : skip_(skip), take_(take), max_bytes_(max_bytes) {}

  bool done() const { return take_ == 0 || too_large_; }
  bool too_large() const { return too_large_; }
  std::string TakeText() { return std::move(text_); }

  void Add(std::string_view block) {
    block.remove_prefix(EndOfLines(block, skip_));
    if (skip_ > 0 || done()) return;
    // Without a limit there is no line end worth looking for.
    const bool all = take_ == std::numeric_limits<uint64_t>::max();
    const std::string_view wanted = all ? block : block.substr(0, EndOfLines(block, take_));
    too_large_ = wanted.size() > max_bytes_ - text_.size();
    if (!too_large_) text_.append(wanted);
  }

 private:
  // Where the next `lines` lines end in `block`; counts down those whose end it holds.
  static size_t EndOfLines(std::string_view block, uint64_t& lines) {
    size_t at = 0;
    while (lines > 0) {
      const size_t end = block.find('\n', at);
      if (end == std::string_view::npos) return block.size();
      at = end + 1;
      --lines;
    }
    return at;
  }

  uint64_t skip_;
  uint64_t take_;
  const size_t max_bytes_;
  bool too_large_ = false;
  std::string text_;
};

// What ended the reading of a file. The errno of read(2), or 0.
struct ReadEnd {
  int error = 0;
  bool scanned_out = false;
};

ReadEnd ReadLines(int file, LinePicker& picker) {
  std::vector<char> block(kReadBlock);
  uint64_t scanned = 0;
  while (!picker.done()) {
    const ssize_t n = ::read(file, block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return {.error = errno};
    if (n == 0) break;
    if (scanned >= kMaxScannedBytes) return {.scanned_out = true};
    picker.Add({block.data(), static_cast<size_t>(n)});
    scanned += static_cast<uint64_t>(n);
  }
  return {};
}

std::string LimitText(size_t max_bytes, bool part) {
  if (!part) {
    return absl::StrCat("the file has more than the ", max_bytes,
                        " bytes that one read may return: read it in parts with line and limit.");
  }
  return absl::StrCat("the lines asked for have more than the ", max_bytes,
                      " bytes that one read may return: ask for fewer lines with limit.");
}

std::variant<ReadText, FileError> Repaired(std::string text, const std::string& path, bool part,
                                           size_t max_bytes) {
  ReadText result;
  result.bytes = text.size();
  result.repaired = !IsCleanText(text);
  result.content = result.repaired ? RepairText(text) : std::move(text);
  if (result.content.size() > max_bytes) {
    return TooLarge(path, "with its invalid UTF-8 replaced, " + LimitText(max_bytes, part));
  }
  return result;
}

bool WriteAll(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(file, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    content.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// Gives `copy` the rights of `old` as far as the system lets us. Set-id bits go, as on any write.
int CopyRights(int old, int copy) {
  struct stat info;
  if (::fstat(old, &info) != 0) return errno;
  if (::fchown(copy, info.st_uid, info.st_gid) != 0 &&
      ::fchown(copy, static_cast<uid_t>(-1), info.st_gid) != 0) {
    // Somebody else's file in a group that is not ours: from now on it is our own.
  }
  constexpr const char* kAcl = "system.posix_acl_access";
  std::array<char, 4096> acl;
  const ssize_t size = ::fgetxattr(old, kAcl, acl.data(), acl.size());
  if (size > 0) (void)::fsetxattr(copy, kAcl, acl.data(), static_cast<size_t>(size), 0);
  return ::fchmod(copy, info.st_mode & 0777) == 0 ? 0 : errno;
}

// `.NAME.acpd-XXXXXXXXXXXX` beside NAME, until it takes its place. Removed otherwise.
class TempFile {
 public:
  explicit TempFile(const FilePlace& place) : place_(place) {}
  ~TempFile() {
    if (file_.open()) ::unlinkat(place_.folder.get(), name_.c_str(), 0);
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  int fd() const { return file_.get(); }

  // 0, or the errno.
  int Open(mode_t mode) {
    for (int i = 0; i < kMaxTempNames; ++i) {
      name_ = RandomName();
      file_.Reset(::openat(place_.folder.get(), name_.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
      if (file_.open()) return 0;
      if (errno != EEXIST) break;
    }
    return errno;
  }

  // 0, or the errno.
  int TakePlace() {
    // Some file systems say only now that the disk or quota is full. The copy keeps fd() open for
    // the destructor's sake.
    const int copy = ::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0);
    if (copy < 0 || ::close(copy) != 0) return errno;
    const int folder = place_.folder.get();
    if (::renameat(folder, name_.c_str(), folder, place_.name.c_str()) != 0) return errno;
    file_.Reset();
    return 0;
  }

 private:
  std::string RandomName() const {
    std::array<char, kRandomBytes> random = {};
    (void)!::getrandom(random.data(), random.size(), 0);
    const std::string tail = ".acpd-" + absl::BytesToHexString({random.data(), random.size()});
    const std::string_view name = CutText(place_.name, NAME_MAX - 1 - tail.size());
    return "." + std::string(name) + tail;
  }

  const FilePlace& place_;
  std::string name_;
  UniqueFd file_;
};

// Which call failed, and how.
struct WriteEnd {
  int error = 0;
  std::string_view call;
};

// `old` is not open: the file is new.
WriteEnd Replace(const FilePlace& place, const UniqueFd& old, std::string_view content) {
  TempFile temp(place);
  // Nobody else reads it before it has the rights of the old one.
  if (const int error = temp.Open(old.open() ? 0600 : 0666); error != 0) return {error, "open"};
  if (!WriteAll(temp.fd(), content)) return {errno, "write"};
  if (old.open()) {
    if (const int error = CopyRights(old.get(), temp.fd()); error != 0) return {error, "chmod"};
  }
  return {temp.TakePlace(), "rename"};
}

}  // namespace

std::variant<ReadText, FileError> ReadTextFile(const FileRoots& roots, const std::string& path,
                                               std::optional<uint64_t> line,
                                               std::optional<uint64_t> limit, size_t max_bytes) {
  auto opened = OpenToRead(roots, path);
  if (auto* wrong = std::get_if<FileError>(&opened)) return std::move(*wrong);
  const UniqueFd file = std::get<UniqueFd>(std::move(opened));
  const bool part = line || limit;
  LinePicker picker(std::max<uint64_t>(line.value_or(1), 1) - 1,
                    limit.value_or(std::numeric_limits<uint64_t>::max()), max_bytes);
  const ReadEnd end = ReadLines(file.get(), picker);
  if (end.error != 0) return FileErrorOf(end.error, "read", path);
  if (picker.too_large()) return TooLarge(path, LimitText(max_bytes, part));
  if (end.scanned_out) {
    return TooLarge(path, absl::StrCat("the lines asked for lie beyond the first ",
                                       kMaxScannedBytes, " bytes: use another tool for them."));
  }
  return Repaired(picker.TakeText(), path, part, max_bytes);
}

std::variant<uint64_t, FileError> WriteTextFile(const FileRoots& roots, const std::string& path,
                                                std::string_view content, size_t max_bytes) {
  if (content.size() > max_bytes) {
    return TooLarge(path, absl::StrCat("the content has ", content.size(), " bytes, more than the ",
                                       max_bytes, " of one write: write a smaller file."));
  }
  auto found = FindFile(roots, path, MissingFolders::kMake);
  if (auto* wrong = std::get_if<FileError>(&found)) return std::move(*wrong);
  const FilePlace place = std::get<FilePlace>(std::move(found));
  int error = 0;
  UniqueFd old;
  if (place.file.open()) {
    // Opened to be written: it is replaced only where it could be written.
    old = OpenFound(place, O_WRONLY, &error);
    if (!old.open()) return FileErrorOf(error, "open", path);
  }
  const WriteEnd end = Replace(place, old, content);
  if (end.error != 0) return FileErrorOf(end.error, end.call, path);
  return content.size();
}

}  // namespace acpd::session
