#ifndef ACPD_ACP_LINE_SPLITTER_H_
#define ACPD_ACP_LINE_SPLITTER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "acp/top_level_scan.h"

namespace acpd::acp {

// What was seen of a line that was over the cap and is therefore thrown away, as a streaming
// top-level scan saw it.
struct OversizeLine {
  uint64_t size = 0;
  std::string id;      // raw JSON token; empty: none seen
  std::string method;  // empty: none seen
};

// Cuts an agent's stdout into lines at 0x0A, whatever the pieces in which it comes. A trailing CR
// goes, blank lines are skipped. A line over `max_line` is discarded as it streams (its memory is
// given back at once) and reported at its end. Linear in the number of bytes. Not thread-safe.
class LineSplitter {
 public:
  explicit LineSplitter(size_t max_line, uint64_t start_offset = 0);
  // Goes on in a line over the cap where another splitter's discarded() was taken. Text that is
  // none of its makes it a line of which only what comes now is known.
  LineSplitter(size_t max_line, uint64_t start_offset, std::string_view discarded);

  struct Line {
    std::string_view text;  // valid until the next Next()
    bool padded = false;    // 64 bytes behind it are readable
    bool oversize = false;  // `discarded` says what it was; text is empty
    OversizeLine discarded;
  };

  // Takes the next piece; `padding` bytes behind it are readable. The bytes must stay valid until
  // Next() has returned false.
  void Feed(std::string_view bytes, size_t padding);
  // The next whole line; false: the rest is an unfinished one and is kept.
  bool Next(Line* line);
  // The agent's stdout has ended: its last line, when it came without a newline.
  bool Finish(Line* line);

  // The offset behind the last line that was given out (a line border), or while a line is being
  // discarded, behind what came of it: what may be acknowledged. (An agent whose unacknowledged
  // output may not grow without bound would never end such a line.)
  uint64_t consumed() const;
  // The line at hand is over the cap: consumed() is no line border.
  bool discarding() const { return discarding_; }
  // What is known of that line, as bytes to be stored (at most a few KiB); empty when there is
  // none.
  std::string discarded() const;
  // Bytes held of an unfinished line.
  size_t pending_bytes() const;

 private:
  void KeepUnfinished(std::string_view bytes);
  void Scan(std::string_view bytes);
  bool EndLine(std::string_view rest, size_t readable_behind, Line* line);
  void ForgetGiven();

  size_t max_line_;
  uint64_t consumed_;
  std::string_view piece_;            // what is left of the fed bytes
  size_t padding_ = 0;                // readable bytes behind it
  uint64_t unfinished_ = 0;           // bytes of the line at hand that came in earlier pieces
  bool discarding_ = false;           // they are over the cap
  std::string carry_;                 // the same bytes, while the line is not too long
  bool carry_given_ = false;          // carry_ is a line that was given out
  std::optional<TopLevelScan> scan_;  // of a long line
};

}  // namespace acpd::acp

#endif  // ACPD_ACP_LINE_SPLITTER_H_
