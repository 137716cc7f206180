#ifndef ACPD_ACP_WORKER_STDERR_TAIL_H_
#define ACPD_ACP_WORKER_STDERR_TAIL_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace acpd::worker {

// The last 64 KiB of what the agent wrote to stderr. Loop thread only; owned by Worker.
class StderrTail {
 public:
  static constexpr size_t kMax = 64 << 10;

  void Append(std::string_view bytes) {
    if (bytes.size() > kMax) bytes.remove_prefix(bytes.size() - kMax);
    kept_.append(bytes);
    // Cut only at twice the size, so that a byte is moved at most once.
    if (kept_.size() > 2 * kMax) kept_.erase(0, kept_.size() - kMax);
  }

  std::string_view bytes() const {
    std::string_view all = kept_;
    return all.size() > kMax ? all.substr(all.size() - kMax) : all;
  }

 private:
  std::string kept_;
};

}  // namespace acpd::worker

#endif  // ACPD_ACP_WORKER_STDERR_TAIL_H_
