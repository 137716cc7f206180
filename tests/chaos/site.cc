#include "tests/chaos/site.h"

#include <signal.h>

#include <thread>

#include "tests/chaos/agent_script.h"

namespace acpd::chaos {
namespace {

// The actor number of the agents' script; the cast counts from 1.
constexpr uint64_t kScript = 0;

}  // namespace

Site::Site(uint64_t seed, int workers, Record* record, Tally* tally)
    : record_(record),
      tally_(tally),
      processes_(mark_, dir_.path()),
      leftovers_(mark_, dir_.path()),
      daemon_(&dir_, mark_, MakeOptions(seed, workers)) {}

e2e::AgentSpec Site::FakeAgent() const {
  return {.command = "fake_agent",
          .args = {},
          .env = {{"FAKE_AGENT_LOG", AgentLog()},
                  {"FAKE_AGENT_BARRIERS", dir_.MakeFolder("barriers")},
                  {"FAKE_AGENT_STATE", dir_.MakeFolder("agent-state")}},
          .extra = {{"cancel_grace", "1s"},
                    {"stop_grace", "1s"},
                    {"question_timeout", "2s"},
                    {"idle_timeout", "10s"}}};
}

e2e::DaemonOptions Site::MakeOptions(uint64_t seed, int workers) const {
  e2e::DaemonOptions options;
  options.agents["fake"] = options.agents["spared"] = FakeAgent();
  options.agents["spared"].args = {Processes::kSpared};
  Dice dice(seed, kScript);
  e2e::WriteFile(dir_ / "script.json", MakeAgentScript(&dice).dump());
  options.agents["fake"].env["FAKE_AGENT_SCRIPT"] = dir_ / "script.json";
  options.default_agent = "fake";
  options.extra = {{"listen", {"unix:" + (dir_ / "acpd.sock")}},
                   {"limits", {{"max_workers", workers}, {"max_workers_per_project", workers}}},
                   {"shutdown", {{"timeout", "10s"}}}};
  return options;
}

bool Site::Start() {
  const auto started = std::chrono::steady_clock::now();
  if (!daemon_.Start()) return false;
  tally_->Took("acpd's start until it is ready", std::chrono::duration_cast<milliseconds>(
                                                     std::chrono::steady_clock::now() - started));
  pid_ = daemon_.pid();
  ++life_;
  return true;
}

void Site::GoDown() {
  ++life_;
  const pid_t pid = pid_.exchange(0);
  if (!e2e::IsAlive(pid)) tally_->Violation("I3 acpd lives", "acpd ended by itself; see acpd.log");
}

bool Site::Restart(const Fault& fault) {
  GoDown();
  if (fault.kill) {
    daemon_.Kill();
  } else if (!(daemon_.Stop() == e2e::ExitStatus{0, 0})) {
    tally_->Violation("I3 acpd stops", "acpd did not exit with code 0 after SIGTERM");
  }
  std::this_thread::sleep_for(fault.down);
  if (fault.stillborn > milliseconds(0)) LiveShortly(fault.stillborn);
  daemon_.options().extra["shutdown"]["workers"] = fault.workers;
  if (Start()) return true;
  tally_->Violation("I3 acpd starts", "acpd did not start again; see acpd.log");
  return false;
}

void Site::LiveShortly(milliseconds time) {
  e2e::Process acpd({.program = e2e::ProgramPath("acpd"),
                     .args = {"--config", dir_ / "acpd.json", "--address-file", dir_ / "nowhere"},
                     .env = {{e2e::Leftovers::kMarkName, mark_}},
                     .stderr_file = dir_ / "acpd.log"});
  if (acpd.Wait(time)) {
    tally_->Violation("I3 acpd starts", "acpd gave up while it started; see acpd.log");
  }
}

void Site::Stop() {
  GoDown();
  if (!(daemon_.Stop() == e2e::ExitStatus{0, 0})) {
    tally_->Violation("I3 acpd stops", "acpd did not exit with code 0 at the end");
  }
}

std::unique_ptr<e2e::Client> Site::Connect() {
  return std::make_unique<e2e::Client>("unix:" + (dir_ / "acpd.sock"), record_->accepted());
}

}  // namespace acpd::chaos
