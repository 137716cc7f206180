#include "tests/e2e/harness/fake_agent_log.h"

#include <algorithm>
#include <sstream>

#include "tests/e2e/harness/temp_dir.h"

namespace acpd::e2e {

std::vector<json> FakeAgentLog::Entries() const {
  std::vector<json> entries;
  std::istringstream file(ReadFile(path_));
  for (std::string line; std::getline(file, line);) {
    json entry = json::parse(line, nullptr, false);
    if (entry.is_object()) entries.push_back(std::move(entry));  // else it is being written
  }
  return entries;
}

std::vector<json> FakeAgentLog::Events(const std::string& event) const {
  std::vector<json> entries = Entries();
  std::erase_if(entries, [&](const json& entry) { return entry.at("event") != event; });
  return entries;
}

std::vector<json> FakeAgentLog::Received(const std::string& method) const {
  std::vector<json> messages;
  for (const json& entry : Events("in")) {
    json message = json::parse(entry.at("line").get<std::string>(), nullptr, false);
    if (method.empty() || (message.is_object() && message.value("method", "") == method)) {
      messages.push_back(std::move(message));
    }
  }
  return messages;
}

std::vector<json> FakeAgentLog::AnswersTo(const json& id) const {
  std::vector<json> messages = Received();
  std::erase_if(messages, [&](const json& message) {
    return !message.is_object() || message.contains("method") || !message.contains("id") ||
           message["id"].dump() != id.dump();
  });
  return messages;
}

std::vector<int> FakeAgentLog::Pids() const {
  std::vector<int> pids;
  for (const json& entry : Events("start")) pids.push_back(entry.at("pid"));
  return pids;
}

bool FakeAgentLog::WaitFor(const std::function<bool(const json& entry)>& fits,
                           milliseconds patience) const {
  return WaitUntil(
      [&] {
        const std::vector<json> entries = Entries();
        return std::any_of(entries.begin(), entries.end(), fits);
      },
      patience);
}

bool FakeAgentLog::WaitForReceived(const std::string& method, size_t count,
                                   milliseconds patience) const {
  return WaitUntil([&] { return Received(method).size() >= count; }, patience);
}

}  // namespace acpd::e2e
