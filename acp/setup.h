#ifndef ACPD_ACP_SETUP_H_
#define ACPD_ACP_SETUP_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "acp/content.h"

// How an agent and its sessions are set up
// (https://agentclientprotocol.com/protocol/session-setup): the lines that we send, without their
// newline. Ids are our own numbers. No threads.
namespace acpd::acp {

// What acpd does for the agent; what is off is not advertised and answered -32601.
struct ClientCapabilities {
  bool read_text_file = false, write_text_file = false, terminal = false;
  bool elicitation_form = false, elicitation_url = false;
  bool boolean_options = true;
  bool notices = true, compaction = true;  // session.notices, session.compaction
  bool auth_terminal = true;               // `acpctl login` re-runs the agent's command
};

struct McpServer {
  enum class Kind { kStdio, kHttp, kSse };
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  Kind kind = Kind::kStdio;
  std::string name;
  std::string command;            // of kStdio
  std::vector<std::string> args;  // of kStdio
  Pairs env;                      // of kStdio
  std::string url;                // of the others
  Pairs headers;                  // of the others

  bool operator==(const McpServer&) const = default;
};

struct McpCapabilities {
  bool http = false, sse = false;
};
// The capability that a server of this kind needs and the agent does not have
// ("mcpCapabilities.http"); empty: the agent takes it.
std::string_view MissingCapability(McpServer::Kind kind, const McpCapabilities& capabilities);

// What session/new, load, resume and fork are given.
struct SessionSetup {
  std::string cwd;
  std::vector<McpServer> mcp_servers;
  std::vector<std::string> additional_directories;  // sent when there are any
  std::string system_prompt;                        // `_meta.systemPrompt.append`; empty: none
  std::string meta_json;  // the caller's, CheckSetupMeta found it good; empty: none
  TraceContext trace;
  // Only for NewSessionLine: `_meta.claudeCode.options.resume`. Empty: no trace of it.
  std::string meta_resume_id;
};

// Whether a caller's `meta_json` may be passed on: INVALID_ARGUMENT with a sentence that names what
// may not. It is an object; of `claudeCode.options` only an allow-list passes (nothing that
// resumes, forks or continues a session or starts another program); `systemPrompt`, traceparent,
// tracestate and baggage have fields of their own.
absl::Status CheckSetupMeta(std::string_view meta_json);

// protocolVersion 1 exactly; clientInfo acpd.
std::string InitializeLine(uint64_t id, std::string_view version, const ClientCapabilities& client);
std::string NewSessionLine(uint64_t id, const SessionSetup& setup);
std::string LoadSessionLine(uint64_t id, std::string_view session_id, const SessionSetup& setup);
std::string ResumeSessionLine(uint64_t id, std::string_view session_id, const SessionSetup& setup);
// Unstable in ACP v1: only to agents that advertise it.
std::string ForkSessionLine(uint64_t id, std::string_view session_id, const SessionSetup& setup);

}  // namespace acpd::acp

#endif  // ACPD_ACP_SETUP_H_
