#include "server/daemon.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "server/address.h"
#include "server/files.h"
#include "server/grpc_log.h"
#include "server/strings.h"
#include "session/wall_clock.h"

namespace acpd::server {
namespace {

using std::chrono::seconds;

// Each step of a stop has its own deadline; the first is the config's `shutdown.timeout`, for turns
// and workers.
constexpr milliseconds kWorkersExtra = seconds(2);
// Calls and streams have what turns and workers have left of theirs, but no less and no more than
// this: a reader that does not read makes a stop no longer.
constexpr milliseconds kServerLeast = seconds(1), kServerMost = seconds(5);
constexpr milliseconds kStoreDeadline = seconds(10);
constexpr milliseconds kStepDeadline = seconds(2);
constexpr milliseconds kWatchStoreEvery = seconds(1);

// Files and sockets made while it lives are for their owner alone. Process-wide: only before agents
// are started.
class PrivateUmask {
 public:
  PrivateUmask() : before_(umask(0077)) {}
  ~PrivateUmask() { umask(before_); }
  PrivateUmask(const PrivateUmask&) = delete;
  PrivateUmask& operator=(const PrivateUmask&) = delete;

 private:
  const mode_t before_;
};

LogLevel LevelOf(session::Severity severity) {
  switch (severity) {
    case session::Severity::kUnspecified:
      return LogLevel::kDebug;
    case session::Severity::kInfo:
      return LogLevel::kInfo;
    case session::Severity::kWarning:
      return LogLevel::kWarning;
    case session::Severity::kError:
      return LogLevel::kError;
  }
  return LogLevel::kError;
}

// What to correct in the config.
absl::Status OfKey(std::string_view key, const absl::Status& status) {
  return absl::Status(status.code(), Cat(key, ": ", status.message()));
}

}  // namespace

Daemon::Daemon(DaemonConfig config, std::string address_file)
    : config_(std::move(config)),
      address_file_(std::move(address_file)),
      worker_program_(ProgramFolder() + "/acpd-worker"),
      log_(config_.log_level) {}

absl::Status Daemon::Start() {
  RouteGrpcLog(&log_);
  if (!IsExecutable(worker_program_)) {
    return absl::FailedPreconditionError(
        Cat("there is no program ", worker_program_, ": install acpd as a whole"));
  }
  {
    PrivateUmask umask;
    if (absl::Status made = MakeFolders(); !made.ok()) return made;
    if (absl::Status opened = OpenStore(); !opened.ok()) return opened;
    absl::StatusOr<session::LoadedState> state = store_.store->Load();
    if (!state.ok()) return state.status();
    WatchStore();
    MakeManager();
    Spawn(loop_.executor(), manager_->Start(*std::move(state)),
          OnError("taking over what was left"));
    // The loop does not run yet: calls that come now wait, and no agent inherits this umask.
    if (absl::Status listening = StartServer(); !listening.ok()) return listening;
  }
  loop_.Run();
  server_->SetServing(true);
  if (absl::Status written = WriteAddressFile(); !written.ok()) return written;
  LogServing();
  return absl::OkStatus();
}

void Daemon::LogServing() {
  log_.Write(LogLevel::kInfo, "serving",
             {{"version", ACPD_VERSION},
              {"pid", Cat(getpid())},
              {"addresses", JoinStrings(server_->addresses(), " ")},
              {"state_dir", config_.state_dir},
              {"agents", Cat(config_.agents.size())}});
  if (!config_.agents.empty()) return;
  log_.Write(LogLevel::kWarning, "no agent is configured or installed: every Chat will fail");
}

absl::Status Daemon::MakeFolders() {
  if (absl::Status made = MakePrivateFolder(config_.state_dir, FollowLink::kYes); !made.ok())
    return OfKey("state_dir", made);
  if (absl::Status made = MakePrivateFolder(config_.runtime_dir, FollowLink::kNo); !made.ok())
    return OfKey("runtime_dir", made);
  std::vector<std::string> roots = {config_.projects_root};
  for (const session::AgentDefinition& agent : config_.agents) {
    if (!agent.projects_root.empty()) roots.push_back(agent.projects_root);
  }
  for (const std::string& root : roots) {
    std::error_code error;
    std::filesystem::create_directories(root, error);
    if (error)
      return absl::FailedPreconditionError(
          Cat("cannot make projects_root ", root, ": ", error.message()));
  }
  return absl::OkStatus();
}

absl::Status Daemon::OpenStore() {
  session::StoreOptions options;
  options.state_dir = config_.state_dir;
  options.retention = config_.retention;
  options.request_id_ttl = config_.limits.request_id_ttl;
  auto post = [executor = loop_.executor()](std::function<void()> call) {
    asio::post(executor, std::move(call));
  };
  absl::StatusOr<session::OpenedStore> opened =
      session::OpenSqliteStore(std::move(options), std::move(post));
  if (!opened.ok()) return opened.status();
  store_ = *std::move(opened);
  // The lock is ours: an address file that is still there is a dead acpd's, and nobody may take it
  // for ours.
  if (!address_file_.empty()) unlink(address_file_.c_str());
  return absl::OkStatus();
}

void Daemon::WatchStore() {
  store_watch_ = std::make_unique<StoreWatch>(
      loop_.executor(), [this] { return store_.store->health(); },
      [this](LogLevel level, const std::string& message, const LogFields& fields) {
        log_.Write(level, message, fields);
      });
  store_watch_->Start(kWatchStoreEvery);
}

void Daemon::MakeManager() {
  launcher_ = acp::MakeLauncher(loop_.executor(), pool_, worker_program_);
  session::SessionManager::Dependencies parts;
  parts.loop = loop_.executor();
  parts.pool = &pool_;
  parts.store = store_.store.get();
  parts.log = store_.log;
  parts.launcher = launcher_.get();
  parts.codec = &codec_;
  parts.config = &config_;
  parts.now = session::WallNow;
  parts.log_line = [this](session::Severity severity, std::string_view text,
                          const LogFields& fields) { log_.Write(LevelOf(severity), text, fields); };
  manager_ = std::make_unique<session::SessionManager>(std::move(parts));
}

absl::Status Daemon::StartServer() {
  for (const std::string& text : config_.listen) {
    const absl::StatusOr<ListenAddress> address = ParseListenAddress(text);
    if (!address.ok()) return address.status();
    if (!address->is_unix()) continue;
    if (absl::Status free = PrepareUnixSocket(address->unix_path); !free.ok()) return free;
  }
  GrpcServer::Options options;
  options.listen = config_.listen;
  options.manager = manager_.get();
  options.log = store_.log;
  options.store = store_.store.get();
  options.loop = loop_.executor();
  options.config = &config_;
  options.stop = [this](std::optional<Workers> workers) { return signals_.Ask({0, workers}); };
  absl::StatusOr<std::unique_ptr<GrpcServer>> server = GrpcServer::Start(std::move(options));
  if (!server.ok()) return server.status();
  server_ = *std::move(server);
  for (const std::string& address : server_->addresses()) {
    std::string_view path = address;
    if (ConsumePrefix(&path, "unix:")) chmod(std::string(path).c_str(), 0600);
  }
  return absl::OkStatus();
}

absl::Status Daemon::WriteAddressFile() {
  if (address_file_.empty()) return absl::OkStatus();
  return ReplaceFile(address_file_, JoinStrings(server_->addresses(), "\n") + "\n");
}

std::function<void(const std::string&)> Daemon::OnError(std::string what) {
  return [this, what = std::move(what)](const std::string& error) {
    log_.Write(LogLevel::kError, Cat(what, " failed: ", error));
  };
}

void Daemon::Abandon() {
  if (server_ != nullptr) {  // it had begun to serve
    Stop({});
  } else if (store_.store != nullptr) {
    store_.store->Close(kStoreDeadline);
  }
}

void Daemon::CheckStep(bool in_time, const char* step) {
  if (in_time) return;
  log_.Write(LogLevel::kWarning, Cat("stopping: ", step, " took too long, going on without it"));
}

void Daemon::Stop(StopRequest request) {
  const bool keep = request.workers.value_or(config_.shutdown_workers) == Workers::kKeep;
  log_.Write(LogLevel::kInfo, "stopping",
             {{"signal", request.signal == 0 ? "" : Cat(request.signal)},
              {"workers", keep ? "keep" : "stop"}});
  if (!address_file_.empty()) unlink(address_file_.c_str());
  server_->SetServing(false);
  CheckStep(loop_.Call([this] { manager_->RefuseNew(); }, kStepDeadline), "refusing new calls");
  const milliseconds timeout = config_.shutdown_timeout;
  const SteadyTime deadline = std::chrono::steady_clock::now() + timeout;
  CheckStep(loop_.Await(manager_->Shutdown(timeout, keep), timeout + kWorkersExtra,
                        OnError("ending or letting go of turns and workers")),
            "ending or letting go of turns and workers");
  const auto left =
      std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
  CheckStep(server_->Shutdown(std::clamp(left, kServerLeast, kServerMost)),
            "ending the calls under way");
  CheckStep(store_.store->Close(kStoreDeadline), "writing the last changes");
  // What the last commits bring about: a worker leaves when it hears that its end is written down.
  CheckStep(loop_.Call([] {}, kStepDeadline), "telling the workers");
  CheckStep(loop_.Stop(kStepDeadline), "the loop");
  log_.Write(LogLevel::kInfo, "stopped");
}

}  // namespace acpd::server
