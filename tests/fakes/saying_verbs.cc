// Verbs that say something.

#include <cstdlib>
#include <string>
#include <utility>

#include "tests/fakes/agent.h"
#include "tests/fakes/base64.h"
#include "tests/fakes/defaults.h"
#include "tests/fakes/verbs.h"

namespace acpd::fakes {
namespace {

void Say(FakeAgent* agent, Run* run, const std::string& text) {
  run->said += text;
  agent->Send(demo::Update(run->session_id, demo::TextChunk("agent_message_chunk", text)));
}

void FillIn(std::string* text, const std::string& name, const std::string& value) {
  for (size_t at = 0; (at = text->find(name, at)) != std::string::npos; at += value.size()) {
    text->replace(at, name.size(), value);
  }
}

}  // namespace

Progress DoReply(FakeAgent* agent, Run* run, const json& argument) {
  if (!argument.is_discarded()) {
    agent->Answer(run, argument);
    return Progress::kDone;
  }
  run->defaulted = true;
  const Steps steps = DefaultSteps(agent, *run);
  run->steps.insert(run->steps.begin() + run->next + 1, steps.begin(), steps.end());
  return Progress::kDone;
}

Progress DoError(FakeAgent* agent, Run* run, const json& argument) {
  json error = argument;
  if (argument.is_array()) {
    error = {{"code", argument.at(0)}, {"message", argument.at(1)}};
    if (argument.size() > 2) error["data"] = argument[2];
  }
  agent->AnswerError(run, error);
  return Progress::kDone;
}

Progress DoSilent(FakeAgent*, Run* run, const json&) {
  run->silent = true;
  return Progress::kDone;
}

Progress DoUpdate(FakeAgent* agent, Run* run, const json& argument) {
  if (argument.is_string()) {
    Say(agent, run, argument);
  } else {
    agent->Send(demo::Update(run->session_id, argument));
  }
  return Progress::kDone;
}

Progress DoBurst(FakeAgent* agent, Run* run, const json& argument) {
  constexpr int kAtOnce = 64;
  const int count = argument.at(0);
  const size_t size = argument.at(1);
  std::string lines;
  int number = run->part * kAtOnce;
  for (int i = 0; i < kAtOnce && number < count; ++i, ++number) {
    std::string text = std::to_string(number) + " ";
    if (text.size() < size) text.resize(size, 'x');
    lines +=
        demo::Line(demo::Update(run->session_id, demo::TextChunk("agent_message_chunk", text)));
  }
  agent->SendBytes(lines);
  return number < count ? Progress::kAgain : Progress::kDone;
}

Progress DoReplay(FakeAgent* agent, Run* run, const json& argument) {
  demo::History history;
  if (argument.is_number()) {
    for (int i = 1; i <= argument.get<int>(); ++i) {
      history.push_back({"", "replayed " + std::to_string(i)});
    }
  } else if (agent->sessions().Open(run->session_id)) {
    history = *agent->sessions().Find(run->session_id);
  }
  for (const demo::Exchange& exchange : history) {
    for (const auto& [kind, text] : {std::pair("user_message_chunk", exchange.user),
                                     std::pair("agent_message_chunk", exchange.agent)}) {
      if (!text.empty()) agent->Send(demo::Update(run->session_id, demo::TextChunk(kind, text)));
    }
  }
  return Progress::kDone;
}

Progress DoUpdatesAndReply(FakeAgent* agent, Run* run, const json& argument) {
  json texts = argument.at("updates");
  if (texts.is_number()) {
    const int count = texts;
    texts = json::array();
    for (int i = 1; i <= count; ++i) texts.push_back("update " + std::to_string(i));
  }
  std::string lines;
  for (const std::string text : texts) {
    run->said += text;
    lines +=
        demo::Line(demo::Update(run->session_id, demo::TextChunk("agent_message_chunk", text)));
  }
  const json result = argument.value("reply", json{{"stopReason", "end_turn"}});
  agent->RememberAnswer(*run);
  run->answered = true;
  agent->SendBytes(lines + demo::Line(demo::Result(run->id, result)));
  return Progress::kDone;
}

Progress DoRaw(FakeAgent* agent, Run* run, const json& argument) {
  std::string bytes = argument;
  FillIn(&bytes, "${id}", run->id.is_discarded() ? "null" : run->id.dump());
  FillIn(&bytes, "${sessionId}", run->session_id);
  agent->SendBytes(bytes);
  return Progress::kDone;
}

Progress DoRaw64(FakeAgent* agent, Run*, const json& argument) {
  agent->SendBytes(DecodeBase64(argument));
  return Progress::kDone;
}

Progress DoNotify(FakeAgent* agent, Run*, const json& argument) {
  agent->Send(demo::Notification(argument.at("method"), argument.value("params", json::object())));
  return Progress::kDone;
}

Progress DoSayEnv(FakeAgent* agent, Run* run, const json& argument) {
  const std::string name = argument;
  const char* value = std::getenv(name.c_str());
  Say(agent, run, value == nullptr ? name + " is not set" : name + "=" + value);
  return Progress::kDone;
}

}  // namespace acpd::fakes
