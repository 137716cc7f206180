#ifndef ACPD_ACP_TERMINAL_FRAMES_H_
#define ACPD_ACP_TERMINAL_FRAMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acp/link_frames.h"

// What acpd and acpd-worker say of terminals: the commands that the worker runs beside its agent
// (ACP terminal/*). acpd chooses a terminal's number and never uses one twice with one worker.
// Plain C++ without libraries, since the worker is built from it too.
namespace acpd::acp {

// How a command is started: its stdin is empty, its stdout and stderr are one.
struct TerminalSpec {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH of `env` when it has no slash
  std::vector<std::pair<std::string, std::string>> env;  // the whole environment
  std::string cwd;                                       // must exist

  bool operator==(const TerminalSpec&) const = default;
};

// TERMINAL_OPEN: starts the command and watches its output from 0. A number that the worker has is
// not started again: its state is the answer, and its watch stays as it is.
struct TerminalOpen {
  uint64_t number = 0;
  uint64_t output_limit = 0;  // bytes of output that are kept, the last ones; at most 4 MiB
  TerminalSpec spec = {};

  bool operator==(const TerminalOpen&) const = default;
};

// TERMINAL_STATE: comes when a command was started or could not be, for each terminal right after
// HELLO, and for one that has exited: when it is watched, behind all its output (also after a
// WATCH that came later). Also the answer to WATCH or KILL of a number that the worker does not
// have.
struct TerminalState {
  uint64_t number = 0;
  bool known = false;  // false with an error: it was not started, and nothing is kept of it;
                       // false without: there is no such terminal (any more)
  int64_t pid = 0;     // 0: not started
  std::string start_error = {};  // "cannot run foo: No such file or directory"
  int32_t start_errno = 0;
  uint64_t first_kept = 0;  // offset of the first byte of output that is kept
  uint64_t end = 0;         // offset after the last byte of output so far
  bool exited = false;      // no more output comes
  bool signaled = false;
  int32_t value = 0;  // exit code, or the signal's number

  bool operator==(const TerminalState&) const = default;
};

// TERMINAL_OUTPUT of a terminal that is watched, at most 32 KiB. Where acpd was slow and the bytes
// were no longer kept, the offset is beyond the end of the one before.
struct TerminalOutput {
  uint64_t number = 0;
  uint64_t offset = 0;          // of the first byte
  std::string_view bytes = {};  // valid until the next Read of the link

  bool operator==(const TerminalOutput&) const = default;
};

// TERMINAL_SNAPSHOT: the answer to TERMINAL_READ.
struct TerminalSnapshot {
  uint64_t number = 0;
  uint64_t tag = 0;    // that of the question
  bool known = false;  // false: there is no such terminal (any more)
  uint64_t first_kept = 0;
  uint64_t end = 0;
  bool exited = false;
  bool signaled = false;
  int32_t value = 0;
  std::string bytes = {};  // from first_kept to end

  bool operator==(const TerminalSnapshot&) const = default;
};

std::string EncodeTerminalOpen(const TerminalOpen& open);
// WATCH (number, from offset) and READ (number, tag). KILL and RELEASE are EncodeNumbered.
std::string EncodeTwoNumbers(FrameType type, uint64_t first, uint64_t second);
std::string EncodeTerminalState(const TerminalState& state);
std::string EncodeTerminalOutput(const TerminalOutput& output);
std::string EncodeTerminalSnapshot(const TerminalSnapshot& snapshot);

// Payloads, that is what follows the type byte; nullopt when they are malformed.
std::optional<TerminalOpen> DecodeTerminalOpen(std::string_view payload);
std::optional<std::pair<uint64_t, uint64_t>> DecodeTwoNumbers(std::string_view payload);
std::optional<TerminalState> DecodeTerminalState(std::string_view payload);
std::optional<TerminalOutput> DecodeTerminalOutput(std::string_view payload);
std::optional<TerminalSnapshot> DecodeTerminalSnapshot(std::string_view payload);

}  // namespace acpd::acp

#endif  // ACPD_ACP_TERMINAL_FRAMES_H_
