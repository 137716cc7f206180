#ifndef ACPD_ACP_AGENT_REQUESTS_H_
#define ACPD_ACP_AGENT_REQUESTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

// What agents ask of their client's machine: files and terminals
// (https://agentclientprotocol.com/protocol/file-system, terminals). Readers say INVALID_ARGUMENT
// with a sentence that names the field; optional fields of a wrong type count as absent where the
// schema says so. In answers `request_id` is the raw JSON token that the agent sent. No threads.
namespace acpd::acp {

struct ReadFileRequest {
  std::string session_id, path;
  std::optional<uint64_t> line, limit;
};
absl::StatusOr<ReadFileRequest> ReadReadFileRequest(std::string_view params_json);
std::string FileContentLine(std::string_view request_id, std::string_view content);

struct WriteFileRequest {
  std::string session_id, path, content;
};
absl::StatusOr<WriteFileRequest> ReadWriteFileRequest(std::string_view params_json);

struct CreateTerminalRequest {
  std::string session_id, command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string cwd;  // empty: the session's
  std::optional<uint64_t> output_byte_limit;
};
absl::StatusOr<CreateTerminalRequest> ReadCreateTerminalRequest(std::string_view params_json);
std::string TerminalCreatedLine(std::string_view request_id, std::string_view terminal_id);

// terminal/output, wait_for_exit, kill, release.
struct TerminalRequest {
  std::string session_id, terminal_id;
};
absl::StatusOr<TerminalRequest> ReadTerminalRequest(std::string_view params_json);

struct TerminalExit {
  std::optional<int32_t> exit_code;  // it exited by itself
  std::string signal;                // else the signal's name, e.g. SIGKILL
};
// `exit` unset: it runs. `output` is cut to whole characters at its front and repaired.
std::string TerminalOutputLine(std::string_view request_id, std::string_view output, bool truncated,
                               const std::optional<TerminalExit>& exit);
std::string TerminalExitLine(std::string_view request_id, const TerminalExit& exit);

// The answer `{}` of fs/write_text_file, terminal/kill and terminal/release.
std::string EmptyResultLine(std::string_view request_id);

}  // namespace acpd::acp

#endif  // ACPD_ACP_AGENT_REQUESTS_H_
