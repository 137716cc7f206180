#ifndef ACPD_TESTS_ACP_PROTOCOL_CONNECTION_FIXTURE_H_
#define ACPD_TESTS_ACP_PROTOCOL_CONNECTION_FIXTURE_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "acp/agent_connection.h"
#include "tests/acp/protocol_fake_link.h"

namespace acpd::acp {

using Record = std::vector<std::string>;

// Writes down what the connection says, long lines by their size.
class Recorder : public AgentHandler {
 public:
  explicit Recorder(asio::any_io_executor loop) : room_changed(loop) {}

  void OnHello(const Hello& hello) override { Note("hello " + std::to_string(hello.agent_pid)); }
  void OnUpdate(const UpdateView& update) override { Note("update " + Text(update.text)); }
  void OnRequest(const Message& m) override {
    Note("request " + Text(m.id) + " " + Text(m.method));
  }
  void OnNotification(const Message& m) override { Note("notification " + Text(m.method)); }
  void OnAnswer(const Message& m) override {
    Note("answer " + Text(m.id) + " " + Text(m.result) + Text(m.error));
  }
  void OnNoise(std::string_view line) override { Note("noise " + Text(line)); }
  void OnOversize(const OversizeLine& line) override {
    Note("oversize " + std::to_string(line.size) + " " + line.id + " " + line.method);
  }
  void OnConsumed(uint64_t offset, std::string_view discarded) override {
    discard = discarded;
    Note((discarded.empty() ? "consumed " : "discarding ") + std::to_string(offset));
  }
  void OnStdinDone(uint64_t seq) override { Note("done " + std::to_string(seq)); }
  void OnStderr(std::string_view bytes) override { Note("stderr " + Text(bytes)); }
  void OnExit(const WorkerExit& exit) override {
    Note((exit.signaled ? "signal " : "exit ") + std::to_string(exit.value));
  }
  void OnLost(const std::string& why) override { Note("lost " + why); }

  awaitable<void> WaitForRoom() override {
    ++waits;
    while (!room) co_await room_changed.Wait(SteadyTime::max());
  }

  Record seen;
  std::string discard;                              // with the last OnConsumed
  std::function<void(const std::string&)> on_note;  // called behind each note
  int waits = 0;
  bool room = true;
  Signal room_changed;
  bool one_thread = true;

 private:
  static std::string Text(std::string_view text) {
    return text.size() > 1000 ? "(" + std::to_string(text.size()) + ")" : std::string(text);
  }
  void Note(std::string what) {
    one_thread = one_thread && std::this_thread::get_id() == thread_;
    seen.push_back(what);
    if (on_note) on_note(what);
  }

  const std::thread::id thread_ = std::this_thread::get_id();
};

class ConnectionTest : public testing::Test {
 protected:
  ~ConnectionTest() override {
    EXPECT_TRUE(recorder.one_thread);
    connection.reset();
    loop.restart();
    loop.run_for(std::chrono::seconds(30));
    EXPECT_TRUE(loop.stopped()) << "the reader has not ended";
    pool.join();
  }

  void Start(AgentConnection::Options options = {}, uint64_t from = 0, std::string discard = {}) {
    worker->offset = from;
    connection = std::make_shared<AgentConnection>(
        loop.get_executor(), pool, std::make_unique<FakeLink>(worker), &recorder, options);
    connection->Start(3, from, std::move(discard));
  }

  // Runs the loop until `reached`, or fails.
  void RunUntil(const std::function<bool()>& reached) {
    const SteadyTime deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    loop.restart();
    while (!reached()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline)
          << testing::PrintToString(recorder.seen);
      loop.run_one_for(std::chrono::seconds(1));
    }
  }
  // Until the worker has been listened to, and nothing more is to be done.
  void RunAll() {
    RunUntil([this] { return worker->events.empty(); });
    while (loop.poll() > 0) {
    }
  }

  asio::io_context loop;
  asio::thread_pool pool{1};
  std::shared_ptr<FakeWorker> worker = std::make_shared<FakeWorker>(loop.get_executor());
  Recorder recorder{loop.get_executor()};
  std::shared_ptr<AgentConnection> connection;
};

inline std::string Update(const std::string& text) {
  return R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":)"
         R"({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":")" +
         text + "\"}}}}\n";
}

}  // namespace acpd::acp

#endif  // ACPD_TESTS_ACP_PROTOCOL_CONNECTION_FIXTURE_H_
