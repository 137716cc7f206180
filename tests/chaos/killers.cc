#include "tests/chaos/killers.h"

namespace acpd::chaos {

void ProcessKiller::Run() {
  const auto low = static_cast<int>(options_.shortest.count());
  const auto high = static_cast<int>(options_.longest.count());
  while (stage_.stop->Sleep(dice_.Pause(low, high))) {
    const Processes& processes = stage_.site->processes();
    const std::vector<pid_t> found = processes.Find(options_.program);
    const int drawn = dice_.Between(0, 1'000'000);
    if (found.empty()) continue;
    const pid_t pid = found[static_cast<size_t>(drawn) % found.size()];
    if (processes.Kill(pid, options_.program)) stage_.tally->Count(options_.counted_as);
  }
}

void DaemonKiller::Run() {
  while (came_back_ && stage_.stop->Sleep(dice_.Pause(2'000, 5'500))) {
    Site::Fault fault{.kill = dice_.Chance(90), .down = dice_.Pause(0, 500)};
    if (dice_.Chance(15)) fault.stillborn = dice_.Pause(1, 200);
    if (dice_.Chance(30)) fault.workers = "stop";
    stage_.tally->Count(fault.kill ? "FAULT acpd killed" : "FAULT acpd stopped (SIGTERM)");
    if (fault.stillborn > milliseconds(0))
      stage_.tally->Count("FAULT acpd killed while it started");
    came_back_ = stage_.site->Restart(fault);
  }
}

}  // namespace acpd::chaos
