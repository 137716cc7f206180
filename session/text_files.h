#ifndef ACPD_SESSION_TEXT_FILES_H_
#define ACPD_SESSION_TEXT_FILES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "session/rooted_files.h"

// What acpd does when an agent asks for fs/read_text_file and fs/write_text_file
// (https://agentclientprotocol.com/protocol/file-system), inside the session's folders only. What
// that means, and what it does not, stands in rooted_files.h.
//
// Thread-safe. Blocking: call it on the pool.
namespace acpd::session {

// The most that one read looks through for its lines: a few seconds of a pool thread.
inline constexpr uint64_t kMaxScannedBytes = uint64_t{1} << 30;

struct ReadText {
  std::string content;    // valid UTF-8
  uint64_t bytes = 0;     // of the file that `content` stands for
  bool repaired = false;  // invalid UTF-8 became U+FFFD: written back, the file would change
};

// The text of `path` from line `line` (1-based; 0 counts as 1, as in Zed) on, at most `limit` lines
// (0: none). Beyond the end: empty, since agents page with stale line counts. A line ends with its
// '\n', which is part of it; CRLF stays CRLF, a byte order mark and NUL bytes stay too.
// `max_bytes` limits what is returned. Without line and limit that is the whole file; with them the
// file may be larger, up to kMaxScannedBytes looked through.
std::variant<ReadText, FileError> ReadTextFile(const FileRoots& roots, const std::string& path,
                                               std::optional<uint64_t> line,
                                               std::optional<uint64_t> limit, size_t max_bytes);

// Makes `content` the whole text of `path`, as it is given. Makes the file (0666 less the umask)
// and the folders above it where they are missing, since agents expect it; such folders stay when
// the write then fails. Returns the bytes written.
//
// Atomic: it writes `.NAME.acpd-XXXXXXXXXXXX` (NAME cut to fit) beside the file and renames it, so
// a reader sees the old text or the new one, and a failure leaves the old one. Only a SIGKILL or a
// power cut in between leaves such a file behind; it may be deleted. Mode and access list, and
// owner and group where the system lets us, are those of the old file; set-id bits and other
// extended attributes go, and other hard links keep the old text. A symbolic link as the last
// component stays one: its target is written. A file that may not be written itself is refused
// although its folder would allow the rename.
//
// No fsync: it costs milliseconds on every edit, and editors and agents do without it. After a
// power cut the file may have the old text or, depending on the file system, be empty.
std::variant<uint64_t, FileError> WriteTextFile(const FileRoots& roots, const std::string& path,
                                                std::string_view content, size_t max_bytes);

}  // namespace acpd::session

#endif  // ACPD_SESSION_TEXT_FILES_H_
