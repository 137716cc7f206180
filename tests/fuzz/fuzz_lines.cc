// What an agent writes: lines in any pieces, and the messages in them.
// Input: one byte chooses the longest line, one the pieces, the rest is the agent's stdout.

#include <string>
#include <utility>
#include <vector>

#include "acp/line_splitter.h"
#include "acp/top_level_scan.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/message_checks.h"

namespace acpd::fuzz {
namespace {

using acp::LineSplitter;

constexpr size_t kMaxLines[] = {1 << 20, 4096, 300, 20};

std::string Oversize(uint64_t size, const std::string& id, const std::string& method) {
  return "oversize " + std::to_string(size) + " " + id + " " + method;
}

// What the splitter promises, said in the plainest way: all bytes at hand, one `\n` after the
// other.
std::vector<std::string> PlainLines(std::string_view wire, size_t max_line) {
  std::vector<std::string> lines;
  while (!wire.empty()) {
    const std::string_view whole = wire.substr(0, wire.find('\n'));
    wire.remove_prefix(whole.size() < wire.size() ? whole.size() + 1 : whole.size());
    const std::string_view text = whole.substr(0, whole.size() - (whole.ends_with('\r') ? 1 : 0));
    if (text.size() > max_line) {
      acp::TopLevelScan scan;
      scan.Feed(whole);
      lines.push_back(Oversize(whole.size(), scan.Id(), scan.Method()));
    } else if (text.find_first_not_of(" \t\r") != text.npos) {
      lines.emplace_back(text);
    }
  }
  return lines;
}

// One splitter over one wire; the lines as text.
class Run {
 public:
  Run(std::string_view wire, size_t max_line)
      : wire_(wire), max_line_(max_line), splitter_(max_line) {}

  void Feed(std::string_view piece, size_t padding) {
    const Block block(piece, padding, '\n');
    fed_ += piece.size();
    splitter_.Feed(block.view(), padding);
    LineSplitter::Line line;
    while (splitter_.Next(&line)) Add(line);
    Require(splitter_.pending_bytes() <= max_line_ + 1, "no more is kept than a line may have");
    CheckConsumed();
  }

  // As when acpd goes down and comes back: all that is left of this splitter is what was stored.
  void Restart() {
    const uint64_t consumed = splitter_.consumed();
    splitter_ = LineSplitter(max_line_, consumed, splitter_.discarded());
    Require(splitter_.consumed() == consumed, "a restart goes on where it was");
    const uint64_t again = std::exchange(fed_, consumed) - consumed;
    Feed(wire_.substr(consumed, again), 64);
  }

  std::vector<std::string> Finish() {
    LineSplitter::Line line;
    if (splitter_.Finish(&line)) Add(line);
    Require(splitter_.consumed() == wire_.size(), "the end of stdout consumes all of it");
    return std::move(lines_);
  }

 private:
  void Add(const LineSplitter::Line& line) {
    if (line.oversize) {
      Require(line.text.empty(), "a discarded line has no text");
      lines_.push_back(Oversize(line.discarded.size, line.discarded.id, line.discarded.method));
      return;
    }
    lines_.emplace_back(line.text);
    if (line.padded) padding_.assign(line.text.data() + line.text.size(), 64);
  }

  void CheckConsumed() {
    const uint64_t consumed = splitter_.consumed();
    Require(consumed >= last_consumed_ && consumed <= fed_, "consumed() only grows");
    const bool border = consumed == 0 || wire_[consumed - 1] == '\n';
    Require(border || splitter_.discarding(), "consumed() is a line border");
    last_consumed_ = consumed;
  }

  std::string_view wire_;
  size_t max_line_;
  LineSplitter splitter_;
  std::vector<std::string> lines_;
  std::string padding_;
  uint64_t fed_ = 0;
  uint64_t last_consumed_ = 0;
};

void CheckLines(size_t max_line, uint8_t seed, std::string_view wire) {
  const std::vector<std::string> expected = PlainLines(wire, max_line);
  Run whole(wire, max_line);
  whole.Feed(wire, 64);
  Require(whole.Finish() == expected, "lines are what stands between the line ends");
  Run cut(wire, max_line);
  int fed = 0;
  for (Pieces pieces(wire, seed); !pieces.done();) {
    cut.Feed(pieces.Next(), seed % 2 == 0 ? 64 : 0);
    if (seed % 4 == 1 && ++fed % 8 == 0) cut.Restart();
  }
  Require(cut.Finish() == expected, "pieces and restarts do not matter");
}

// What a store gives back may be anything.
void CheckStored(size_t max_line, std::string_view stored) {
  const Block block(stored);
  LineSplitter splitter(max_line, stored.size(), block.view());
  const std::string saved = splitter.discarded();
  LineSplitter again(max_line, stored.size(), saved);
  Require(saved == again.discarded(), "what is stored comes back as it was");
  LineSplitter::Line line;
  splitter.Feed(R"(,"id":7})", 0);
  Require(!splitter.Next(&line) && splitter.Finish(&line) && line.oversize == !stored.empty(),
          "a stored line goes on");
}

}  // namespace
}  // namespace acpd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace acpd::fuzz;
  Input input(data, size);
  const size_t max_line = kMaxLines[input.Byte() % std::size(kMaxLines)];
  const uint8_t seed = input.Byte();
  CheckLines(max_line, seed, input.Rest());
  CheckStored(max_line, input.Rest());
  MessageChecks checks(seed % 4 == 3 ? 8 : 128);
  for (const std::string& line : PlainLines(input.Rest(), max_line)) checks.Line(line, seed);
  return 0;
}
