#ifndef ACPD_SERVER_FILES_H_
#define ACPD_SERVER_FILES_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// The few things the daemon does with files itself. Blocking, all of it.
namespace acpd::server {

// The whole file. NOT_FOUND when there is none, INVALID_ARGUMENT with a sentence when it cannot be
// read or has more than `max` bytes.
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max);

// Puts `text` at `path` in one step: a reader sees all of it or nothing.
absl::Status ReplaceFile(const std::string& path, std::string_view text);

enum class FollowLink { kNo, kYes };
// Makes the folder (and those above it) if it is missing, only its owner may enter. One that exists
// has to be ours; if others may enter it, it is closed to them when it is empty or acpd's own (it
// holds a file `lock`), and refused otherwise: it may be somebody's home. FAILED_PRECONDITION with
// a sentence.
absl::Status MakePrivateFolder(const std::string& path, FollowLink follow);

// The folder of the running program, and whether a file there may be executed.
std::string ProgramFolder();
bool IsExecutable(const std::string& path);

}  // namespace acpd::server

#endif  // ACPD_SERVER_FILES_H_
