#include "tests/fakes/agent_process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

#include "acp/demo_agent/line_io.h"
#include "acp/demo_agent/messages.h"

namespace acpd::fakes {
namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

Pipe MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  return {ends[0], ends[1]};
}

}  // namespace

AgentProcess::AgentProcess(const std::string& program,
                           const std::map<std::string, std::string>& env,
                           const std::string& stderr_file) {
  std::signal(SIGPIPE, SIG_IGN);  // an agent may leave while it is written to
  const Pipe in = MakePipe(), out = MakePipe();
  process_.emplace(e2e::Process::Options{.program = e2e::ProgramPath(program),
                                         .args = {},
                                         .env = env,
                                         .stdin_fd = in.read_end,
                                         .stdout_fd = out.write_end,
                                         .stderr_file = stderr_file});
  ::close(in.read_end);
  ::close(out.write_end);
  stdin_ = in.write_end;
  stdout_ = out.read_end;
}

AgentProcess::~AgentProcess() {
  CloseStdin();
  ::close(stdout_);
}

void AgentProcess::Write(const std::string& bytes) { demo::WriteAll(stdin_, bytes); }

void AgentProcess::CloseStdin() {
  if (stdin_ >= 0) ::close(stdin_);
  stdin_ = -1;
}

std::optional<std::string> AgentProcess::ReadLine() {
  while (true) {
    const size_t newline = buffer_.find('\n');
    if (newline != std::string::npos) {
      std::string line = buffer_.substr(0, newline);
      buffer_.erase(0, newline + 1);
      return line;
    }
    pollfd output{stdout_, POLLIN, 0};
    char piece[1 << 16];
    ssize_t n = 0;
    if (::poll(&output, 1, static_cast<int>(e2e::kPatience.count())) > 0) {
      n = ::read(stdout_, piece, sizeof piece);
    }
    if (n <= 0) break;
    buffer_.append(piece, static_cast<size_t>(n));
  }
  if (buffer_.empty()) return std::nullopt;
  return std::exchange(buffer_, "");
}

json AgentProcess::Read() {
  const auto line = ReadLine();
  return line ? json::parse(*line, nullptr, false) : json(json::value_t::discarded);
}

json AgentProcess::Call(const std::string& method, const json& params) {
  const int64_t id = ++last_id_;
  Send(demo::Request(id, method, params));
  return ReadAnswer(id);
}

int64_t AgentProcess::SendPrompt(const std::string& session_id, const std::string& text) {
  const json block = {{"type", "text"}, {"text", text}};
  Send(demo::Request(++last_id_, "session/prompt",
                     {{"sessionId", session_id}, {"prompt", json::array({block})}}));
  return last_id_;
}

json AgentProcess::ReadAnswer(int64_t id) {
  heard_.clear();
  while (true) {
    json message = Read();
    if (!message.is_object()) return message;
    if (!message.contains("method") && message.value("id", json()) == id) return message;
    heard_.push_back(std::move(message));
  }
}

std::string AgentProcess::Open() {
  Call("initialize", {{"protocolVersion", 1}});
  const json answer = Call("session/new", {{"cwd", "/"}, {"mcpServers", json::array()}});
  return answer.at("result").at("sessionId");
}

void AgentProcess::Cancel(const std::string& session_id) {
  Send(demo::Notification("session/cancel", {{"sessionId", session_id}}));
}

std::string AgentProcess::Text() const {
  std::string text;
  for (const json& message : heard_) {
    if (message.value("method", "") != "session/update") continue;
    const json& update = message.at("params").at("update");
    if (update.at("sessionUpdate") == "agent_message_chunk") {
      text += update.at("content").at("text").get<std::string>();
    }
  }
  return text;
}

std::vector<std::string> AgentProcess::Kinds() const {
  std::vector<std::string> kinds;
  for (const json& message : heard_) {
    if (message.value("method", "") != "session/update") continue;
    kinds.push_back(message.at("params").at("update").at("sessionUpdate"));
  }
  return kinds;
}

std::string Scripted(const json& steps) { return "!" + steps.dump(); }

}  // namespace acpd::fakes
