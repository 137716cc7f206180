#include "acp/worker/stdin_queue.h"

#include <errno.h>

namespace acpd::worker {

void StdinQueue::Add(uint64_t seq, std::string_view line) {
  if (seq <= last_had_) return;
  last_had_ = seq;
  if (!pipe_.open()) return;
  std::string text;
  text.reserve(line.size() + 1);
  text.append(line).push_back('\n');
  lines_.push_back({seq, std::move(text)});
}

std::vector<uint64_t> StdinQueue::Flush() {
  std::vector<uint64_t> done;
  while (!lines_.empty()) {
    const std::string& text = lines_.front().text;
    ssize_t wrote = write(pipe_.get(), text.data() + written_, text.size() - written_);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno != EAGAIN) Close();  // the agent has closed its stdin
    if (wrote < 0) break;
    written_ += static_cast<size_t>(wrote);
    if (written_ < text.size()) continue;
    last_done_ = lines_.front().seq;
    done.push_back(last_done_);
    lines_.pop_front();
    written_ = 0;
  }
  return done;
}

void StdinQueue::Close() {
  pipe_.Reset();
  lines_.clear();
  written_ = 0;
}

}  // namespace acpd::worker
