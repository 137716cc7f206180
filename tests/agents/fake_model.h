#ifndef ACPD_TESTS_AGENTS_FAKE_MODEL_H_
#define ACPD_TESTS_AGENTS_FAKE_MODEL_H_

#include <memory>
#include <string>

#include "tests/e2e/harness/process.h"
#include "tests/e2e/harness/temp_dir.h"

namespace acpd::e2e {

// The model API that real agents talk to in tests: a process of fake_model.mjs on a free port of
// the loopback. It answers from the request's own history, so an answer shows what the agent
// remembers. Owned by the test; killed when it goes out of scope. Not thread-safe.
class FakeModel {
 public:
  // Throws std::runtime_error when it does not listen in time.
  FakeModel(const std::string& node, const std::string& script, const TempDir& dir);

  // http://127.0.0.1:PORT
  const std::string& url() const { return url_; }
  // What it was asked, one JSON object a line.
  std::string Log() const { return ReadFile(log_); }

 private:
  std::string log_;
  std::unique_ptr<Process> process_;
  std::string url_;
};

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_AGENTS_FAKE_MODEL_H_
