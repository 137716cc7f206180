// acpd: flags, config, start, service until a signal, stop. Exit codes: 0 stopped in order, 1 could
// not start, 2 bad flags or config; the sentence that says why stands on stderr.

#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "absl/synchronization/mutex.h"
#include "server/daemon.h"
#include "server/load_config.h"
#include "server/options.h"
#include "server/strings.h"

namespace acpd::server {
namespace {

constexpr milliseconds kLogDeadline = std::chrono::seconds(2);

int Fail(int code, const absl::Status& status) {
  fprintf(stderr, "acpd: %s\n", Cat(status.message()).c_str());
  return code;
}

// What is one for all of the process.
void SetUpProcess() {
  signal(SIGPIPE, SIG_IGN);  // a write to a dead agent or reader is an error code, not our end
#ifdef NDEBUG
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
#endif
}

[[noreturn]] void Run(DaemonConfig config, std::string address_file) {
  Daemon& daemon = *new Daemon(std::move(config), std::move(address_file));
  const absl::Status started = daemon.Start();
  if (started.ok()) {
    daemon.Stop(daemon.WaitForStop());
  } else {
    daemon.Abandon();
  }
  daemon.log().Close(kLogDeadline);
  _exit(started.ok() ? 0 : Fail(1, started));
}

int Main(int argc, const char* const* argv) {
  SetUpProcess();
  const absl::StatusOr<Options> options = ParseOptions(argc, argv);
  if (!options.ok()) return Fail(2, options.status());
  if (!options->answer.empty()) {
    fputs(options->answer.c_str(), stdout);
    return 0;
  }
  absl::StatusOr<DaemonConfig> config = LoadConfig(*options);
  if (!config.ok()) return Fail(2, config.status());
  if (options->check_config) {
    puts("OK");
    return 0;
  }
  Run(*std::move(config), options->address_file);
}

}  // namespace
}  // namespace acpd::server

int main(int argc, char** argv) { return acpd::server::Main(argc, argv); }
