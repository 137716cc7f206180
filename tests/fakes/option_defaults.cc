// What a good agent does about its modes, options, lists and logins.

#include "tests/fakes/defaults.h"

namespace acpd::fakes {
namespace {

Steps ReplySteps(json result) { return {{"reply", std::move(result)}}; }

Steps ErrorSteps(int code, const std::string& message) {
  return {{"error", {{"code", code}, {"message", message}}}};
}

// As the script has it at first; then as clients set it.
json& Setup(FakeAgent* agent) {
  static json setup = agent->script().Value("setup", json::object());
  return setup;
}

}  // namespace

json WithSetup(FakeAgent* agent, json result) {
  for (const auto& [name, value] : Setup(agent).items()) result[name] = value;
  return result;
}

Steps SetMode(FakeAgent* agent, const Run& run) {
  json& setup = Setup(agent);
  if (!setup.contains("modes")) return ErrorSteps(-32602, "no modes");
  setup["modes"]["currentModeId"] = run.params.at("modeId");
  return ReplySteps(json::object());
}

Steps SetConfigOption(FakeAgent* agent, const Run& run) {
  json& setup = Setup(agent);
  for (json& option : setup["configOptions"]) {
    if (option.at("id") != run.params.at("configId")) continue;
    option["currentValue"] = run.params.at("value");
    return ReplySteps({{"configOptions", setup["configOptions"]}});
  }
  return ErrorSteps(-32602, "no such option");
}

Steps SetModel(FakeAgent* agent, const Run& run) {
  json& setup = Setup(agent);
  if (!setup.contains("models")) return ErrorSteps(-32602, "no models");
  setup["models"]["currentModelId"] = run.params.at("modelId");
  return ReplySteps(json::object());
}

Steps Fork(FakeAgent* agent, const Run& run) {
  const std::string copied = demo::StringOf(run.params, "sessionId");
  demo::Sessions& sessions = agent->sessions();
  if (!sessions.Open(copied)) return ErrorSteps(-32002, "Resource not found");
  const std::string copy = copied + "-copy";
  sessions.Create(copy);
  *sessions.Find(copy) = *sessions.Find(copied);
  sessions.Save(copy);
  return ReplySteps(WithSetup(agent, {{"sessionId", copy}}));
}

Steps ListSessions(FakeAgent* agent, const Run& run) {
  // Pages as the script has them, by cursor.
  const json pages = agent->script().Value("session_pages", json::object());
  const std::string cursor = demo::StringOf(run.params, "cursor");
  if (!pages.contains(cursor)) return ErrorSteps(-32602, "no such cursor");
  return ReplySteps(pages[cursor]);
}

Steps Logout(FakeAgent*, const Run&) { return ReplySteps(json::object()); }

}  // namespace acpd::fakes
