#ifndef ACPD_TESTS_E2E_HARNESS_SUBSCRIPTION_H_
#define ACPD_TESTS_E2E_HARNESS_SUBSCRIPTION_H_

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/wait.h"

namespace acpd::e2e {

using Event = api::ProgressEvent;
using EventTest = std::function<bool(const Event&)>;

// A stream of ProgressEvents, read by a thread of its own into memory. Thread-safe. Owned by the
// test; cancelled when it goes out of scope. The stub must outlive it.
class Subscription {
 public:
  using Reader = grpc::ClientReader<Event>;
  using Open = std::function<std::unique_ptr<Reader>(grpc::ClientContext*)>;

  explicit Subscription(const Open& open);
  ~Subscription();
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

  // All that came so far.
  std::vector<Event> Events() const;
  // Those that are part of the log: no control events, none that were resent.
  std::vector<Event> Stored() const;
  // The first event that fits, from the stream's beginning on; nullopt: none came, and the stream
  // has ended or time is over.
  std::optional<Event> WaitFor(const EventTest& fits, milliseconds patience = kPatience) const;
  // Waits until that many fit.
  bool WaitForCount(size_t count, const EventTest& fits, milliseconds patience = kPatience) const;
  // Waits until the server ends the stream; nullopt: it did not in time.
  std::optional<grpc::Status> WaitForEnd(milliseconds patience = kPatience) const;
  // The trailing metadata entry, once the stream has ended.
  std::string Trailer(const std::string& key) const;
  void Cancel() { context_.TryCancel(); }

 private:
  void Read();

  grpc::ClientContext context_;
  std::unique_ptr<Reader> reader_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<Event> events_;
  std::optional<grpc::Status> end_;
  std::thread thread_;
};

// Tests for WaitFor.
EventTest Is(Event::EventCase kind);
EventTest EndOf(const std::string& turn_id);
EventTest SaysText(const std::string& text);  // an agent_message_chunk of exactly this text
EventTest HasCaughtUp();

// The texts of the agent_message_chunk updates, joined; with `turn_id` only of that turn. Replayed
// ones are left out.
std::string TextOf(const std::vector<Event>& events, const std::string& turn_id = "");

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_E2E_HARNESS_SUBSCRIPTION_H_
