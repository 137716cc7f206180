#ifndef ACPD_TESTS_CHAOS_DICE_H_
#define ACPD_TESTS_CHAOS_DICE_H_

#include <chrono>
#include <cstdint>
#include <random>

namespace acpd::chaos {

using std::chrono::milliseconds;

// The random decisions of one actor: the same seed and actor give the same decisions, whatever the
// others do. Not thread-safe.
class Dice {
 public:
  Dice(uint64_t seed, uint64_t actor) {
    std::seed_seq both{seed, seed >> 32, actor};
    engine_.seed(both);
  }

  // Both ends included.
  int Between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  bool Chance(int percent) { return Between(1, 100) <= percent; }
  milliseconds Pause(int low, int high) { return milliseconds(Between(low, high)); }
  size_t Index(size_t size) { return static_cast<size_t>(Between(0, static_cast<int>(size) - 1)); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_DICE_H_
