#include "acp/launcher.h"

#include <signal.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/process/v2/process.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "acp/end_strays.h"
#include "acp/process_marks.h"
#include "acp/socket_link.h"
#include "acp/spawn_worker.h"
#include "acp/spool_link.h"
#include "acp/worker_socket.h"

namespace acpd::acp {
namespace {

namespace process = boost::process::v2;
using boost::system::error_code;
using Socket = asio::local::stream_protocol::socket;
using std::chrono::steady_clock;

constexpr milliseconds kFirstWait{1};
constexpr milliseconds kLongestWait{20};
constexpr milliseconds kClearAway{5000};

// A worker of ours from its start until it has been reaped. Started by posix_spawn; Boost.Process
// waits for it by pidfd. Of Boost.Process only the handle is used: the process class would kill the
// worker, which is to outlive us, when dropped.
struct ChildWorker {
  ChildWorker(asio::any_io_executor loop, pid_t pid) : handle(std::move(loop), pid) {}

  process::basic_process_handle<asio::any_io_executor> handle;
  std::optional<int> status;  // as wait(2) gives it, once it has left
};

// The file names of the sockets of workers that this launcher started and that have not left.
using OwnSockets = std::set<std::string>;

std::string FileName(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// The one place that waits for workers. The handle stays where it is until then.
awaitable<void> Reap(std::shared_ptr<ChildWorker> worker, std::shared_ptr<OwnSockets> own,
                     std::string socket) {
  error_code error;
  int status = co_await worker->handle.async_wait(asio::redirect_error(use_awaitable, error));
  worker->status = status;
  own->erase(socket);
}

std::string HowItEnded(int status) {
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "exited with code " + std::to_string(WEXITSTATUS(status));
}

// It is not there yet, or does not listen yet.
bool MayComeYet(int error) { return NobodyListens(error) || error == EAGAIN; }

// What blocks runs as coroutines on the pool; their results come back to the caller's executor.
awaitable<absl::StatusOr<SpawnedWorker>> SpawnOnPool(std::string program, std::string path,
                                                     LaunchSpec spec) {
  co_return SpawnWorker(program, path, spec);
}

awaitable<bool> KillOnPool(std::string worker_id, pid_t pid, uint64_t ticks, SteadyTime deadline) {
  co_return KillMarked(worker_id, pid, ticks, deadline);
}

absl::Status CannotConnect(int error) {
  return absl::UnavailableError("cannot connect to acpd-worker: " +
                                std::string(std::strerror(error)));
}

class ProcessLauncher : public Launcher {
 public:
  ProcessLauncher(asio::any_io_executor loop, asio::thread_pool& pool, std::string program)
      : loop_(std::move(loop)), pool_(pool), program_(std::move(program)) {}

  awaitable<absl::StatusOr<LaunchedWorker>> Launch(LaunchSpec spec, std::string socket_path,
                                                   SteadyTime deadline) override;
  awaitable<absl::StatusOr<std::unique_ptr<WorkerLink>>> Attach(std::string socket_path,
                                                                std::string worker_id,
                                                                int64_t worker_pid,
                                                                uint64_t start_ticks,
                                                                SteadyTime deadline) override;
  awaitable<void> EndStrays(std::string folder, std::vector<std::string> known_sockets,
                            uint64_t generation, SteadyTime deadline) override;
  awaitable<bool> KillLeftovers(std::string worker_id, int64_t worker_pid, uint64_t start_ticks,
                                SteadyTime deadline) override;

 private:
  std::shared_ptr<ChildWorker> Watch(pid_t pid, const std::string& socket_path);
  awaitable<absl::StatusOr<Socket>> Connect(std::shared_ptr<ChildWorker> worker, std::string path,
                                            SteadyTime deadline);

  asio::any_io_executor loop_;
  asio::thread_pool& pool_;
  std::string program_;
  std::shared_ptr<OwnSockets> own_sockets_ = std::make_shared<OwnSockets>();
};

awaitable<absl::StatusOr<LaunchedWorker>> ProcessLauncher::Launch(LaunchSpec spec,
                                                                  std::string socket_path,
                                                                  SteadyTime deadline) {
  if (socket_path.size() >= sizeof(sockaddr_un::sun_path)) {
    co_return absl::UnavailableError("the path of the worker's socket is too long: " + socket_path);
  }
  const std::string worker_id = spec.worker_id;
  own_sockets_->insert(FileName(socket_path));
  absl::StatusOr<SpawnedWorker> spawned = co_await asio::co_spawn(
      pool_.get_executor(), SpawnOnPool(program_, socket_path, std::move(spec)), use_awaitable);
  if (!spawned.ok()) {
    own_sockets_->erase(FileName(socket_path));
    co_return spawned.status();
  }
  std::shared_ptr<ChildWorker> worker = Watch(spawned->pid, socket_path);
  absl::StatusOr<Socket> socket = absl::UnavailableError("no file descriptor left for a worker");
  if (worker) socket = co_await Connect(worker, socket_path, deadline);
  if (socket.ok()) {
    co_return LaunchedWorker{spawned->pid, spawned->start_ticks,
                             MakeWorkerLink(*std::move(socket))};
  }
  // A worker that left by itself has removed its socket, or found another's in its place.
  const bool left_socket = !worker || !worker->status;
  // The agent may run already.
  co_await KillLeftovers(worker_id, spawned->pid, spawned->start_ticks,
                         steady_clock::now() + kClearAway);
  if (left_socket) ::unlink(socket_path.c_str());
  if (!worker) ::waitpid(spawned->pid, nullptr, WNOHANG);
  co_return socket.status();
}

// Null when there is no fd left to watch it by.
std::shared_ptr<ChildWorker> ProcessLauncher::Watch(pid_t pid, const std::string& socket_path) {
  try {
    auto worker = std::make_shared<ChildWorker>(loop_, pid);
    Spawn(loop_, Reap(worker, own_sockets_, FileName(socket_path)), [](const std::string&) {});
    return worker;
  } catch (const boost::system::system_error&) {
    own_sockets_->erase(FileName(socket_path));
    return nullptr;
  }
}

awaitable<absl::StatusOr<Socket>> ProcessLauncher::Connect(std::shared_ptr<ChildWorker> worker,
                                                           std::string path, SteadyTime deadline) {
  asio::steady_timer timer(loop_);
  milliseconds wait = kFirstWait;
  for (;;) {
    const int fd = co_await ConnectToWorker(pool_, path, Listening{worker->handle.id(), 0});
    if (fd >= 0) co_return TakeSocket(loop_, fd);
    if (worker->status) {
      co_return absl::UnavailableError("acpd-worker " + HowItEnded(*worker->status) +
                                       " before it listened; its reason stands in acpd's stderr");
    }
    if (!MayComeYet(-fd) && -fd != EPERM) {
      co_return CannotConnect(-fd);
    }
    if (steady_clock::now() >= deadline) {
      co_return absl::UnavailableError("acpd-worker did not listen in time");
    }
    timer.expires_at(std::min(steady_clock::now() + wait, deadline));
    co_await timer.async_wait(use_awaitable);
    wait = std::min(wait * 2, kLongestWait);
  }
}

awaitable<absl::StatusOr<std::unique_ptr<WorkerLink>>> ProcessLauncher::Attach(
    std::string socket_path, std::string worker_id, int64_t worker_pid, uint64_t start_ticks,
    SteadyTime deadline) {
  if (worker_pid <= 0 || start_ticks == 0) co_return absl::UnavailableError("its worker is gone");
  const Listening expected{static_cast<pid_t>(worker_pid), start_ticks};
  asio::steady_timer timer(loop_);
  for (;;) {
    const int fd = co_await ConnectToWorker(pool_, socket_path, expected);
    if (fd >= 0) {
      absl::StatusOr<Socket> socket = TakeSocket(loop_, fd);
      if (!socket.ok()) co_return socket.status();
      co_return MakeWorkerLink(*std::move(socket));
    }
    if (NobodyListens(-fd)) {
      co_return co_await OpenSpoolLink(loop_, pool_, std::move(socket_path), std::move(worker_id));
    }
    if (-fd == EPERM) {
      co_return absl::UnavailableError("its worker is gone and another process listens there");
    }
    if (-fd != EAGAIN) co_return CannotConnect(-fd);
    if (steady_clock::now() >= deadline) {
      co_return absl::UnavailableError("its worker takes no connection");
    }
    timer.expires_at(std::min(steady_clock::now() + kLongestWait, deadline));
    co_await timer.async_wait(use_awaitable);
  }
}

awaitable<void> ProcessLauncher::EndStrays(std::string folder,
                                           std::vector<std::string> known_sockets,
                                           uint64_t generation, SteadyTime deadline) {
  OwnSockets known;
  for (const std::string& path : known_sockets) known.insert(FileName(path));
  std::function<bool(const std::string&)> is_known = [known = std::move(known),
                                                      own = own_sockets_](const std::string& name) {
    return known.contains(name) || own->contains(name);
  };
  // A named value: GCC 12 destroys a temporary with braces in a co_await twice.
  StraySearch search{loop_, pool_, std::move(folder), std::move(is_known), generation, deadline};
  co_await acp::EndStrays(std::move(search));
}

awaitable<bool> ProcessLauncher::KillLeftovers(std::string worker_id, int64_t worker_pid,
                                               uint64_t start_ticks, SteadyTime deadline) {
  const auto pid = static_cast<pid_t>(start_ticks == 0 ? 0 : worker_pid);
  co_return co_await asio::co_spawn(pool_.get_executor(),
                                    KillOnPool(std::move(worker_id), pid, start_ticks, deadline),
                                    use_awaitable);
}

}  // namespace

std::unique_ptr<Launcher> MakeLauncher(asio::any_io_executor loop, asio::thread_pool& pool,
                                       std::string worker_program) {
  return std::make_unique<ProcessLauncher>(std::move(loop), pool, std::move(worker_program));
}

}  // namespace acpd::acp
