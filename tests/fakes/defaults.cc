#include "tests/fakes/defaults.h"

#include <map>

namespace acpd::fakes {
namespace {

Step ReplyStep(json result) { return {"reply", std::move(result)}; }

Step ErrorStep(int code, const std::string& message, json data = nullptr) {
  json error = {{"code", code}, {"message", message}};
  if (!data.is_null()) error["data"] = std::move(data);
  return {"error", std::move(error)};
}

Step NotFound(const std::string& session_id) {
  return ErrorStep(-32002, "Resource not found", {{"sessionId", session_id}});
}

json Capabilities(FakeAgent* agent) {
  const json yes = json::object();
  json capabilities = {{"loadSession", true},
                       {"sessionCapabilities", {{"resume", yes}, {"close", yes}}}};
  capabilities.merge_patch(agent->script().Value("capabilities", json::object()));
  return capabilities;
}

// What the capabilities say about a method that needs one.
bool IsAdvertised(FakeAgent* agent, const std::string& method) {
  const json capabilities = Capabilities(agent);
  if (method == "session/load") return capabilities.value("loadSession", false);
  const json session = capabilities.value("sessionCapabilities", json::object());
  const std::string name = method.substr(method.find('/') + 1);
  return session.is_object() && session.contains(name) && session[name].is_object();
}

Steps Initialize(FakeAgent* agent, const Run&) {
  return {ReplyStep({{"protocolVersion", 1},
                     {"agentCapabilities", Capabilities(agent)},
                     {"authMethods", agent->script().Value("auth_methods", json::array())},
                     {"agentInfo", {{"name", "fake_agent"}, {"version", "1"}}}})};
}

Steps Authenticate(FakeAgent* agent, const Run& run) {
  for (const json& method : agent->script().Value("auth_methods", json::array())) {
    if (demo::StringOf(method, "id") != demo::StringOf(run.params, "methodId")) continue;
    agent->Authenticated();
    return {ReplyStep(json::object())};
  }
  return {ErrorStep(-32602, "no such auth method")};
}

Steps NewSession(FakeAgent* agent, const Run& run) {
  const std::string wanted = ResumeIdOf(run.params);
  if (wanted.empty() || !agent->script().Flag("meta_resume")) {
    return {ReplyStep(WithSetup(agent, {{"sessionId", run.session_id}}))};
  }
  if (!agent->sessions().Open(wanted)) return {NotFound(wanted)};
  return {ReplyStep(WithSetup(agent, {{"sessionId", wanted}}))};
}

Steps Load(FakeAgent* agent, const Run& run) {
  if (!agent->sessions().Open(run.session_id)) return {NotFound(run.session_id)};
  return {{"replay", "history"}, ReplyStep(WithSetup(agent, json::object()))};
}

Steps Resume(FakeAgent* agent, const Run& run) {
  if (!agent->sessions().Open(run.session_id)) return {NotFound(run.session_id)};
  return {ReplyStep(WithSetup(agent, json::object()))};
}

Steps Close(FakeAgent* agent, const Run& run) {
  agent->sessions().Close(run.session_id);
  return {ReplyStep(json::object())};
}

Steps Delete(FakeAgent* agent, const Run& run) {
  agent->sessions().Delete(run.session_id);
  return {ReplyStep(json::object())};
}

Steps AskSteps(FakeAgent* agent) {
  const json id = agent->NextId();
  const json options = {{{"optionId", "allow"}, {"name", "Allow"}, {"kind", "allow_once"}},
                        {{"optionId", "reject"}, {"name", "Reject"}, {"kind", "reject_once"}}};
  return {{"ask", {{"id", id}, {"options", options}, {"wait", true}}}, {"say_chosen", id}};
}

Steps Prompt(FakeAgent* agent, const Run& run) {
  const demo::History* history = agent->sessions().Find(run.session_id);
  if (history == nullptr) return {NotFound(run.session_id)};
  Steps steps;
  const demo::Answer answer = demo::AnswerTo(*history);
  if (demo::PromptText(run.params).starts_with('!')) {
    // it brought its own steps, which are done
  } else if (answer.kind == demo::Answer::Kind::kAsk) {
    steps = AskSteps(agent);
  } else if (answer.kind == demo::Answer::Kind::kSlow) {
    for (int i = 1; i <= answer.chunks; ++i) {
      steps.push_back({"update", demo::SlowChunk(i)});
      steps.push_back({"sleep_ms", answer.pause.count()});
    }
  } else {
    steps.push_back({"update", answer.text});
  }
  steps.push_back(ReplyStep({{"stopReason", "end_turn"}}));
  return steps;
}

using Default = Steps (*)(FakeAgent* agent, const Run& run);

struct Row {
  Default steps;
  bool needs_capability;
  bool needs_auth;
};

const std::map<std::string, Row> kDefaults = {
    {"initialize", {Initialize, false, false}},
    {"authenticate", {Authenticate, false, false}},
    {"session/new", {NewSession, false, true}},
    {"session/load", {Load, true, true}},
    {"session/resume", {Resume, true, true}},
    {"session/prompt", {Prompt, false, true}},
    {"session/close", {Close, true, false}},
    {"session/delete", {Delete, true, false}},
    {"session/fork", {Fork, true, true}},
    {"session/list", {ListSessions, true, true}},
    {"session/set_mode", {SetMode, false, true}},
    {"session/set_config_option", {SetConfigOption, false, true}},
    {"session/set_model", {SetModel, false, true}},
    {"logout", {Logout, false, false}},
};

}  // namespace

Steps DefaultSteps(FakeAgent* agent, const Run& run) {
  const auto row = kDefaults.find(run.method);
  if (row == kDefaults.end() ||
      (row->second.needs_capability && !IsAdvertised(agent, run.method))) {
    return {ErrorStep(-32601, "Method not found: " + run.method)};
  }
  if (row->second.needs_auth && agent->script().Flag("require_auth") && !agent->authenticated()) {
    return {ErrorStep(-32000, "Authentication required")};
  }
  return row->second.steps(agent, run);
}

std::string ResumeIdOf(const json& params) {
  const json* at = &params;
  for (const char* key : {"_meta", "claudeCode", "options"}) {
    if (!at->is_object() || !at->contains(key)) return "";
    at = &(*at)[key];
  }
  return demo::StringOf(*at, "resume");
}

}  // namespace acpd::fakes
