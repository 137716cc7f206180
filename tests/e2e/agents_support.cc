#include "tests/e2e/agents_support.h"

#include <unistd.h>

#include <fstream>

namespace acpd::e2e {

json Do(const std::string& verb, json argument) {
  json step = json::object();
  step[verb] = std::move(argument);
  return step;
}

std::string UpdateLine(const std::string& agent_session_id, const std::string& update) {
  return R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":")" +
         agent_session_id + R"(","update":)" + update + "}}";
}

std::string ChunkJson(const std::string& text) {
  return R"({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":")" + text +
         R"("}})";
}

std::vector<Event> NoticesOf(const std::vector<Event>& events, const std::string& code) {
  std::vector<Event> notices;
  for (const Event& event : events) {
    if (event.has_notice() && event.notice().code() == code) notices.push_back(event);
  }
  return notices;
}

std::vector<std::string> TextsOf(const std::vector<Event>& events) {
  std::vector<std::string> texts;
  for (const Event& event : events) {
    const api::SessionUpdate& update = event.session_update();
    if (update.kind() == "agent_message_chunk") texts.push_back(update.text());
  }
  return texts;
}

size_t IndexOf(const std::vector<Event>& events, const EventTest& fits) {
  size_t index = 0;
  while (index < events.size() && !fits(events[index])) ++index;
  return index;
}

pid_t ParentOf(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stat, text);
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  const std::string behind = text.substr(name_end + 4);  // behind ") S "
  return static_cast<pid_t>(std::stol(behind));
}

size_t ResidentBytes(pid_t pid) {
  std::ifstream statm("/proc/" + std::to_string(pid) + "/statm");
  size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace acpd::e2e
