#ifndef ACPD_SESSION_FOLDER_WALK_H_
#define ACPD_SESSION_FOLDER_WALK_H_

#include <string>
#include <string_view>
#include <vector>

#include "acp/worker/posix.h"

// How rooted_files.h opens a folder beneath the roots, whatever links and renames happen meanwhile.
namespace acpd::session {

// A root in the two forms that a path may begin with: without `.`, `..` and doubled slashes, "/" as
// the empty string.
struct KnownRoot {
  std::string path;   // to open it by
  std::string given;  // as text
  std::string real;   // "": "/", or it does not exist (then `there` is false)
  bool there = false;
};

std::vector<KnownRoot> LookUpRoots(const std::vector<std::string>& roots);
// The path without `.`, `..` and doubled slashes, by its text alone.
std::string PlainPath(std::string_view path);
// What FolderWalk and its callers follow at most, as the kernel does.
inline constexpr int kMaxLinks = 40;
// The target of the symbolic link that `link` (O_PATH | O_NOFOLLOW) is. "" with the errno in
// `error`: ELOOP for a link of /proc, whose text is not where it leads.
std::string ReadLink(int link, int* error);

// Follows one path from "/" to the folder that it names. Outside the roots the path is mere text
// and nothing is opened; when the text becomes that of a root, that root is opened, and from there
// on every folder is opened from the one before it. `..` goes back to the folder it came from.
// For one path, on one thread.
class FolderWalk {
 public:
  // `make`: missing folders are made.
  FolderWalk(const std::vector<KnownRoot>& roots, bool make) : roots_(roots), make_(make) {}
  // 0, or the errno; EXDEV: the path does not end below a root.
  int Go(std::string_view path);
  // O_PATH. Once, after Go gave 0.
  worker::UniqueFd TakeFolder() { return std::move(open_.back()); }

 private:
  int EnterRoot();
  // Leaves the rest of the path to the kernel. -1: it must be walked by hand.
  int EnterByKernel();
  int Step(const std::string& name);
  int StepUp();
  int StepDown(const std::string& name);
  int Make(const std::string& name);
  int Follow(int link);
  // What is to be done before the rest.
  void PutFirst(std::string_view path);

  const std::vector<KnownRoot>& roots_;
  const bool make_;
  std::vector<std::string> rest_;  // the next component last
  std::string outside_;            // where it stands while nothing is open
  const KnownRoot* root_ = nullptr;
  std::vector<worker::UniqueFd> open_;  // the root first
  int links_ = 0;
};

// Tests only: false takes the way of kernels without openat2. Process-wide.
void UseKernelResolution(bool use);

}  // namespace acpd::session

#endif  // ACPD_SESSION_FOLDER_WALK_H_
