#ifndef ACPD_ACP_LINK_FRAMES_H_
#define ACPD_ACP_LINK_FRAMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The frames between acpd and acpd-worker: u32 length of what follows, u8 type, payload; little
// endian. Plain C++ without libraries, since the worker is built from it too. An unknown type is
// skipped by both sides.
namespace acpd::acp {

// Raised when what stands in a frame changes its meaning or its place. Fields that are added behind
// the others of HELLO, and new types of frames, do not raise it: they are skipped by who does not
// know them.
inline constexpr uint32_t kLinkVersion = 1;
// The oldest version of a worker, left by an older acpd, that this one still serves.
inline constexpr uint32_t kOldestLinkVersion = 1;
// The longest frame either side accepts: the longest ACP line and some room.
inline constexpr size_t kMaxFrame = (64u << 20) + 4096;

enum class FrameType : uint8_t {
  // worker to acpd
  kHello = 1,
  kStdout = 2,     // u64 offset of the first byte, bytes
  kStderr = 3,     // bytes
  kStdinDone = 4,  // u64 seq: the agent's pipe has taken the whole line
  kExit = 5,
  kTerminalState = 6,  // terminals: see terminal_frames.h
  kTerminalOutput = 7,
  kTerminalSnapshot = 8,
  // acpd to worker
  kAttach = 16,   // u64 generation, u64 from offset, u64 window
  kStdin = 17,    // u64 seq, one whole line without its newline
  kAck = 18,      // u64 offset: everything before it may be forgotten
  kAckExit = 19,  // the worker may leave
  kStop = 20,     // u32 grace in milliseconds for each step; 0: SIGKILL of the tree at once
  kTerminalOpen = 21,
  kTerminalWatch = 22,    // u64 number, u64 from offset: its output is sent from there on
  kTerminalRead = 23,     // u64 number, u64 tag: asks for a snapshot
  kTerminalKill = 24,     // u64 number: ends the command; number and output are kept
  kTerminalRelease = 25,  // u64 number: ends the command and forgets it
};

// How an agent is started and what the worker is to know of it. Travels to the worker over an
// inherited fd, and back in HELLO.
struct LaunchSpec {
  std::string worker_id;
  std::vector<std::string> argv;  // argv[0] is looked up in PATH of `env` when it has no slash
  std::vector<std::pair<std::string, std::string>> env;  // the whole environment of the agent
  std::string cwd;
  uint32_t orphan_timeout_ms = 3'600'000;  // nobody attached for so long: stop the agent and leave

  bool operator==(const LaunchSpec&) const = default;
};

struct Hello {
  uint32_t link_version = kLinkVersion;
  int64_t agent_pid = 0;  // 0: it could not be started
  uint64_t agent_start_ticks =
      0;  // field 22 of /proc/PID/stat: with the pid it names one process for ever
  std::string
      start_error;  // empty, or why the agent could not be started ("No such file or directory")
  int32_t start_errno = 0;
  uint64_t first_kept_offset = 0;  // of the agent's stdout
  uint64_t last_stdin_done = 0;    // seq of the last line that the agent's pipe took whole
  bool agent_exited = false;
  LaunchSpec spec;
};

// The agent is gone and so is everything it started.
struct WorkerExit {
  bool signaled = false;
  int32_t value = 0;        // exit code, or the signal's number
  std::string stderr_tail;  // the last 64 KiB
  uint64_t end_offset = 0;  // of stdout: the offset after its last byte
};

struct Attach {
  uint64_t generation = 0;
  uint64_t from_offset = 0;
  uint64_t window = 0;  // bytes of stdout that the worker may keep unacknowledged
};

std::string EncodeHello(const Hello& hello);
std::string EncodeExit(const WorkerExit& exit);
std::string EncodeAttach(const Attach& attach);
std::string EncodeSpec(const LaunchSpec& spec);
// A frame of a number followed by bytes: STDOUT, STDIN, and with no bytes STDIN_DONE and ACK.
std::string EncodeNumbered(FrameType type, uint64_t number, std::string_view bytes = {});
std::string EncodeStderr(std::string_view bytes);
std::string EncodeStop(uint32_t grace_ms);
std::string EncodeAckExit();

// Payloads, that is what follows the type byte; nullopt when they are malformed.
// A HELLO of a version that is not served has only its link_version set.
std::optional<Hello> DecodeHello(std::string_view payload);
std::optional<WorkerExit> DecodeExit(std::string_view payload);
std::optional<Attach> DecodeAttach(std::string_view payload);
std::optional<LaunchSpec> DecodeSpec(std::string_view payload);
std::optional<uint64_t> DecodeNumber(std::string_view& payload);  // takes the number off the front
std::optional<uint32_t> DecodeStop(std::string_view payload);

}  // namespace acpd::acp

#endif  // ACPD_ACP_LINK_FRAMES_H_
