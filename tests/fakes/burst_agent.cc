// burst_agent: an ACP agent for load. The prompt `burst N S [GAP]` makes N agent_message_chunk
// updates of S bytes of text, GAP microseconds apart (default 0), then ends the turn. Each text
// begins with the steady-clock nanoseconds of its writing and a space, so that a reader on the same
// machine can tell how long it was under way.

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>

#include "acp/demo_agent/line_io.h"
#include "acp/demo_agent/messages.h"
#include "tests/fakes/agent_wire.h"

namespace acpd::fakes {
namespace {

using demo::json;

constexpr size_t kPiece = 1 << 16;  // bytes gathered before a write, in long bursts
constexpr long kFew = 1000;         // bursts up to this many are written update by update

std::string NowText() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::to_string(std::chrono::nanoseconds(now).count()) + " ";
}

void Burst(const std::string& session_id, long count, size_t size, long gap_us) {
  const std::string mark = "@@";
  const std::string line =
      demo::Line(demo::Update(session_id, demo::TextChunk("agent_message_chunk", mark)));
  const std::string head = line.substr(0, line.find(mark));
  const std::string tail = line.substr(line.find(mark) + mark.size());
  std::string pending;
  for (long i = 0; i < count; ++i) {
    const std::string now = NowText();
    pending += head + now;
    if (now.size() < size) pending.append(size - now.size(), 'x');
    pending += tail;
    if (count > kFew && gap_us == 0 && pending.size() < kPiece) continue;
    demo::WriteAll(1, pending);
    pending.clear();
    if (gap_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(gap_us));
  }
  demo::WriteAll(1, pending);
}

json Initialize() {
  return {{"protocolVersion", 1},
          {"agentCapabilities",
           {{"loadSession", true}, {"sessionCapabilities", {{"resume", json::object()}}}}},
          {"authMethods", json::array()},
          {"agentInfo", {{"name", "burst_agent"}, {"version", "1"}}}};
}

json NewSession() {
  static int number = 0;
  const std::string pid = std::to_string(::getpid());
  return {{"sessionId", "burst-" + pid + "-" + std::to_string(++number)}};
}

json Prompt(const json& params) {
  long count = 1, size = 64, gap_us = 0;
  std::sscanf(demo::PromptText(params).c_str(), "burst %ld %ld %ld", &count, &size, &gap_us);
  Burst(demo::StringOf(params, "sessionId"), count, static_cast<size_t>(size), gap_us);
  return {{"stopReason", "end_turn"}};
}

json AnswerTo(const json& id, const std::string& method, const json& params) {
  if (method == "initialize") return demo::Result(id, Initialize());
  if (method == "session/new") return demo::Result(id, NewSession());
  if (method == "session/load" || method == "session/resume") {
    return demo::Result(id, json::object());
  }
  if (method == "session/prompt") return demo::Result(id, Prompt(params));
  return demo::Error(id, -32601, "Method not found: " + method);
}

void Serve() {
  AgentWire wire;  // without the updates, which are many and none of acpd's
  demo::LineReader input(0);
  bool open = true;
  while (open) {
    open = input.ReadSome();
    for (std::string line; input.Next(&line);) {
      wire.Received(line);
      const json message = json::parse(line, nullptr, false);
      if (!message.is_object() || !message.contains("id")) continue;
      const std::string method = demo::StringOf(message, "method");
      const json params = message.value("params", json::object());
      const std::string answer = demo::Line(AnswerTo(message["id"], method, params));
      wire.Sent(answer);
      if (!demo::WriteAll(1, answer)) return;
    }
  }
}

}  // namespace
}  // namespace acpd::fakes

int main() {
  std::signal(SIGPIPE, SIG_IGN);
  acpd::fakes::Serve();
  return 0;
}
