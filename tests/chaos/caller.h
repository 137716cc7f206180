#ifndef ACPD_TESTS_CHAOS_CALLER_H_
#define ACPD_TESTS_CHAOS_CALLER_H_

#include <memory>
#include <string>

#include "tests/chaos/actor.h"

namespace acpd::chaos {

namespace api = e2e::api;

// A program that chats: Chat with every way of waiting and ChatStream, on sessions that it shares
// with the other callers. Where an answer is lost and the request has a request_id, it asks again,
// as it should.
class Caller : public Actor {
 public:
  Caller(const Stage& stage, int number);

 private:
  // What became of one call.
  struct Outcome {
    grpc::Status status;
    std::string reason;
    std::string turn_id;  // also of a call that failed after the turn was accepted
    std::string session_id;
    bool answered = false;  // the answer came, not only the metadata
    bool deduplicated = false;
    bool left = false;  // the caller went away
  };

  void Run() override;
  void ChatOnce(size_t slot, const std::string& session_id);
  api::ChatRequest MakeRequest(size_t slot, const std::string& session_id);
  std::string NextKey();
  // Until it is answered or refused; true: a turn was made.
  bool Settle(const api::ChatRequest& request, size_t slot, std::string* turn_id);
  Outcome Try(const api::ChatRequest& request);
  Outcome TryChat(const api::ChatRequest& request);
  Outcome TryStream(const api::ChatRequest& request);
  // The answer did not come: the turn may have been made or not.
  static bool IsLost(const Outcome& outcome);
  void CheckStatus(const Outcome& outcome, uint64_t life);
  void AskAgain(const api::ChatRequest& request, size_t slot, const std::string& turn_id);
  void ReuseRequestId(api::ChatRequest request);

  std::string name_;
  int chats_ = 0;
  std::unique_ptr<e2e::Client> client_;
};

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_CALLER_H_
