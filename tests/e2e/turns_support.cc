#include "tests/e2e/turns_support.h"

#include <algorithm>
#include <sstream>

namespace acpd::e2e {

std::string TurnsTest::MakeDormant() {
  const auto chat = client().Say(kProject, "", "remember the number 42");
  EXPECT_TRUE(chat.ok()) << chat.ToString();
  KillAgent();
  EXPECT_TRUE(WaitForState(chat.response.session_id(), api::Session::STATE_DORMANT));
  return chat.response.session_id();
}

void TurnsTest::LoseAllAndRestart() {
  ::kill(daemon().pid(), SIGSTOP);
  for (const pid_t agent : log().Pids()) {
    if (const pid_t worker = ParentOf(agent); worker > 1) ::kill(worker, SIGKILL);
  }
  KillAndRestartDaemon();
}

bool TurnsTest::WaitForState(const std::string& session_id, api::Session::State state) {
  return WaitUntil([&] { return client().GetSession(session_id).response.state() == state; });
}

std::string TurnsTest::Accept(const std::string& session_id, const json& steps) {
  const auto chat =
      client().Chat(ChatOf(kProject, session_id, Scripted(steps), api::WAIT_FOR_ACCEPTED));
  EXPECT_TRUE(chat.ok()) << chat.ToString();
  return chat.response.turn_id();
}

api::ChatResponse TurnsTest::BeginAt(const std::string& barrier, const std::string& project) {
  const auto chat = client().Begin(project, "", Scripted(Steps(Barrier(barrier))));
  EXPECT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_TRUE(barriers().WaitReached(barrier));
  return chat.response;
}

api::Turn TurnsTest::WaitForTurn(const std::string& turn_id) {
  const auto turn = client().GetTurn(turn_id, api::WAIT_FOR_FINISHED);
  EXPECT_TRUE(turn.ok()) << turn.ToString();
  EXPECT_EQ(turn.response.state(), api::TURN_STATE_ENDED);
  return turn.response;
}

std::vector<api::Session> TurnsTest::AllSessions() {
  api::ListSessionsRequest request;
  for (int state = api::Session::STATE_STARTING; state <= api::Session::STATE_WAITING; ++state) {
    request.add_states(static_cast<api::Session::State>(state));
  }
  const auto listed = client().Call(&Client::Stub::ListSessions, request);
  EXPECT_TRUE(listed.ok()) << listed.ToString();
  return {listed.response.sessions().begin(), listed.response.sessions().end()};
}

std::vector<Event> TurnsTest::EventsOf(const std::string& session_id) {
  std::vector<Event> events = AllEvents();
  std::erase_if(events, [&](const Event& event) { return event.session_id() != session_id; });
  return events;
}

std::vector<Event> TurnsTest::EventsOfTurn(const std::string& turn_id) {
  std::vector<Event> events = AllEvents();
  std::erase_if(events, [&](const Event& event) { return event.turn_id() != turn_id; });
  return events;
}

size_t TurnsTest::CountEnds(const std::string& turn_id) {
  const std::vector<Event> events = AllEvents();
  return static_cast<size_t>(std::count_if(events.begin(), events.end(), EndOf(turn_id)));
}

std::vector<Event::EventCase> KindsOf(const std::vector<Event>& events) {
  std::vector<Event::EventCase> kinds;
  for (const Event& event : events) kinds.push_back(event.event_case());
  return kinds;
}

pid_t ParentOf(pid_t pid) {
  const std::string text = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  char state = '?';
  pid_t parent = 0;
  fields >> state >> parent;
  return parent;
}

}  // namespace acpd::e2e
