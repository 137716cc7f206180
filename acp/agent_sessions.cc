#include "acp/agent_sessions.h"

#include "acp/field_reader.h"
#include "acp/json_value.h"
#include "acp/lines.h"

namespace acpd::acp {
namespace {

std::vector<std::string> Texts(const JsonValue& list) {
  std::vector<std::string> texts;
  for (const JsonValue& item : list.Items()) {
    if (std::optional<std::string> text = item.String()) texts.push_back(std::move(*text));
  }
  return texts;
}

// Of type terminal an object {NAME: value}; agents of before have the list of other places of ACP.
std::vector<std::pair<std::string, std::string>> ReadLoginEnv(const JsonValue& env) {
  std::vector<std::pair<std::string, std::string>> pairs;
  const JsonObject members = env.Members();
  for (const auto& [name, value] : members.all()) {
    if (std::optional<std::string> text = value.String()) pairs.emplace_back(name, *text);
  }
  for (const JsonValue& item : env.Items()) {
    const JsonObject pair = item.Members();
    std::optional<std::string> name = pair.Get("name").String();
    if (name) pairs.emplace_back(std::move(*name), pair.StringOr("value"));
  }
  return pairs;
}

// `vars` [{name}], `varName` before; ACP has no such type any more.
std::vector<std::string> ReadVariables(const JsonObject& method) {
  std::vector<std::string> names;
  for (const JsonValue& item : method.Get("vars").Items()) {
    if (std::optional<std::string> name = item.Members().Get("name").String()) {
      names.push_back(std::move(*name));
    }
  }
  if (std::optional<std::string> name = method.Get("varName").String()) {
    names.push_back(std::move(*name));
  }
  return names;
}

AuthMethod ReadAuthMethod(std::string id, const JsonObject& object) {
  AuthMethod method;
  method.name = object.StringOr("name", id);
  method.id = std::move(id);
  method.description = object.StringOr("description");
  method.type = object.StringOr("type", "agent");
  if (method.type == "terminal") {
    method.args = Texts(object.Get("args"));
    method.env = ReadLoginEnv(object.Get("env"));
  } else if (method.type == "env_var") {
    method.variables = ReadVariables(object);
  }
  return method;
}

}  // namespace

std::string ListSessionsLine(uint64_t id, std::string_view cwd, std::string_view cursor,
                             const TraceContext& trace) {
  LineJson params = LineJson::object();
  if (!cwd.empty()) params["cwd"] = cwd;
  if (!cursor.empty()) params["cursor"] = cursor;
  return RequestLine(id, "session/list", Traced(std::move(params), trace));
}

absl::StatusOr<AgentSessionPage> ReadSessionPage(std::string_view result_json) {
  FieldReader reader(result_json, "answer to session/list");
  // A list of another type counts as empty, none at all does not.
  if (!reader.object().Has("sessions")) reader.Refuse("sessions", "an array");
  if (!reader.ok()) return reader.status();
  AgentSessionPage page;
  for (const JsonValue& item : reader.Get("sessions").Items()) {
    const JsonObject object = item.Members();
    std::optional<std::string> id = object.Get("sessionId").String();
    std::optional<std::string> cwd = object.Get("cwd").String();
    if (!id || !cwd) continue;
    page.sessions.push_back(
        {std::move(*id), std::move(*cwd), object.StringOr("title"), object.StringOr("updatedAt")});
  }
  page.next_cursor = reader.object().StringOr("nextCursor");
  return page;
}

std::vector<AuthMethod> ReadAuthMethods(std::string_view auth_methods_json) {
  std::vector<AuthMethod> methods;
  const std::optional<JsonValue> array = JsonValue::Parse(auth_methods_json);
  if (!array) return methods;
  for (const JsonValue& item : array->Items()) {
    const JsonObject object = item.Members();
    std::optional<std::string> id = object.Get("id").String();
    if (id) methods.push_back(ReadAuthMethod(std::move(*id), object));
  }
  return methods;
}

std::string LogoutLine(uint64_t id, const TraceContext& trace) {
  return RequestLine(id, "logout", Traced(LineJson::object(), trace));
}

}  // namespace acpd::acp
