#include "acp/end_strays.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "acp/signal.h"
#include "acp/socket_link.h"
#include "acp/worker_socket.h"

namespace acpd::acp {
namespace {

using std::chrono::steady_clock;

constexpr std::string_view kSpoolEnding = ".spool";
constexpr std::string_view kNewSpoolEnding = ".spool.new";
constexpr uint64_t kStrayWindow = 1u << 20;
constexpr milliseconds kAskAgain{20};

// The search, the number of workers that are being ended, and who waits for that.
struct StrayHunt {
  explicit StrayHunt(StraySearch what) : search(std::move(what)), changed(search.loop) {}

  std::string Path(const std::string& name) const { return search.folder + "/" + name; }

  StraySearch search;
  size_t under_way = 0;
  Signal changed;
};

struct FolderEntry {
  std::string name;
  bool is_socket = false;
};

awaitable<std::vector<FolderEntry>> ListFolder(std::string folder) {
  std::vector<FolderEntry> entries;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code unknown;
    entries.push_back(
        {at->path().filename().string(), std::filesystem::is_socket(at->symlink_status(unknown))});
  }
  co_return entries;
}

awaitable<bool> RemoveFile(std::string path) { co_return ::unlink(path.c_str()) == 0; }

awaitable<void> RemoveOnPool(std::shared_ptr<StrayHunt> hunt, std::string path) {
  co_await asio::co_spawn(hunt->search.pool.get_executor(), RemoveFile(std::move(path)),
                          use_awaitable);
}

// Kills the agent's tree and lets the worker leave, which removes its socket.
awaitable<void> EndAttached(std::shared_ptr<StrayHunt> hunt, std::shared_ptr<WorkerLink> link) {
  link->SendAttach({hunt->search.generation, 0, kStrayWindow});
  link->SendStop(milliseconds(0));
  for (;;) {
    const absl::StatusOr<LinkEvent> event = co_await link->Read();
    if (!event.ok()) co_return;
    if (const auto* chunk = std::get_if<StdoutChunk>(&*event)) {
      link->SendAck(chunk->offset + chunk->bytes.size());
    } else if (std::holds_alternative<WorkerExit>(*event)) {
      link->SendAckExit();
    }
  }
}

awaitable<int> ConnectToStray(std::shared_ptr<StrayHunt> hunt, std::string path) {
  asio::steady_timer timer(hunt->search.loop);
  for (;;) {
    const int fd = co_await ConnectToWorker(hunt->search.pool, path, Listening());
    if (fd != -EAGAIN || steady_clock::now() >= hunt->search.deadline) co_return fd;
    timer.expires_at(std::min(steady_clock::now() + kAskAgain, hunt->search.deadline));
    co_await timer.async_wait(use_awaitable);
  }
}

awaitable<void> EndStray(std::shared_ptr<StrayHunt> hunt, std::string path) {
  const int fd = co_await ConnectToStray(hunt, path);
  if (NobodyListens(-fd)) co_await RemoveOnPool(hunt, path);
  if (fd < 0) co_return;
  absl::StatusOr<asio::local::stream_protocol::socket> socket = TakeSocket(hunt->search.loop, fd);
  if (!socket.ok()) co_return;
  const std::shared_ptr<WorkerLink> link = MakeWorkerLink(*std::move(socket));
  asio::steady_timer deadline(hunt->search.loop, hunt->search.deadline);
  deadline.async_wait([link](boost::system::error_code error) {
    if (!error) link->Close();
  });
  co_await EndAttached(hunt, link);
}

awaitable<void> EndOne(std::shared_ptr<StrayHunt> hunt, std::string path) {
  co_await EndStray(hunt, std::move(path));
  --hunt->under_way;
  hunt->changed.Notify();
}

awaitable<std::vector<FolderEntry>> Entries(std::shared_ptr<StrayHunt> hunt) {
  co_return co_await asio::co_spawn(hunt->search.pool.get_executor(),
                                    ListFolder(hunt->search.folder), use_awaitable);
}

// A known worker may be writing its spool just now: an unfinished one is rubbish when nobody
// listens.
awaitable<bool> IsRubbish(std::shared_ptr<StrayHunt> hunt, std::string name) {
  const bool unfinished = name.ends_with(kNewSpoolEnding);
  if (!unfinished && !name.ends_with(kSpoolEnding)) co_return false;
  name.resize(name.size() - (unfinished ? kNewSpoolEnding : kSpoolEnding).size());
  if (!hunt->search.is_known(name)) co_return true;
  if (!unfinished) co_return false;
  const int fd = co_await ConnectToWorker(hunt->search.pool, hunt->Path(name), Listening());
  if (fd >= 0) ::close(fd);
  co_return NobodyListens(-fd);
}

}  // namespace

awaitable<void> EndStrays(StraySearch search) {
  const auto hunt = std::make_shared<StrayHunt>(std::move(search));
  const std::vector<FolderEntry> found = co_await Entries(hunt);
  for (const FolderEntry& entry : found) {
    if (!entry.is_socket || hunt->search.is_known(entry.name)) continue;
    ++hunt->under_way;
    Spawn(hunt->search.loop, EndOne(hunt, hunt->Path(entry.name)), [hunt](const std::string&) {
      --hunt->under_way;
      hunt->changed.Notify();
    });
  }
  while (hunt->under_way > 0) {
    const bool notified = co_await hunt->changed.Wait(hunt->search.deadline);
    if (!notified) break;
  }
  // Those that were ended have had their last chance to leave a spool.
  const std::vector<FolderEntry> left = co_await Entries(hunt);
  for (const FolderEntry& entry : left) {
    const bool rubbish = co_await IsRubbish(hunt, entry.name);
    if (rubbish) co_await RemoveOnPool(hunt, hunt->Path(entry.name));
  }
}

}  // namespace acpd::acp
