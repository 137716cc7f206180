#ifndef ACPD_TESTS_E2E_INPUT_SUPPORT_H_
#define ACPD_TESTS_E2E_INPUT_SUPPORT_H_

#include <string>

#include "tests/e2e/harness/e2e_test.h"

namespace acpd::e2e {

// A call that was refused.
struct Refusal {
  grpc::StatusCode code = grpc::StatusCode::OK;
  std::string reason;
  std::string message;
};

template <class Response>
Refusal RefusalOf(const Called<Response>& called) {
  return {called.code(), called.reason(), called.status.error_message()};
}
// Waits for the stream's end.
Refusal RefusalOf(const Subscription& stream);

// Calls that are to be refused and to change nothing. There is something that they could change:
// in the project "shop" a session with an ended turn, in "yard" one whose turn is running.
class InputTest : public E2eTest {
 protected:
  void SetUp() override;

  // All that a caller can see: sessions, turns, the log; and the folders of projects, and how many
  // agents were started.
  std::string World();

  // Expects this status and reason, a sentence, and that the world still is `before`.
  void ExpectRefused(const Refusal& refusal, grpc::StatusCode code, const std::string& reason,
                     const std::string& before);

  std::string shop_session_, shop_turn_;
  std::string yard_session_, yard_turn_;
};

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_E2E_INPUT_SUPPORT_H_
