#include "tests/chaos/tally.h"

#include <algorithm>
#include <cinttypes>

namespace acpd::chaos {

void Tally::Count(const std::string& what, uint64_t times) {
  const std::lock_guard lock(mutex_);
  counts_[what] += times;
}

uint64_t Tally::CountOf(const std::string& what) const {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(what);
  return found == counts_.end() ? 0 : found->second;
}

void Tally::Took(const std::string& what, std::chrono::milliseconds time) {
  const std::lock_guard lock(mutex_);
  spans_[what].push_back(time.count());
}

void Tally::Reached(const std::string& what, uint64_t value) {
  const std::lock_guard lock(mutex_);
  uint64_t& highest = highest_[what];
  highest = std::max(highest, value);
}

void Tally::Violation(const std::string& invariant, const std::string& detail) {
  const std::lock_guard lock(mutex_);
  violations_[invariant].push_back(detail);
}

uint64_t Tally::violations() const {
  const std::lock_guard lock(mutex_);
  uint64_t all = 0;
  for (const auto& [invariant, details] : violations_) all += details.size();
  return all;
}

void Tally::Print(FILE* file) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [what, times] : counts_) {
    std::fprintf(file, "%8" PRIu64 "  %s\n", times, what.c_str());
  }
  PrintMeasures(file);
  PrintViolations(file);
}

void Tally::PrintMeasures(FILE* file) const {
  for (auto [what, spans] : spans_) {
    std::sort(spans.begin(), spans.end());
    const auto at = [&spans = spans](size_t percent) {
      return static_cast<long>(spans[(spans.size() - 1) * percent / 100]);
    };
    std::fprintf(file, "%8zu  %s: p50 %ld ms, p99 %ld ms, longest %ld ms\n", spans.size(),
                 what.c_str(), at(50), at(99), at(100));
  }
  for (const auto& [what, value] : highest_) {
    std::fprintf(file, "%8" PRIu64 "  %s\n", value, what.c_str());
  }
}

void Tally::PrintViolations(FILE* file) const {
  constexpr size_t kShown = 12;
  size_t all = 0;
  for (const auto& [invariant, details] : violations_) {
    all += details.size();
    std::fprintf(file, "VIOLATED %s: %zu times\n", invariant.c_str(), details.size());
    for (size_t i = 0; i < std::min(kShown, details.size()); ++i) {
      std::fprintf(file, "    %s\n", details[i].c_str());
    }
  }
  std::fprintf(file, "%8zu  violations\n", all);
}

}  // namespace acpd::chaos
