#ifndef ACPD_ACP_DEMO_AGENT_LINE_IO_H_
#define ACPD_ACP_DEMO_AGENT_LINE_IO_H_

#include <string>
#include <string_view>

namespace acpd::demo {

// Cuts what comes from a file descriptor into lines. Blocking, for agents that poll before they
// read. Not thread-safe. Does not own the descriptor.
class LineReader {
 public:
  explicit LineReader(int fd) : fd_(fd) {}

  // One read(2); false at the end of the input (a read error counts as the end).
  bool ReadSome();
  // The next line without its newline; at the end of the input also a last one that has none.
  // False: read more first.
  bool Next(std::string* line);

 private:
  int fd_;
  bool ended_ = false;
  std::string buffer_;
  size_t start_ = 0;    // of the first line not yet given out
  size_t scanned_ = 0;  // no newline in front of it, so that long lines are looked at once
};

// Writes all of `bytes`, waiting while the pipe is full. False: nobody reads any more.
bool WriteAll(int fd, std::string_view bytes);

}  // namespace acpd::demo

#endif  // ACPD_ACP_DEMO_AGENT_LINE_IO_H_
