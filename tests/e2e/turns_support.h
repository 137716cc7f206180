#ifndef ACPD_TESTS_E2E_TURNS_SUPPORT_H_
#define ACPD_TESTS_E2E_TURNS_SUPPORT_H_

#include <signal.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/harness/e2e_test.h"

namespace acpd::e2e {

// ---- Steps for the fake agent (tests/fakes/verb_table.cc).

inline json Step(const std::string& verb, json argument) {
  json step = json::object();
  step[verb] = std::move(argument);
  return step;
}

template <class... Each>
json Steps(const Each&... each) {
  json steps = json::array();
  (steps.push_back(json(each)), ...);
  return steps;
}

inline json Barrier(const std::string& name) { return Step("barrier", name); }
inline json Say(const std::string& text) { return Step("update", text); }
inline json Reply(const std::string& stop_reason) {
  return Step("reply", json{{"stopReason", stop_reason}});
}
inline json Error(int code, const std::string& message, const json& data = nullptr) {
  json error = {{"code", code}, {"message", message}};
  if (!data.is_null()) error["data"] = data;
  return Step("error", error);
}

// What the tests of turns, resumes, cancels and streams share.
class TurnsTest : public E2eTest {
 protected:
  static constexpr char kProject[] = "shop";

  // A session that was told a number and whose agent has gone since.
  std::string MakeDormant();
  // SIGKILL to the agent that was started last.
  void KillAgent() { ::kill(log().Pids().back(), SIGKILL); }
  // SIGKILL to acpd and all its workers before it can see any of them go; then acpd is started.
  void LoseAllAndRestart();
  bool WaitForState(const std::string& session_id, api::Session::State state);
  // A Chat with these steps that returns once it is accepted; its turn's id.
  std::string Accept(const std::string& session_id, const json& steps);
  // A new session whose first turn stands at the barrier; its Chat's answer.
  api::ChatResponse BeginAt(const std::string& barrier, const std::string& project = kProject);
  api::Turn WaitForTurn(const std::string& turn_id);

  // All sessions, replaced ones too.
  std::vector<api::Session> AllSessions();
  // The log of this session alone.
  std::vector<Event> EventsOf(const std::string& session_id);
  std::vector<Event> EventsOfTurn(const std::string& turn_id);
  size_t CountEnds(const std::string& turn_id);
};

// The kinds of the events, in order.
std::vector<Event::EventCase> KindsOf(const std::vector<Event>& events);
// The parent's pid; 0: there is no such process.
pid_t ParentOf(pid_t pid);

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_E2E_TURNS_SUPPORT_H_
