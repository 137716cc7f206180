#include "tests/chaos/cast.h"

#include "tests/chaos/caller.h"
#include "tests/chaos/meddlers.h"
#include "tests/chaos/probes.h"

namespace acpd::chaos {

Cast::Cast(const Stage& stage) {
  constexpr int kCallers = 24;
  for (int i = 0; i < kCallers; ++i) {
    actors_.push_back(std::make_unique<Caller>(stage, NextNumber()));
  }
  actors_.push_back(std::make_unique<Canceller>(stage, NextNumber()));
  actors_.push_back(std::make_unique<Canceller>(stage, NextNumber()));
  actors_.push_back(std::make_unique<Closer>(stage, NextNumber()));
  auto answerer = std::make_unique<Answerer>(stage, NextNumber());
  AddReaders(stage, answerer.get());
  actors_.push_back(std::move(answerer));
  actors_.push_back(std::make_unique<ControlCaller>(stage, NextNumber()));
  actors_.push_back(std::make_unique<HealthProbe>(stage, NextNumber()));
  actors_.push_back(std::make_unique<MemoryProbe>(stage, NextNumber()));
  AddKillers(stage);
}

void Cast::AddReaders(const Stage& stage, Answerer* answerer) {
  using Scope = Reader::Scope;
  const auto to_answerer = [answerer](const e2e::Event& event) { answerer->Asked(event); };
  std::vector<Reader::Options> all = {
      {.scope = Scope::kEverything, .from_now = true, .on_event = to_answerer},
      {.scope = Scope::kEverything, .trusts_control = true},
      {.scope = Scope::kEverything, .slow = true},
      {.scope = Scope::kProject, .trusts_control = true},
      {.scope = Scope::kProject, .slow = true, .from_now = true}};
  constexpr int kSessionReaders = 8;
  for (int i = 0; i < kSessionReaders; ++i) {
    all.push_back({.scope = Scope::kSession,
                   .slow = i % 4 == 0,
                   .trusts_control = i % 2 == 0,
                   .from_now = i % 3 == 0});
  }
  for (Reader::Options& options : all) {
    readers_.push_back(std::make_unique<Reader>(stage, NextNumber(), std::move(options)));
  }
}

void Cast::AddKillers(const Stage& stage) {
  actors_.push_back(std::make_unique<ProcessKiller>(
      stage, NextNumber(),
      ProcessKiller::Options{"fake_agent", "FAULT agents killed", milliseconds(400),
                             milliseconds(2'200)}));
  actors_.push_back(std::make_unique<ProcessKiller>(
      stage, NextNumber(),
      ProcessKiller::Options{"acpd-worker", "FAULT workers killed", milliseconds(2'000),
                             milliseconds(8'000)}));
  auto daemon_killer = std::make_unique<DaemonKiller>(stage, NextNumber());
  daemon_killer_ = daemon_killer.get();
  actors_.push_back(std::move(daemon_killer));
}

void Cast::Start() {
  for (const auto& actor : actors_) actor->Start();
  for (const auto& reader : readers_) reader->Start();
}

bool Cast::Join() {
  for (const auto& actor : actors_) actor->Join();
  for (const auto& reader : readers_) reader->Join();
  return daemon_killer_->came_back();
}

void Cast::Leave() {
  readers_.clear();
  actors_.clear();
}

}  // namespace acpd::chaos
