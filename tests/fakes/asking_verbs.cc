// Verbs that ask the client something.

#include <string>

#include "tests/fakes/agent.h"
#include "tests/fakes/verbs.h"

namespace acpd::fakes {
namespace {

// Sends the request at the first call; waits for its answer at further ones, if it is to.
Progress Send(FakeAgent* agent, Run* run, const json& argument, const std::string& method,
              const json& params) {
  if (run->part == 0) {
    const json id = argument.contains("id") ? argument["id"] : agent->NextId();
    run->asked_id = id;
    agent->Asked(id);
    agent->Send(demo::Request(id, method, params));
  }
  if (!argument.value("wait", false)) return Progress::kDone;
  return agent->AnswerTo(run->asked_id) ? Progress::kDone : Progress::kWait;
}

json OutcomeOf(const json& answer) {
  const json result = answer.value("result", json());
  return result.is_object() ? result.value("outcome", json()) : json();
}

// Whether `got` has all that `wanted` has; what else stands in its objects does not matter.
bool Has(const json& got, const json& wanted) {
  if (!wanted.is_object() || !got.is_object()) return got == wanted;
  for (const auto& [key, value] : wanted.items()) {
    if (!got.contains(key) || !Has(got[key], value)) return false;
  }
  return true;
}

// `${sessionId}` as a value is the run's session.
json Filled(json params, const Run& run) {
  for (json& value : params) {
    if (value == "${sessionId}") value = run.session_id;
  }
  return params;
}

// An empty string where the answer is as wanted, else what differs.
std::string Mismatch(const json& answer, const json& wanted) {
  const json outcome = OutcomeOf(answer);
  for (const char* key : {"outcome", "optionId"}) {
    if (wanted.contains(key) && wanted[key] != demo::StringOf(outcome, key)) return key;
  }
  if (wanted.contains("code")) {
    const json error = answer.value("error", json::object());
    if (error.value("code", json()) != wanted["code"]) return "code";
  }
  if (wanted.contains("message")) {
    const json error = answer.value("error", json::object());
    const std::string text = error.value("message", "");
    if (text.find(wanted["message"].get<std::string>()) == std::string::npos) return "message";
  }
  if (wanted.contains("result") && !Has(answer.value("result", json()), wanted["result"])) {
    return "result";
  }
  return "";
}

}  // namespace

Progress DoAsk(FakeAgent* agent, Run* run, const json& argument) {
  const json call = argument.value("toolCall", json{{"toolCallId", "call-1"}, {"title", "Do it"}});
  json options = argument.at("options");
  for (json& option : options) {
    if (!option.contains("name")) option["name"] = option.at("optionId");
  }
  run->options = options;
  return Send(agent, run, argument, "session/request_permission",
              {{"sessionId", run->session_id}, {"toolCall", call}, {"options", options}});
}

Progress DoRequest(FakeAgent* agent, Run* run, const json& argument) {
  return Send(agent, run, argument, argument.at("method"),
              Filled(argument.value("params", json::object()), *run));
}

Progress DoExpectAnswer(FakeAgent* agent, Run* run, const json& argument) {
  const auto answer = agent->AnswerTo(argument.at("id"));
  if (!answer) return Progress::kWait;
  agent->log().Write({{"event", "answer"}, {"id", argument["id"]}, {"message", *answer}});
  const std::string mismatch = Mismatch(*answer, argument);
  if (mismatch.empty()) return Progress::kDone;
  agent->log().Write({{"event", "mismatch"}, {"wanted", argument}, {"got", *answer}});
  if (!run->answered) {
    agent->AnswerError(run, {{"code", -32603},
                             {"message", "expect_answer: " + mismatch + " differs"},
                             {"data", {{"wanted", argument}, {"got", *answer}}}});
  }
  return Progress::kDone;
}

Progress DoSayChosen(FakeAgent* agent, Run* run, const json& argument) {
  const auto answer = agent->AnswerTo(argument);
  if (!answer) return Progress::kWait;
  const json outcome = OutcomeOf(*answer);
  std::string chosen = demo::StringOf(outcome, "outcome");
  for (const json& option : run->options) {
    if (option.at("optionId") == demo::StringOf(outcome, "optionId")) chosen = option.at("kind");
  }
  return DoUpdate(agent, run, demo::ChosenText(chosen.empty() ? "error" : chosen));
}

}  // namespace acpd::fakes
