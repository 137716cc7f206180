#ifndef ACPD_SESSION_ROOTED_FILES_H_
#define ACPD_SESSION_ROOTED_FILES_H_

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "acp/worker/posix.h"

// Finds files by paths that an agent gives, never outside a session's folders. For text_files.h;
// not for acpd's own files.
//
// Guarantees, also while others rename and link in the folders:
// - Each folder on the way is opened beneath a root: by openat2(2) with RESOLVE_BENEATH, or, where
//   the kernel has none or a link is absolute, component by component without following links.
// - A link, also as the last component, is followed when it leads below a root, and refused
//   otherwise. `..` works, but not out of the roots. A link's target outside is never touched, so
//   that an answer does not tell whether it exists.
// - Magic links of /proc are refused. FIFOs, devices, sockets and folders are refused unopened.
//
// Not guaranteed: a hard link is the file itself, wherever its other names lie; a mount below a
// root counts as below it; a folder moved out of its root after it was opened is still written to;
// a root is the folder that its path names when the call comes, so whoever may rename the root
// itself chooses it.
//
// Thread-safe. Blocking: call it on the pool; a file system that hangs (NFS) holds the thread.
namespace acpd::session {

// What a session's agent may read and write: its cwd and additional directories, absolute. A path
// may begin with a root as given or with its real path.
struct FileRoots {
  std::vector<std::string> roots;
};

struct FileError {
  enum class Kind {
    kOutside,   // not below a root
    kNotFound,  // the message holds the words that agents look for
    kNotAFile,  // a folder, FIFO, device, socket; or a file where a folder is needed
    kTooLarge,
    kDenied,   // permissions, read-only or immutable
    kNoSpace,  // disk or quota
    kInvalid,  // the path itself: relative, NUL byte, too long
    kOther,    // anything else that the system said
  };
  Kind kind;
  std::string message;  // valid UTF-8, for the agent and for people
};

enum class MissingFolders { kFail, kMake };

// Where a file is, or would be made: `name` in `folder` was no symbolic link when looked at.
struct FilePlace {
  worker::UniqueFd folder;  // O_PATH, beneath a root
  std::string name;         // one component
  worker::UniqueFd file;    // O_PATH, a regular file; not open: there is none
};

// kMake: makes the folders that are missing on the way, 0777 less the umask, beneath the root only.
std::variant<FilePlace, FileError> FindFile(const FileRoots& roots, const std::string& path,
                                            MissingFolders missing);
// The regular file at `path`, opened to be read.
std::variant<worker::UniqueFd, FileError> OpenToRead(const FileRoots& roots,
                                                     const std::string& path);
// Opens place.file itself, whatever has its name by now. Not open: the errno is in `error`.
worker::UniqueFd OpenFound(const FilePlace& place, int flags, int* error);
// What an errno of `call` ("open", "write") on `path` means to the agent.
FileError FileErrorOf(int error, std::string_view call, const std::string& path);

}  // namespace acpd::session

#endif  // ACPD_SESSION_ROOTED_FILES_H_
