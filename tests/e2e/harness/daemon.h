#ifndef ACPD_TESTS_E2E_HARNESS_DAEMON_H_
#define ACPD_TESTS_E2E_HARNESS_DAEMON_H_

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/e2e/harness/process.h"
#include "tests/e2e/harness/temp_dir.h"

namespace acpd::e2e {

using nlohmann::json;

// One entry of `agent_servers`.
struct AgentSpec {
  std::string command;  // the name of a program of the build, or a path
  std::vector<std::string> args;
  std::map<std::string, std::string> env;
  json extra = json::object();  // any further keys, e.g. {"cancel_grace": "200ms"}
};

struct DaemonOptions {
  std::map<std::string, AgentSpec> agents;
  std::string default_agent;
  // Any further keys of the config, e.g. {"limits": {...}}. Without them only `shutdown.workers` is
  // not the default: "stop".
  json extra = json::object();
  std::map<std::string, std::string> env;  // the daemon's own, added to the test's
};

// A real acpd with its state, sockets, projects and config below one folder. Start, Stop and Kill
// may be called again and again: the state stays, so that a start after a Kill is a restart. Not
// thread-safe.
class Daemon {
 public:
  // `mark` is put into the environment of acpd and of all agents (Leftovers).
  Daemon(const TempDir* dir, std::string mark, DaemonOptions options);
  ~Daemon();

  // Starts it and waits until it is ready. False, with its log on stderr: it did not get ready.
  bool Start();
  // SIGTERM. Not every exit is a good one: tests expect {0, 0}.
  ExitStatus Stop(milliseconds patience = kPatience);
  // SIGKILL.
  void Kill();

  bool running() const { return process_ != nullptr; }
  pid_t pid() const { return process_->pid(); }
  // The first address it listens on; changes with each start.
  const std::string& address() const { return address_; }
  std::string Log() const { return ReadFile(*dir_ / "acpd.log"); }
  std::string ProjectFolder(const std::string& project) const;
  DaemonOptions& options() { return options_; }  // take effect at the next start

 private:
  json Config() const;

  const TempDir* dir_;
  std::string mark_;
  DaemonOptions options_;
  std::string address_;
  std::unique_ptr<Process> process_;
};

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_E2E_HARNESS_DAEMON_H_
