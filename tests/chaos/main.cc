// acpd_chaos: breaks a real acpd in every way for some minutes and checks that nothing was lost,
// doubled or left behind. README.md says how to read what it prints.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>

#include "tests/chaos/agent_check.h"
#include "tests/chaos/cast.h"
#include "tests/chaos/finale.h"
#include "tests/chaos/reader_check.h"

namespace acpd::chaos {
namespace {

struct Options {
  uint64_t seed = 0;
  double minutes = 3;
  int sessions = 40;
  bool keep = false;
};

// The exit code where the run is not to be made.
std::optional<int> ReadOptions(int argc, char** argv, Options* options) {
  CLI::App app(
      "Chats, cancels, kills and restarts at random, then checks the whole record.\n"
      "The same seed makes the same random decisions again; the timing of processes differs.");
  options->seed = std::random_device{}();
  app.add_option("--seed", options->seed, "Of all random decisions; else a new one");
  app.add_option("--minutes", options->minutes, "How long; 3 without it")
      ->check(CLI::Range(0.05, 1440.0));
  app.add_option("--sessions", options->sessions, "At the same time; 40 without it")
      ->check(CLI::Range(1, 200));
  app.add_flag("--keep", options->keep, "Keep the folder of a run with violations");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  return std::nullopt;
}

// Until the time is over.
bool Play(const Stage& stage, const Options& options, Cast* cast) {
  constexpr double kMillisecondsPerMinute = 60'000;
  cast->Start();
  StopSignal never;
  never.Sleep(milliseconds(static_cast<int64_t>(options.minutes * kMillisecondsPerMinute)));
  stage.stop->Stop();
  return cast->Join();
}

void Check(const Stage& stage, Cast* cast, uint64_t descriptors) {
  const auto client = stage.site->Connect();
  Drain(stage, client.get());
  LogCheck log(stage.record, stage.tally);
  ReplayAll(stage, client.get(), &log);
  log.Finish();
  for (const auto& reader : cast->readers()) {
    reader->CatchUp();
    for (const Watch& watch : reader->watches()) CheckWatch(watch, log, stage.tally);
  }
  CheckLists(stage, client.get(), log);
  CheckAgents(stage.site->AgentLog(), log, stage.tally);
  cast->Leave();
  CloseAll(stage, client.get(), descriptors);
}

int Run(const Options& options) {
  Tally tally;
  Record record;
  // Fewer workers than sessions: idle ones must make room.
  const int workers = options.sessions - options.sessions / 5 + 1;
  Site site(options.seed, workers, &record, &tally);
  Slots slots(options.sessions);
  StopSignal stop;
  const Stage stage{options.seed, &site, &record, &tally, &slots, &stop};
  std::printf("seed %llu, %g minutes, %d sessions\n", static_cast<unsigned long long>(options.seed),
              options.minutes, options.sessions);
  std::fflush(stdout);
  if (!site.Start()) return 1;
  const uint64_t descriptors = OpenDescriptors(site.pid());
  {
    Cast cast(stage);
    if (Play(stage, options, &cast)) Check(stage, &cast, descriptors);
  }
  if (site.pid() != 0) site.Stop();
  CheckLeftovers(stage);
  tally.Print(stdout);
  const bool failed = tally.violations() > 0;
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(options.seed),
              failed ? "FAILED" : "OK");
  if (failed && options.keep) ::setenv("ACPD_TEST_KEEP", "1", 1);
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace acpd::chaos

int main(int argc, char** argv) {
  acpd::chaos::Options options;
  const auto exit_code = acpd::chaos::ReadOptions(argc, argv, &options);
  return exit_code ? *exit_code : acpd::chaos::Run(options);
}
