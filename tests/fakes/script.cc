#include "tests/fakes/script.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>

#include "tests/fakes/verbs.h"

namespace acpd::fakes {
namespace {

const std::set<std::string> kSettings = {"on_cancel",    "capabilities", "auth_methods",
                                         "require_auth", "meta_resume",  "setup",
                                         "session_pages"};

[[noreturn]] void Refuse(const std::string& mistake) {
  std::fprintf(stderr, "fake_agent: %s\n", mistake.c_str());
  std::_Exit(64);
}

json ReadScript() {
  if (const char* text = std::getenv("FAKE_AGENT_INLINE")) {
    return json::parse(text, nullptr, false);
  }
  const char* path = std::getenv("FAKE_AGENT_SCRIPT");
  if (path == nullptr) return json::object();
  std::ifstream file(path);
  if (!file) Refuse(std::string("cannot read FAKE_AGENT_SCRIPT ") + path);
  return json::parse(file, nullptr, false);
}

bool IsPerCall(const json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const json& call) { return call.is_array(); });
}

// Counts this call in a file that grows by a byte a call: the offset behind the own byte is the
// number, whoever else counts.
size_t CountInFile(const char* folder, std::string method) {
  std::replace(method.begin(), method.end(), '/', '_');
  const std::string path = std::string(folder) + "/calls." + method;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0 || ::write(fd, ".", 1) != 1) Refuse("cannot write " + path);
  const off_t number = ::lseek(fd, 0, SEEK_CUR);
  ::close(fd);
  return static_cast<size_t>(number - 1);
}

}  // namespace

Script Script::FromEnvironment() {
  Script script;
  script.root_ = ReadScript();
  const std::string mistake = script.FindMistake();
  if (!mistake.empty()) Refuse(mistake);
  return script;
}

std::string Script::FindMistake() const {
  if (!root_.is_object()) return "the script is not a JSON object";
  for (const auto& [key, value] : root_.items()) {
    std::string mistake;
    Steps steps;
    if (key == "on_cancel" && value.is_array()) {
      ReadSteps(value, &steps, &mistake);
    } else if (kSettings.contains(key)) {
      continue;
    } else if (key.find('/') == std::string::npos && key != "start" && key != "initialize" &&
               key != "authenticate" && key != "logout") {
      mistake = "no such setting or method";
    } else if (IsPerCall(value)) {
      for (const json& call : value) ReadSteps(call, &steps, &mistake);
    } else {
      ReadSteps(value, &steps, &mistake);
    }
    if (!mistake.empty()) return "script, \"" + key + "\": " + mistake;
  }
  return "";
}

Steps Script::NextCall(const std::string& method) {
  Steps steps;
  std::string mistake;
  const auto found = root_.find(method);
  if (found == root_.end()) return steps;
  const json* list = &*found;
  if (IsPerCall(*found)) {
    const char* folder = std::getenv("FAKE_AGENT_STATE");
    const size_t call = folder != nullptr ? CountInFile(folder, method) : calls_[method]++;
    list = &(*found)[std::min(call, found->size() - 1)];
  }
  ReadSteps(*list, &steps, &mistake);
  return steps;
}

bool Script::ReadSteps(const json& list, Steps* steps, std::string* mistake) {
  if (!list.is_array()) {
    *mistake = "steps are a list";
    return false;
  }
  for (const json& item : list) {
    Step step;
    if (item.is_string()) {
      step = {item.get<std::string>(), json(json::value_t::discarded)};
    } else if (item.is_object() && item.size() == 1) {
      step = {item.begin().key(), item.begin().value()};
    } else {
      *mistake = "a step is {\"verb\": argument} or \"verb\", not " + item.dump();
      return false;
    }
    if (FindVerb(step.verb) == nullptr) {
      *mistake = "no verb \"" + step.verb + "\"";
      return false;
    }
    steps->push_back(std::move(step));
  }
  return true;
}

}  // namespace acpd::fakes
