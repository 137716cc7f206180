#include "server/convert_agent.h"

#include "server/convert_parts.h"

namespace acpd::server {
namespace {

constexpr size_t kMaxMethodBytes = 256u << 10;
constexpr size_t kMaxTerminalLogin = 256u << 10;

void AddMethods(const session::LoginView& login, v1::LoginAgentResponse* out) {
  size_t bytes = 0;
  for (const acp::AuthMethod& method : login.methods) {
    v1::AuthMethod* added = out->add_methods();
    added->set_method_id(Word(method.id));
    added->set_name(Word(method.name));
    added->set_description(Word(method.description));
    added->set_type(Word(method.type));
    if (!Fits(out->mutable_methods(), kMaxMethodBytes, bytes)) return;
  }
}

// Half a command would do something else.
void AddTerminal(const session::LoginView& login, v1::LoginAgentResponse* out) {
  if (login.command.empty()) return;
  v1::TerminalLogin* terminal = out->mutable_terminal();
  for (const std::string& word : login.command) terminal->add_command(word);
  for (const auto& [name, value] : login.env) (*terminal->mutable_env())[name] = value;
  if (terminal->ByteSizeLong() > kMaxTerminalLogin) out->clear_terminal();
}

}  // namespace

void ToProto(const session::AgentView& agent, v1::Agent* out) {
  out->set_name(agent.name);
  for (const auto& word : agent.command) out->add_command(word);
  out->set_is_default(agent.is_default);
  out->set_available(agent.available);
  out->set_unavailable_reason(agent.unavailable_reason);
  out->set_version(Word(agent.version));
  if (agent.capabilities_json.size() <= kMaxAgentJson)
    out->set_capabilities_json(agent.capabilities_json);
  if (agent.auth_methods_json.size() <= kMaxAgentJson)
    out->set_auth_methods_json(agent.auth_methods_json);
  out->set_auth_required(agent.auth_required);
}

void ToProto(const session::AgentSessionView& session,
             v1::ListAgentSessionsResponse::AgentSession* out) {
  out->set_agent_session_id(Word(session.agent_session_id));
  out->set_cwd(Word(session.cwd));
  out->set_title(Word(session.title));
  if (session.update_time != 0) ToProto(session.update_time, out->mutable_update_time());
  out->set_session_id(session.session_id);
}

void ToProto(const session::LoginView& login, v1::LoginAgentResponse* out) {
  out->set_logged_in(login.logged_in);
  AddTerminal(login, out);
  AddMethods(login, out);
}

}  // namespace acpd::server
