#ifndef ACPD_TESTS_ACP_PROTOCOL_SPLITTER_H_
#define ACPD_TESTS_ACP_PROTOCOL_SPLITTER_H_

#include <string>
#include <string_view>
#include <vector>

#include "acp/line_splitter.h"

namespace acpd::acp {

// What a splitter made of some bytes, as text to compare: lines as they are, discarded ones as
// "oversize SIZE ID METHOD".
class SplitterRun {
 public:
  explicit SplitterRun(size_t max_line, uint64_t start = 0) : splitter(max_line, start) {}
  SplitterRun(size_t max_line, uint64_t start, std::string_view discarded)
      : splitter(max_line, start, discarded) {}

  // The piece is copied to memory of its own, which is gone when this returns.
  void Feed(std::string_view bytes) {
    std::vector<char> piece(bytes.begin(), bytes.end());
    piece.resize(bytes.size() + 64, '\n');  // padding must not be taken for input
    splitter.Feed({piece.data(), bytes.size()}, 64);
    LineSplitter::Line line;
    while (splitter.Next(&line)) Add(line);
  }

  void Finish() {
    LineSplitter::Line line;
    if (splitter.Finish(&line)) Add(line);
  }

  LineSplitter splitter;
  std::vector<std::string> seen;

 private:
  void Add(const LineSplitter::Line& line) {
    if (line.oversize) {
      seen.push_back("oversize " + std::to_string(line.discarded.size) + " " + line.discarded.id +
                     " " + line.discarded.method);
      return;
    }
    seen.emplace_back(line.text);
    if (!line.padded) return;
    // Under ASan this fails when the padding cannot be read.
    padding_.assign(line.text.data() + line.text.size(), 64);
  }

  std::string padding_;
};

}  // namespace acpd::acp

#endif  // ACPD_TESTS_ACP_PROTOCOL_SPLITTER_H_
