#ifndef ACPD_TESTS_E2E_HARNESS_E2E_TEST_H_
#define ACPD_TESTS_E2E_HARNESS_E2E_TEST_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/e2e/harness/barriers.h"
#include "tests/e2e/harness/client.h"
#include "tests/e2e/harness/daemon.h"
#include "tests/e2e/harness/fake_agent_log.h"
#include "tests/e2e/harness/invariants.h"
#include "tests/e2e/harness/leftovers.h"
#include "tests/e2e/harness/temp_dir.h"

namespace acpd::e2e {

// A test with a real acpd, real workers and real agents. Set the script and options up, call
// StartDaemon, use client().
//
// Agents: `fake` (the default; tests/fakes/script.h says what it can be told), `demo`, `burst`.
// After each test: every turn is ended, the log of all sessions keeps the invariants, no child of
// acpd is a zombie, acpd stops with exit code 0, and no process with the test's mark or folder is
// left.
class E2eTest : public ::testing::Test {
 protected:
  E2eTest();
  void TearDown() override;

  // The fake agent with this script, its log, barriers and state all the test's. Further ones:
  // options().agents["other"] = FakeAgent({...}).
  AgentSpec FakeAgent(const json& script = json::object());
  // What the daemon is started with, for changes before StartDaemon.
  DaemonOptions& options() { return daemon_.options(); }
  // The script of the agent `fake`.
  void UseScript(const json& script) { options().agents["fake"].env = FakeAgent(script).env; }
  // A key of the agent `fake` in the config, e.g. ("cancel_grace", "200ms").
  void SetFake(const std::string& key, const json& value) {
    options().agents["fake"].extra[key] = value;
  }

  void StartDaemon();
  // SIGTERM or SIGKILL, then a start with the same state. client() is a new one afterwards.
  void RestartDaemon();
  void KillAndRestartDaemon();

  Daemon& daemon() { return daemon_; }
  Client& client() { return *client_; }
  // One more, with its own connection.
  std::unique_ptr<Client> NewClient();
  FakeAgentLog& log() { return log_; }
  Barriers& barriers() { return barriers_; }
  const TempDir& dir() const { return dir_; }
  const Leftovers& leftovers() const { return leftovers_; }
  // The whole log of all sessions, as it is now.
  std::vector<Event> AllEvents();

 private:
  void EndAllTurns();
  void CheckInvariants();

  TempDir dir_;
  std::string mark_ = Leftovers::NewMark();
  Leftovers leftovers_;
  FakeAgentLog log_;
  Barriers barriers_;
  AcceptedTurns accepted_;
  int scripts_ = 0;
  Daemon daemon_;
  std::unique_ptr<Client> client_;
};

// A prompt that brings its steps to the fake agent.
std::string Scripted(const json& steps);

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_E2E_HARNESS_E2E_TEST_H_
