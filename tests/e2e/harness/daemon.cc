#include "tests/e2e/harness/daemon.h"

#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "tests/e2e/harness/leftovers.h"

namespace acpd::e2e {
namespace {

// acpd refuses folders of its own that others can read.
std::string MakePrivateFolder(const TempDir& dir, const std::string& name) {
  const std::string folder = dir.MakeFolder(name);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  return folder;
}

}  // namespace

Daemon::Daemon(const TempDir* dir, std::string mark, DaemonOptions options)
    : dir_(dir), mark_(std::move(mark)), options_(std::move(options)) {}

Daemon::~Daemon() {
  if (running()) Kill();
}

json Daemon::Config() const {
  json agents = json::object();
  for (const auto& [name, spec] : options_.agents) {
    const bool is_path = spec.command.find('/') != std::string::npos;
    json agent = spec.extra;
    agent["command"] = is_path ? spec.command : ProgramPath(spec.command);
    agent["args"] = spec.args;
    agent["env"] = spec.env;
    agent["env"][Leftovers::kMarkName] = mark_;
    // Agents get only what is named: the folder for what goes over their pipes (tests/schema).
    if (const char* wire = std::getenv("ACPD_TEST_WIRE")) agent["env"]["ACPD_TEST_WIRE"] = wire;
    agents[name] = std::move(agent);
  }
  json config = {{"listen", {"127.0.0.1:0"}},
                 {"state_dir", MakePrivateFolder(*dir_, "state")},
                 {"runtime_dir", MakePrivateFolder(*dir_, "run")},
                 {"projects_root", dir_->MakeFolder("projects")},
                 // A test leaves nothing behind.
                 {"shutdown", {{"workers", "stop"}}},
                 // Many tests start failing agents again and again.
                 {"limits", {{"start_backoff", "0s"}}},
                 {"agent_servers", agents},
                 // A test that wants its workers to outlive acpd says so.
                 {"shutdown", {{"workers", "stop"}}}};
  if (!options_.default_agent.empty()) config["default_agent"] = options_.default_agent;
  config.merge_patch(options_.extra);
  return config;
}

bool Daemon::Start() {
  const std::string config = *dir_ / "acpd.json", addresses = *dir_ / "addresses";
  WriteFile(config, Config().dump(2));
  std::filesystem::remove(addresses);
  std::map<std::string, std::string> env = options_.env;
  env[Leftovers::kMarkName] = mark_;
  env["XDG_STATE_HOME"] = dir_->MakeFolder("xdg-state");  // where the demo agent remembers
  process_ = std::make_unique<Process>(
      Process::Options{.program = ProgramPath("acpd"),
                       .args = {"--config", config, "--address-file", addresses},
                       .env = env,
                       .stderr_file = *dir_ / "acpd.log"});
  // The file appears whole, by a rename.
  const auto ready_or_gone = [&] {
    return std::filesystem::exists(addresses) || process_->Wait(milliseconds(0)).has_value();
  };
  WaitUntil(ready_or_gone);
  const std::string text = ReadFile(addresses);
  address_ = text.substr(0, text.find('\n'));
  if (!address_.empty()) return true;
  std::fprintf(stderr, "acpd did not get ready:\n%s", Log().c_str());
  process_.reset();
  return false;
}

ExitStatus Daemon::Stop(milliseconds patience) {
  process_->Signal(SIGTERM);
  const auto status = process_->Wait(patience);
  process_.reset();
  return status.value_or(ExitStatus{-1, SIGKILL});  // it is killed where it did not stop
}

void Daemon::Kill() {
  process_->Signal(SIGKILL);
  process_->Wait();
  process_.reset();
}

std::string Daemon::ProjectFolder(const std::string& project) const {
  return *dir_ / ("projects/" + project);
}

}  // namespace acpd::e2e
