#include <algorithm>

#include "acp/worker/terminal.h"

// What acpd is to be told of a terminal, and when.
namespace acpd::worker {

acp::TerminalState Terminal::Attached() {
  output_.StopWatching();
  told_start_ = !status_.open();
  told_exit_ = exited_;
  return State();
}

void Terminal::Watch(uint64_t from) {
  output_.Watch(from);
  told_exit_ = false;
}

acp::TerminalSnapshot Terminal::Snapshot(uint64_t tag) const {
  acp::TerminalSnapshot snapshot;
  snapshot.number = number_;
  snapshot.tag = tag;
  snapshot.known = !failed();
  snapshot.first_kept = output_.first_kept();
  snapshot.end = output_.end();
  snapshot.exited = exited_;
  snapshot.signaled = signaled_;
  snapshot.value = value_;
  snapshot.bytes = output_.Kept();
  return snapshot;
}

std::string Terminal::NextFrame(int64_t now) {
  if (FrameDue() > now) return {};
  if (told_start_ && output_.untold()) {
    const WatchedOutput::Piece piece = output_.TakePiece(now);
    return acp::EncodeTerminalOutput({number_, piece.offset, piece.bytes});
  }
  told_start_ = true;
  told_exit_ = ToldAllOutput();
  return acp::EncodeTerminalState(State());
}

int64_t Terminal::FrameDue() const {
  if (status_.open()) return INT64_MAX;
  if (!told_start_) return 0;
  if (output_.untold()) return output_.PieceDue(exited_);
  return exited_ && !told_exit_ ? 0 : INT64_MAX;
}

acp::TerminalState Terminal::State() const {
  acp::TerminalState state;
  state.number = number_;
  state.known = !failed();
  state.start_error = failure_.why;
  state.start_errno = failure_.error;
  if (failed()) return state;
  state.pid = tree_.command();
  state.first_kept = output_.first_kept();
  state.end = output_.end();
  // That it has exited is said once all its output has been.
  state.exited = ToldAllOutput();
  if (!state.exited) return state;
  state.signaled = signaled_;
  state.value = value_;
  return state;
}

}  // namespace acpd::worker
