#ifndef ACPD_SESSION_STATE_DIR_H_
#define ACPD_SESSION_STATE_DIR_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// The files of state_dir beside the database: its lock and the reserve.
namespace acpd::session {

// Makes `path` (0700) and its parents where missing.
absl::Status MakeStateDir(const std::string& path);

// state_dir/lock, held with flock as long as this object lives and by nobody else. Child processes
// do not inherit it.
class StateLock {
 public:
  // FAILED_PRECONDITION that names the holder's pid when another acpd has it.
  static absl::StatusOr<StateLock> Take(const std::string& state_dir);
  StateLock() = default;
  StateLock(StateLock&& other) noexcept;
  StateLock& operator=(StateLock&& other) noexcept;
  ~StateLock();

 private:
  explicit StateLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

// Blocks of the disk kept aside, so that a full one still takes what ends the running turns. Store
// thread only.
class ReserveFile {
 public:
  static constexpr size_t kBytes = 1 << 20;
  explicit ReserveFile(std::string path);
  // Makes the file again if the disk has room for it several times over.
  void Make();
  // Gives the blocks back. False: there were none.
  bool GiveUp();

 private:
  std::string path_;
  bool there_ = false;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_STATE_DIR_H_
