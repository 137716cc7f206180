#include "session/worker_slots.h"

#include <algorithm>
#include <list>
#include <map>
#include <utility>

namespace acpd::session {
namespace {

// How many are held.
struct Counts {
  size_t in_all = 0;
  std::map<std::string, size_t> by_project;

  size_t Of(const std::string& project) const {
    const auto it = by_project.find(project);
    return it == by_project.end() ? 0 : it->second;
  }
  void Add(const std::string& project) {
    ++in_all;
    ++by_project[project];
  }
  void Remove(const std::string& project) {
    const auto it = by_project.find(project);
    if (it == by_project.end()) return;
    --in_all;
    if (--it->second == 0) by_project.erase(it);
  }
};

}  // namespace

struct WorkerSlots::State {
  explicit State(Limits limits) : limits(limits) {}

  bool HasRoom(const Counts& counts, const std::string& project) const {
    return counts.in_all < limits.in_all && counts.Of(project) < limits.per_project;
  }
  // Gives out what there is, to those who wait.
  void Serve() {
    for (auto it = waiting.begin(); it != waiting.end();) {
      Slot* slot = *it;
      if (!HasRoom(counts, slot->project_)) {
        ++it;
        continue;
      }
      it = waiting.erase(it);
      counts.Add(slot->project_);
      slot->held_ = true;
      if (slot->on_held_) slot->on_held_();
    }
  }

  const Limits limits;
  Counts counts;
  std::list<Slot*> waiting;
};

WorkerSlots::Slot::Slot(std::weak_ptr<State> state, std::string project,
                        std::function<void()> on_held)
    : state_(std::move(state)), project_(std::move(project)), on_held_(std::move(on_held)) {}

WorkerSlots::Slot::~Slot() {
  const std::shared_ptr<State> state = state_.lock();
  if (!state) return;
  if (held_) {
    state->counts.Remove(project_);
    state->Serve();
  } else {
    state->waiting.remove(this);
  }
}

WorkerSlots::WorkerSlots(Limits limits) : state_(std::make_shared<State>(limits)) {}

WorkerSlots::SlotPtr WorkerSlots::Hold(const std::string& project) {
  auto slot = std::make_shared<Slot>(state_, project, nullptr);
  slot->held_ = true;
  state_->counts.Add(project);
  return slot;
}

WorkerSlots::SlotPtr WorkerSlots::Ask(const std::string& project, std::function<void()> on_held) {
  // Whoever has room does not wait: those who are waiting have none in their project.
  if (state_->HasRoom(state_->counts, project)) return Hold(project);
  auto slot = std::make_shared<Slot>(state_, project, std::move(on_held));
  state_->waiting.push_back(slot.get());
  return slot;
}

std::vector<size_t> WorkerSlots::ToClose(const std::vector<std::string>& idle,
                                         const std::vector<std::string>& closing) const {
  // As it will be once those that are closing are gone.
  Counts counts = state_->counts;
  for (const std::string& project : closing) counts.Remove(project);
  std::vector<size_t> chosen;
  const auto next = [&](const std::string& project) {
    const bool of_project = counts.Of(project) >= state_->limits.per_project;
    size_t i = 0;
    const auto fits = [&] {
      const bool used = std::find(chosen.begin(), chosen.end(), i) != chosen.end();
      return !used && (!of_project || idle[i] == project);
    };
    while (i < idle.size() && !fits()) ++i;
    return i;
  };
  for (const Slot* waiter : state_->waiting) {
    while (!state_->HasRoom(counts, waiter->project_)) {
      const size_t victim = next(waiter->project_);
      if (victim == idle.size()) break;
      chosen.push_back(victim);
      counts.Remove(idle[victim]);
    }
    if (state_->HasRoom(counts, waiter->project_)) counts.Add(waiter->project_);
  }
  return chosen;
}

bool WorkerSlots::IsFirst(const SlotPtr& slot) const {
  return !state_->waiting.empty() && state_->waiting.front() == slot.get();
}

size_t WorkerSlots::held() const { return state_->counts.in_all; }

size_t WorkerSlots::waiting() const { return state_->waiting.size(); }

}  // namespace acpd::session
