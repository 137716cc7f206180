#ifndef ACPD_TESTS_CHAOS_MEDDLERS_H_
#define ACPD_TESTS_CHAOS_MEDDLERS_H_

#include <memory>
#include <string>

#include "tests/chaos/actor.h"

namespace acpd::chaos {

// Cancels sessions, turns and projects; a Cancel must answer whenever acpd is up (I6).
class Canceller : public Actor {
 public:
  Canceller(const Stage& stage, int number);

 private:
  void Run() override;
  void CancelOnce();

  std::unique_ptr<e2e::Client> client_;
};

// Closes sessions, and deletes one now and then.
class Closer : public Actor {
 public:
  Closer(const Stage& stage, int number);

 private:
  void Run() override;
  void Close(const std::string& session_id);
  void Delete(size_t slot, const std::string& session_id);

  std::unique_ptr<e2e::Client> client_;
};

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_MEDDLERS_H_
