// Verbs that wait, and those that only set something.

#include <chrono>
#include <string>
#include <thread>

#include "tests/fakes/agent.h"
#include "tests/fakes/verbs.h"

namespace acpd::fakes {

Progress DoSleep(FakeAgent*, Run* run, const json& argument) {
  const Clock::time_point now = Clock::now();
  if (run->part == 0) run->until = now + std::chrono::milliseconds(argument.get<int64_t>());
  if (now < run->until) return Progress::kWait;
  run->until = {};
  return Progress::kDone;
}

Progress DoBarrier(FakeAgent* agent, Run* run, const json& argument) {
  const std::string name = argument.is_string() ? argument : argument.at("name");
  const bool deaf = argument.is_object() && argument.value("deaf", false);
  if (run->part == 0) {
    agent->log().Write({{"event", "reached"}, {"name", name}});
    agent->barriers().Reach(name);
  }
  while (deaf && !agent->barriers().Released(name)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  run->on_barrier = !agent->barriers().Released(name);
  if (run->on_barrier) return Progress::kWait;
  agent->log().Write({{"event", "released"}, {"name", name}});
  return Progress::kDone;
}

Progress DoOnCancel(FakeAgent*, Run* run, const json& argument) {
  run->on_cancel = argument;
  return Progress::kDone;
}

Progress DoLog(FakeAgent* agent, Run*, const json& argument) {
  agent->log().Write({{"event", "note"}, {"text", argument}});
  return Progress::kDone;
}

}  // namespace acpd::fakes
