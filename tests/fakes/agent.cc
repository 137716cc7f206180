#include "tests/fakes/agent.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <utility>

#include "tests/fakes/defaults.h"
#include "tests/fakes/verbs.h"

namespace acpd::fakes {
namespace {

std::string Env(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string NewSessionId(int number) {
  return "fake-" + std::to_string(::getpid()) + "-" + std::to_string(number) + "-" +
         std::to_string(std::random_device{}());
}

}  // namespace

FakeAgent::FakeAgent(Script script)
    : script_(std::move(script)),
      log_(Env("FAKE_AGENT_LOG")),
      barriers_(Env("FAKE_AGENT_BARRIERS")),
      sessions_(Env("FAKE_AGENT_STATE")),
      input_(0) {}

int FakeAgent::Serve() {
  StartRun("start", json::object());
  bool again = AdvanceRuns();
  while (reading_ || ignore_eof_) {
    pollfd input{reading_ ? 0 : -1, POLLIN, 0};
    if (::poll(&input, 1, PollTimeout(again)) > 0) Read();
    again = AdvanceRuns();
  }
  log_.Write({{"event", "exit"}, {"code", 0}, {"why", "eof"}});
  return 0;
}

// Every line is acted on before the next is looked at: a cancel read together with its prompt comes
// after it.
void FakeAgent::Read() {
  const bool open = input_.ReadSome();
  for (std::string line; input_.Next(&line);) {
    log_.Write({{"event", "in"}, {"line", line}});
    wire_.Received(line);
    OnLine(line);
    AdvanceRuns();
  }
  if (open) return;
  reading_ = false;
  log_.Write({{"event", "eof"}});
}

int FakeAgent::PollTimeout(bool again) const {
  constexpr int kBarrierPoll = 2;
  if (again) return 0;
  int timeout = -1;
  for (const Run& run : runs_) {
    int wait = -1;
    if (run.on_barrier) {
      wait = kBarrierPoll;
    } else if (run.until != Clock::time_point()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(run.until - Clock::now());
      wait = static_cast<int>(std::max<int64_t>(left.count(), 0));
    }
    if (wait >= 0) timeout = timeout < 0 ? wait : std::min(timeout, wait);
  }
  return timeout;
}

void FakeAgent::OnLine(const std::string& line) {
  const json message = json::parse(line, nullptr, false);
  if (!message.is_object()) return;
  const std::string method = demo::StringOf(message, "method");
  if (method.empty()) {
    answers_[message.value("id", json()).dump()] = message;
    return;
  }
  if (method == "session/cancel" || method == "session/close" || method == "session/delete") {
    CancelPrompts(demo::StringOf(message.value("params", json()), "sessionId"));
  }
  StartRun(method, message);
}

void FakeAgent::StartRun(const std::string& method, const json& message) {
  Run& run = runs_.emplace_back();
  run.id = message.contains("id") ? message["id"] : json(json::value_t::discarded);
  run.answered = !message.contains("id");
  run.method = method;
  run.params = message.value("params", json::object());
  run.session_id = demo::StringOf(run.params, "sessionId");
  run.on_cancel = script_.Value("on_cancel", "cancelled");
  if (method == "session/new") run.session_id = NewSessionId(++last_session_);
  if (method == "session/prompt") return TakePrompt(&run);
  const bool meta = method == "session/new" && !ResumeIdOf(run.params).empty();
  run.steps = script_.NextCall(meta ? "session/new+resume" : method);
}

// A prompt that begins with `!` brings its own steps; the script's are for the others.
void FakeAgent::TakePrompt(Run* run) {
  const std::string text = demo::PromptText(run->params);
  if (demo::History* history = sessions_.Find(run->session_id)) {
    history->push_back({text, ""});
    run->exchange = history->size() - 1;
    sessions_.Save(run->session_id);
  }
  std::string mistake;
  if (!text.starts_with('!')) {
    run->steps = script_.NextCall(run->method);
  } else if (!Script::ReadSteps(json::parse(text.substr(1), nullptr, false), &run->steps,
                                &mistake)) {
    run->steps.clear();
    AnswerError(run, {{"code", -32602}, {"message", "fake_agent: " + mistake}});
  }
}

bool FakeAgent::AdvanceRuns() {
  bool again = false;
  for (auto it = runs_.begin(); it != runs_.end();) {
    if (Advance(&*it)) again = true;
    const bool waits_for_cancel = it->silent && !it->answered && it->method == "session/prompt";
    it = it->next >= it->steps.size() && !waits_for_cancel ? runs_.erase(it) : std::next(it);
  }
  return again;
}

bool FakeAgent::Advance(Run* run) {
  while (true) {
    if (run->next == run->steps.size()) {
      if (run->answered || run->silent || run->defaulted) return false;
      run->defaulted = true;
      const Steps defaults = DefaultSteps(this, *run);
      run->steps.insert(run->steps.end(), defaults.begin(), defaults.end());
      continue;
    }
    const Step step = run->steps[run->next];  // a copy: a verb may replace the steps
    const size_t before = run->next;
    const Progress progress = FindVerb(step.verb)(this, run, step.argument);
    if (progress != Progress::kDone) {
      ++run->part;
      return progress == Progress::kAgain;
    }
    run->part = 0;
    run->next = before + 1;
  }
}

void FakeAgent::SendBytes(const std::string& bytes) {
  wire_.Sent(bytes);
  if (!demo::WriteAll(1, bytes)) log_.Write({{"event", "stdout_gone"}});
}

void FakeAgent::Answer(Run* run, const json& result) {
  if (run->method == "session/prompt") {
    RememberAnswer(*run);
  } else if (run->method == "session/new") {
    OpenOrCreate(demo::StringOf(result, "sessionId"));
  } else if (run->method == "session/load" || run->method == "session/resume") {
    OpenOrCreate(run->session_id);
  }
  run->answered = true;
  Send(demo::Result(run->id, result));
}

void FakeAgent::RememberAnswer(const Run& run) {
  demo::History* history = sessions_.Find(run.session_id);
  if (history == nullptr || run.exchange >= history->size()) return;
  (*history)[run.exchange].agent = run.said;
  sessions_.Save(run.session_id);
}

void FakeAgent::OpenOrCreate(const std::string& session_id) {
  if (!session_id.empty() && !sessions_.Open(session_id)) sessions_.Create(session_id);
}

void FakeAgent::AnswerError(Run* run, const json& error) {
  run->answered = true;
  Send({{"jsonrpc", "2.0"}, {"id", run->id}, {"error", error}});
}

void FakeAgent::Replace(Run* run, Steps steps) {
  run->steps = std::move(steps);
  run->next = 0;
  run->part = 0;
  run->until = {};
  run->on_barrier = false;
  run->silent = false;
}

std::optional<json> FakeAgent::AnswerTo(const json& id) const {
  const auto found = answers_.find(id.dump());
  return found == answers_.end() ? std::nullopt : found->second;
}

void FakeAgent::CancelPrompts(const std::string& session_id) {
  for (Run& run : runs_) {
    if (run.method != "session/prompt" || run.session_id != session_id || run.answered) continue;
    if (run.on_cancel == "ignore") continue;
    Steps steps;
    std::string mistake;
    if (run.on_cancel.is_array()) {
      Script::ReadSteps(run.on_cancel, &steps, &mistake);
    } else {
      steps.push_back({"reply", {{"stopReason", run.on_cancel}}});
    }
    Replace(&run, std::move(steps));
    run.on_cancel = "ignore";  // a second cancel changes nothing
  }
}

}  // namespace acpd::fakes
