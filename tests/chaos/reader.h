#ifndef ACPD_TESTS_CHAOS_READER_H_
#define ACPD_TESTS_CHAOS_READER_H_

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "tests/chaos/actor.h"
#include "tests/chaos/watch.h"

namespace acpd::chaos {

// A reader that leaves and comes back with its cursor, again and again; some are slow. Session
// readers take another session from time to time.
class Reader : public Actor {
 public:
  enum class Scope { kEverything, kProject, kSession };
  struct Options {
    Scope scope = Scope::kEverything;
    bool slow = false;
    // Keeps the position of control events too, as a filtered reader does.
    bool trusts_control = false;
    // Begins at "now" instead of at the log's beginning.
    bool from_now = false;
    std::function<void(const e2e::Event&)> on_event = nullptr;  // each stored event
  };
  Reader(const Stage& stage, int number, Options options);

  // After Join, with a quiet log: reads what is left.
  void CatchUp();
  const std::list<Watch>& watches() const { return watches_; }

 private:
  void Run() override;
  // False: there is nothing to watch yet.
  bool BeginWatch();
  // One connection; false: the watch is over, since its session is gone.
  bool Follow(Watch* watch, milliseconds time, bool replay_only);
  void Take(Watch* watch, const e2e::Event& event);
  void TakeControl(Watch* watch, const e2e::Event& event);
  // False: the watch is over.
  bool CheckEnd(const Watch& watch, const grpc::Status& status, uint64_t life, bool replay_only);

  const Options options_;
  const std::string name_;
  std::unique_ptr<e2e::Client> client_;
  std::list<Watch> watches_;
};

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_READER_H_
