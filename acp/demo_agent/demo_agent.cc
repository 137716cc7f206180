#include "acp/demo_agent/demo_agent.h"

#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <utility>

namespace acpd::demo {
namespace {

constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kParseError = -32700;
constexpr int kResourceNotFound = -32002;

std::string NewSessionId() {
  std::random_device random;
  char id[40];
  std::snprintf(id, sizeof id, "demo-%08x%08x%08x", random(), random(), random());
  return id;
}

json PlanUpdate(const std::string& asking, const std::string& answering) {
  return {{"sessionUpdate", "plan"},
          {"entries",
           {{{"content", "Ask for permission"}, {"priority", "high"}, {"status", asking}},
            {{"content", "Say what was chosen"}, {"priority", "medium"}, {"status", answering}}}}};
}

// What the client answered to session/request_permission: the option's kind, "cancelled" or
// "error".
std::string ChosenKind(const json& message) {
  const json result = message.value("result", json());
  const json outcome = result.is_object() ? result.value("outcome", json()) : json();
  if (StringOf(outcome, "outcome") == "cancelled") return "cancelled";
  const std::string option = StringOf(outcome, "optionId");
  if (option == "allow") return "allow_once";
  if (option == "reject") return "reject_once";
  return "error";
}

std::string ToolCallId(int ask_id) { return "call-" + std::to_string(ask_id); }

}  // namespace

void DemoAgent::Run() {
  bool open = true;
  while (open && !output_gone_) {
    pollfd input{0, POLLIN, 0};
    if (::poll(&input, 1, PollTimeout()) > 0) {
      open = input_.ReadSome();
      for (std::string line; input_.Next(&line);) OnLine(line);
    }
    SayDueChunks();
  }
}

int DemoAgent::PollTimeout() const {
  int timeout = -1;
  for (const auto& [session_id, turn] : turns_) {
    if (turn.answer.kind != Answer::Kind::kSlow) continue;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(turn.next_chunk - Clock::now()).count();
    const int wait = static_cast<int>(std::max<int64_t>(left, 0));
    timeout = timeout < 0 ? wait : std::min(timeout, wait);
  }
  return timeout;
}

void DemoAgent::OnLine(const std::string& line) {
  if (line.empty() || line == "\r") return;
  const json message = json::parse(line, nullptr, false);
  if (!message.is_object()) return Send(Error(nullptr, kParseError, "Parse error"));
  const std::string method = StringOf(message, "method");
  const json params = message.value("params", json::object());
  if (method.empty()) {
    OnAnswer(message);
  } else if (message.contains("id")) {
    OnRequest(method, message["id"], params);
  } else if (method == "session/cancel") {
    Cancel(StringOf(params, "sessionId"));
  }
}

void DemoAgent::OnRequest(const std::string& method, const json& id, const json& params) {
  if (method == "initialize") return Initialize(id);
  if (method == "session/new") return NewSession(id);
  if (method == "session/load") return TakeUp(id, params, /*replay=*/true);
  if (method == "session/resume") return TakeUp(id, params, /*replay=*/false);
  if (method == "session/close") return CloseSession(id, params);
  if (method == "session/delete") return DeleteSession(id, params);
  if (method == "session/prompt") return Prompt(id, params);
  Send(Error(id, kMethodNotFound, "Method not found: " + method));
}

void DemoAgent::Initialize(const json& id) {
  const json yes = json::object();
  const json capabilities = {
      {"loadSession", true},
      {"sessionCapabilities", {{"resume", yes}, {"close", yes}, {"delete", yes}}}};
  Send(Result(
      id,
      {{"protocolVersion", 1},
       {"agentCapabilities", capabilities},
       {"authMethods", json::array()},
       {"agentInfo",
        {{"name", "acpd-demo-agent"}, {"title", "acpd demo agent"}, {"version", ACPD_VERSION}}}}));
}

void DemoAgent::NewSession(const json& id) {
  const std::string session_id = NewSessionId();
  sessions_.Create(session_id);
  Send(Result(id, {{"sessionId", session_id}}));
}

void DemoAgent::TakeUp(const json& id, const json& params, bool replay) {
  const std::string session_id = StringOf(params, "sessionId");
  if (!sessions_.Open(session_id)) {
    return Send(Error(id, kResourceNotFound, "Resource not found", {{"sessionId", session_id}}));
  }
  if (replay) {
    for (const Exchange& exchange : *sessions_.Find(session_id)) {
      Send(Update(session_id, TextChunk("user_message_chunk", exchange.user)));
      if (exchange.agent.empty()) continue;
      Send(Update(session_id, TextChunk("agent_message_chunk", exchange.agent)));
    }
  }
  Send(Result(id, json::object()));
}

void DemoAgent::CloseSession(const json& id, const json& params) {
  const std::string session_id = StringOf(params, "sessionId");
  Cancel(session_id);
  sessions_.Close(session_id);
  Send(Result(id, json::object()));
}

void DemoAgent::DeleteSession(const json& id, const json& params) {
  const std::string session_id = StringOf(params, "sessionId");
  Cancel(session_id);
  sessions_.Delete(session_id);
  Send(Result(id, json::object()));
}

void DemoAgent::Prompt(const json& id, const json& params) {
  const std::string session_id = StringOf(params, "sessionId");
  History* history = sessions_.Find(session_id);
  if (history == nullptr) {
    return Send(Error(id, kResourceNotFound, "Resource not found", {{"sessionId", session_id}}));
  }
  if (turns_.contains(session_id)) {
    return Send(Error(id, kInvalidRequest, "This session is busy with another prompt"));
  }
  history->push_back({PromptText(params), ""});
  sessions_.Save(session_id);  // a turn that is killed was still asked
  const auto turn = turns_.emplace(session_id, Turn{}).first;
  turn->second.request_id = id;
  turn->second.answer = AnswerTo(*history);
  turn->second.next_chunk = Clock::now();
  switch (turn->second.answer.kind) {
    case Answer::Kind::kSay:
      Say(session_id, &turn->second, turn->second.answer.text);
      return EndTurn(turn, "end_turn");
    case Answer::Kind::kSlow:
      return;  // SayDueChunks goes on with it
    case Answer::Kind::kAsk:
      return Ask(session_id, &turn->second);
  }
}

void DemoAgent::Cancel(const std::string& session_id) {
  const auto turn = turns_.find(session_id);
  if (turn != turns_.end()) EndTurn(turn, "cancelled");
}

void DemoAgent::SayDueChunks() {
  for (auto next = turns_.begin(); next != turns_.end();) {
    const auto it = next++;  // EndTurn erases it
    Turn& turn = it->second;
    if (turn.answer.kind != Answer::Kind::kSlow || Clock::now() < turn.next_chunk) continue;
    if (turn.chunks_said >= turn.answer.chunks) {
      EndTurn(it, "end_turn");
      continue;
    }
    Say(it->first, &turn, SlowChunk(++turn.chunks_said));
    turn.next_chunk += turn.answer.pause;
  }
}

void DemoAgent::Ask(const std::string& session_id, Turn* turn) {
  turn->ask_id = ++last_ask_id_;
  const std::string call_id = ToolCallId(turn->ask_id);
  Send(Update(session_id, PlanUpdate("in_progress", "pending")));
  Send(Update(session_id, {{"sessionUpdate", "tool_call"},
                           {"toolCallId", call_id},
                           {"title", "Touch nothing at all"},
                           {"kind", "execute"},
                           {"status", "pending"}}));
  const json options = {{{"optionId", "allow"}, {"name", "Allow"}, {"kind", "allow_once"}},
                        {{"optionId", "reject"}, {"name", "Reject"}, {"kind", "reject_once"}}};
  const json call = {
      {"toolCallId", call_id}, {"title", "Touch nothing at all"}, {"kind", "execute"}};
  Send(Request(turn->ask_id, "session/request_permission",
               {{"sessionId", session_id}, {"toolCall", call}, {"options", options}}));
}

void DemoAgent::OnAnswer(const json& message) {
  const json id = message.value("id", json());
  const auto it = std::find_if(turns_.begin(), turns_.end(), [&](const Turns::value_type& turn) {
    return turn.second.ask_id != 0 && id == turn.second.ask_id;
  });
  if (it == turns_.end()) return;  // of a turn that was cancelled meanwhile
  const std::string chosen = ChosenKind(message);
  const bool allowed = chosen == "allow_once";
  Send(Update(it->first, {{"sessionUpdate", "tool_call_update"},
                          {"toolCallId", ToolCallId(it->second.ask_id)},
                          {"status", allowed ? "completed" : "failed"}}));
  Send(Update(it->first, PlanUpdate("completed", "completed")));
  Say(it->first, &it->second, ChosenText(chosen));
  EndTurn(it, "end_turn");
}

void DemoAgent::Say(const std::string& session_id, Turn* turn, const std::string& text) {
  turn->said += text;
  Send(Update(session_id, TextChunk("agent_message_chunk", text)));
}

void DemoAgent::EndTurn(Turns::iterator turn, const std::string& stop_reason) {
  const std::string session_id = turn->first;
  sessions_.Find(session_id)->back().agent = turn->second.said;
  sessions_.Save(session_id);
  Send(Result(turn->second.request_id, {{"stopReason", stop_reason}}));
  turns_.erase(turn);
}

void DemoAgent::Send(const json& message) {
  if (!WriteAll(1, Line(message))) output_gone_ = true;
}

}  // namespace acpd::demo
