// The file that a worker leaves when nobody comes for it, as acpd reads it at its next start.
// Input: one byte chooses the offset from which acpd wants stdout, the rest is the file.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "acp/spool_link.h"
#include "tests/fuzz/fuzz.h"

namespace acpd::fuzz {
namespace {

constexpr char kWorker[] = "w-1";

// What a reader of a link may rely on, whatever the file holds.
class Reader {
 public:
  explicit Reader(uint64_t from) : from_(from) {}

  void Take(const acp::LinkEvent& event) {
    Require(!exited_, "EXIT is the last event");
    if (const auto* hello = std::get_if<acp::Hello>(&event)) {
      Greet(*hello);
      return;
    }
    Require(next_.has_value(), "HELLO is the first event");
    if (const auto* chunk = std::get_if<acp::StdoutChunk>(&event)) {
      Require(chunk->offset == *next_ && !chunk->bytes.empty(), "stdout has no hole and no double");
      padding_.assign(chunk->bytes.data() + chunk->bytes.size(), 64);
      *next_ += chunk->bytes.size();
    } else if (const auto* exit = std::get_if<acp::WorkerExit>(&event)) {
      Require(exit->end_offset == *next_ || exit->end_offset < from_, "EXIT ends all of stdout");
      exited_ = true;
    }
  }
  bool exited() const { return exited_; }

 private:
  void Greet(const acp::Hello& hello) {
    Require(!next_.has_value(), "HELLO comes once");
    next_ = hello.first_kept_offset;
    if (hello.link_version != acp::kLinkVersion) return;
    Require(hello.spec.worker_id == kWorker, "a spool is its own worker's");
    Require(*next_ >= from_, "nothing is given that acpd has had");
  }

  uint64_t from_;
  std::optional<uint64_t> next_;
  bool exited_ = false;
  std::string padding_;
};

awaitable<void> ReadAll(asio::io_context& loop, asio::thread_pool& pool, std::string socket_path,
                        uint64_t from, bool& ended) {
  auto link = co_await acp::OpenSpoolLink(loop.get_executor(), pool, socket_path, kWorker);
  Require(link.ok(), "a file of ours can be opened");
  (*link)->SendAttach({1, from, 1 << 20});
  Reader reader(from);
  for (;;) {
    const absl::StatusOr<acp::LinkEvent> event = co_await (*link)->Read();
    if (!event.ok()) {
      Require(absl::IsUnavailable(event.status()), "a spool ends with UNAVAILABLE");
      ended = true;
      co_return;
    }
    reader.Take(*event);
    if (reader.exited()) (*link)->SendAckExit();
  }
}

// Where the files are; it goes with the process.
const std::string& Folder() {
  static const std::string& folder = *[] {
    const char* tmp = getenv("TMPDIR");
    auto* path = new std::string(std::string(tmp == nullptr ? "/tmp" : tmp) + "/spool.XXXXXX");
    Require(mkdtemp(path->data()) != nullptr, "a folder can be made");
    atexit([] { std::filesystem::remove_all(Folder()); });
    return path;
  }();
  return folder;
}

// A file of its own for each input: the last one's is removed in the background.
void ReadFile(std::string_view content, uint64_t from) {
  static int count = 0;
  static auto& pool = *new asio::thread_pool(1);
  const std::string socket_path = Folder() + "/" + std::to_string(++count);
  std::ofstream(acp::SpoolPath(socket_path), std::ios::binary) << content;
  asio::io_context loop(1);
  bool ended = false;
  Spawn(loop.get_executor(), ReadAll(loop, pool, socket_path, from, ended),
        [](const std::string&) { Require(false, "nothing is thrown"); });
  loop.run();
  Require(ended, "reading a spool comes to an end");
  unlink(acp::SpoolPath(socket_path).c_str());
}

}  // namespace
}  // namespace acpd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace acpd::fuzz;
  Input input(data, size);
  const uint64_t from = uint64_t{input.Byte()} * 10;
  ReadFile(input.Rest(), from);
  return 0;
}
