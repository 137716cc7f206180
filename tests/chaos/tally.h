#ifndef ACPD_TESTS_CHAOS_TALLY_H_
#define ACPD_TESTS_CHAOS_TALLY_H_

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace acpd::chaos {

// What the run counts, measures and finds wrong, and how that is printed. Thread-safe.
class Tally {
 public:
  void Count(const std::string& what, uint64_t times = 1);
  uint64_t CountOf(const std::string& what) const;
  // A span of time; its median, 99th percentile and longest are printed.
  void Took(const std::string& what, std::chrono::milliseconds time);
  // A measure of which the highest is printed.
  void Reached(const std::string& what, uint64_t value);
  // `invariant` is I1 to I6 with its name.
  void Violation(const std::string& invariant, const std::string& detail);
  uint64_t violations() const;

  void Print(FILE* file) const;

 private:
  void PrintMeasures(FILE* file) const;
  void PrintViolations(FILE* file) const;

  mutable std::mutex mutex_;
  std::map<std::string, uint64_t> counts_;
  std::map<std::string, std::vector<int64_t>> spans_;
  std::map<std::string, uint64_t> highest_;
  std::map<std::string, std::vector<std::string>> violations_;
};

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_TALLY_H_
