#ifndef ACPD_TESTS_CHAOS_ANSWERER_H_
#define ACPD_TESTS_CHAOS_ANSWERER_H_

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "tests/chaos/actor.h"

namespace acpd::chaos {

// Answers the agents' questions, in time, late, twice or not at all. Asked is thread-safe.
class Answerer : public Actor {
 public:
  Answerer(const Stage& stage, int number);

  // For a reader's on_event.
  void Asked(const e2e::Event& event);

 private:
  struct Question {
    std::string session_id;
    std::string question_id;
    std::chrono::steady_clock::time_point due;  // not before
  };

  void Run() override;
  // One that is due.
  std::optional<Question> Next();
  void Add(Question question);
  void Answer(const Question& question);

  std::unique_ptr<e2e::Client> client_;
  std::mutex mutex_;
  std::deque<Question> questions_;  // of more than kMost the oldest are not answered
};

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_ANSWERER_H_
