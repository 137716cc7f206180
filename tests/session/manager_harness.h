#ifndef ACPD_TESTS_SESSION_MANAGER_HARNESS_H_
#define ACPD_TESTS_SESSION_MANAGER_HARNESS_H_

#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "acp/asio.h"
#include "session/session_manager.h"
#include "tests/e2e/harness/barriers.h"
#include "tests/e2e/harness/fake_agent_log.h"
#include "tests/e2e/harness/leftovers.h"
#include "tests/e2e/harness/temp_dir.h"

namespace acpd::session {

class Loop : public asio::io_context {
 public:
  using asio::io_context::io_context;
  // Destroys the coroutines and handlers that are under way, and nothing else.
  void DropWork() { shutdown(); }
};

// A domain without its edge: the real manager, store, launcher, worker and fake agent, on a loop
// that runs in the test's own thread. Events are encoded as lines of text ("turn_ended outcome=1"),
// so that a whole log can be compared.
class ManagerTest : public ::testing::Test {
 protected:
  ManagerTest();
  ~ManagerTest() override;

  // Opens the store and starts the manager; again after Crash or Stop with the same state.
  void Begin();
  // As though acpd were killed: nothing is told to anybody.
  void Crash();
  // As SIGTERM does it.
  void Stop();
  // How the store takes what is handed to it from now on. What is held is committed with the next
  // kCommit. kSpoil makes the next record with events one that cannot be stored, kSpoilEnd the next
  // one with a turn's end, kSpoilAll all with events. kHoldTakenBack holds from the record on in
  // which a turn is starting. kDown holds, and health says so.
  enum class Commits {
    kCommit,
    kHold,
    kRefuse,
    kSpoil,
    kSpoilEnd,
    kSpoilAll,
    kHoldTakenBack,
    kDown
  };
  void SetCommits(Commits commits);
  size_t commits() const;  // handed to the store so far
  size_t held_commits() const;
  // So many bytes more pass for uncommitted.
  void Clog(size_t bytes) { clogged_ = bytes; }
  // How often the loop has run something in RunUntil.
  size_t handled() const { return handled_; }
  // The wall clock goes on by so much.
  void PassTime(milliseconds time) { passed_ += time; }
  size_t UncommittedBytes() const;
  // The script of the fake agent (tests/fakes/script.h), before Begin.
  void UseScript(const std::string& script_json);
  AgentDefinition& agent() { return config_.agents.front(); }
  SessionManager& manager() { return *manager_; }
  EventLog& log() { return *log_; }
  Config& config() { return config_; }

  // Runs the loop until `work` has come to its end; fails the test after 20 s.
  template <typename Value>
  Value Run(awaitable<Value> work);
  // Runs the loop until the condition holds; fails the test after 20 s.
  bool RunUntil(const std::function<bool()>& condition);

  ChatRequest Request(const std::string& prompt, const std::string& session_id = "",
                      WaitFor wait_for = WaitFor::kFinished) const;
  // A Chat that has to be answered OK.
  ChatReply Say(const std::string& prompt, const std::string& session_id = "");
  absl::StatusOr<ChatReply> Chat(ChatRequest request);
  CallPtr NewCall() const { return std::make_shared<Call>(); }
  // The encoded events of a session, in order, all of them.
  std::vector<std::string> Events(const std::string& session_id);

  const e2e::FakeAgentLog& agent_log() const { return agent_log_; }
  const e2e::Barriers& barriers() const { return barriers_; }

 private:
  class TextCodec;
  class MoodyStore;
  struct Ends;

  e2e::TempDir dir_;
  std::string mark_ = e2e::Leftovers::NewMark();
  e2e::Leftovers leftovers_;
  e2e::FakeAgentLog agent_log_;
  e2e::Barriers barriers_;
  Config config_;
  milliseconds passed_{0};
  size_t clogged_ = 0;
  size_t handled_ = 0;
  std::unique_ptr<TextCodec> codec_;
  // One life of the domain; destroyed in the reverse order.
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<asio::thread_pool> pool_;
  std::unique_ptr<acp::Launcher> launcher_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<MoodyStore> moody_;  // in front of it
  EventLog* log_ = nullptr;
  std::unique_ptr<SessionManager> manager_;
};

template <typename Value>
Value ManagerTest::Run(awaitable<Value> work) {
  auto result = std::make_shared<std::optional<Value>>();
  asio::co_spawn(*loop_, std::move(work), [result](std::exception_ptr error, Value value) {
    if (!error) *result = std::move(value);
  });
  const bool ended = RunUntil([result] { return result->has_value(); });
  if (!ended) throw std::runtime_error("a call of the manager did not end");
  return std::move(**result);
}

}  // namespace acpd::session

#endif  // ACPD_TESTS_SESSION_MANAGER_HARNESS_H_
