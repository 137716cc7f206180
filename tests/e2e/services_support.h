#ifndef ACPD_TESTS_E2E_SERVICES_SUPPORT_H_
#define ACPD_TESTS_E2E_SERVICES_SUPPORT_H_

#include <string>
#include <utility>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {

// What the tests of files and commands share: requests of the fake agent, and what readers see.
class ServicesTest : public TurnsTest {
 protected:
  ServicesTest() { options().extra["shutdown"] = {{"workers", "keep"}}; }

  std::string Path(const std::string& name) {
    return daemon().ProjectFolder(kProject) + "/" + name;
  }
  // A request of the agent, and what its answer has to have.
  static json Ask(int id, const std::string& method, json params) {
    params["sessionId"] = "${sessionId}";
    return Step("request", {{"id", id}, {"method", method}, {"params", std::move(params)}});
  }
  static json Expect(int id, json result) {
    return Step("expect_answer", {{"id", id}, {"result", std::move(result)}});
  }
  static json Shell(const std::string& script) {
    return {{"command", "/bin/sh"}, {"args", {"-c", script}}};
  }
  static json Terminal() { return {{"terminalId", "term-1"}}; }
  void Touch(const std::string& path) { WriteFile(path, ""); }

  // What a session's readers saw of its terminals.
  struct Shown {
    std::string commands, data;
    int exits = 0, exit_code = -1;
    std::string signal;
    bool truncated = false;
  };
  Shown ShownOf(const std::string& session_id) {
    Shown shown;
    for (const Event& event : EventsOf(session_id)) {
      if (!event.has_terminal_output()) continue;
      const api::TerminalOutput& output = event.terminal_output();
      EXPECT_EQ(output.terminal_id(), "term-1");
      EXPECT_LE(output.data().size(), 32u << 10);
      EXPECT_EQ(shown.exits, 0) << "something came behind the exit";
      shown.commands += output.command();
      shown.data += output.data();
      shown.truncated = shown.truncated || output.truncated();
      if (!output.exited()) continue;
      ++shown.exits;
      if (output.has_exit_code()) shown.exit_code = output.exit_code();
      shown.signal = output.signal();
    }
    return shown;
  }
  void ExpectCompleted(const std::string& turn) {
    const api::Turn ended = WaitForTurn(turn);
    EXPECT_EQ(ended.result().outcome(), api::TurnResult::OUTCOME_COMPLETED)
        << ended.result().error().message() << ended.result().error().agent_data();
    EXPECT_EQ(CountEnds(turn), 1u);
  }
  std::string SessionOf(const std::string& turn) {
    return client().GetTurn(turn).response.session_id();
  }
};

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_E2E_SERVICES_SUPPORT_H_
