#ifndef ACPD_TESTS_E2E_HARNESS_FAKE_AGENT_LOG_H_
#define ACPD_TESTS_E2E_HARNESS_FAKE_AGENT_LOG_H_

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/e2e/harness/wait.h"

namespace acpd::e2e {

using nlohmann::json;

// What fake agents wrote into their FAKE_AGENT_LOG (tests/fakes/agent_log.h), read anew at each
// call.
class FakeAgentLog {
 public:
  explicit FakeAgentLog(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }

  // All entries, in the order of writing.
  std::vector<json> Entries() const;
  // The entries of one event: start, in, eof, exit, fork, reached, released, note, answer,
  // mismatch.
  std::vector<json> Events(const std::string& event) const;
  // The messages that agents received, as JSON; with `method` only those of that method (requests
  // and notifications).
  std::vector<json> Received(const std::string& method = "") const;
  // The client's answers to the request with this id, whose JSON type counts (1 is not "1").
  std::vector<json> AnswersTo(const json& id) const;
  // The pids of all agent processes, in the order of their start.
  std::vector<int> Pids() const;

  // Waits until an entry fits / as many messages of the method came; false: they did not in time.
  bool WaitFor(const std::function<bool(const json& entry)>& fits,
               milliseconds patience = kPatience) const;
  bool WaitForReceived(const std::string& method, size_t count = 1,
                       milliseconds patience = kPatience) const;

 private:
  std::string path_;
};

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_E2E_HARNESS_FAKE_AGENT_LOG_H_
