#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "acp/signal.h"

namespace acpd {
namespace {

using std::chrono::seconds;

SteadyTime In(milliseconds delay) { return std::chrono::steady_clock::now() + delay; }

awaitable<void> WaitAndNote(Signal* signal, SteadyTime deadline, std::vector<bool>* results) {
  results->push_back(co_await signal->Wait(deadline));
}

awaitable<void> Throw() {
  throw std::runtime_error("on purpose");
  co_return;
}

awaitable<void> ThrowNumber() {
  throw 5;
  co_return;
}

awaitable<void> ThrowAfterPost(asio::any_io_executor executor) {
  co_await asio::post(executor, use_awaitable);
  throw std::runtime_error("later");
}

class SignalTest : public testing::Test {
 protected:
  void Start(SteadyTime deadline) {
    Spawn(loop.get_executor(), WaitAndNote(signal.get(), deadline, &results),
          [](const std::string& what) { ADD_FAILURE() << what; });
  }
  void RunReady() {
    loop.restart();
    while (loop.poll() > 0) {
    }
  }
  // Runs the loop until nothing is left to do on it.
  void RunToEnd() {
    loop.restart();
    loop.run_for(seconds(30));
    EXPECT_TRUE(loop.stopped()) << "something still waits";
  }

  asio::io_context loop;
  std::unique_ptr<Signal> signal = std::make_unique<Signal>(loop.get_executor());
  std::vector<bool> results;
};

TEST_F(SignalTest, NotifyWakesAllWhoWait) {
  Start(SteadyTime::max());
  Start(In(seconds(60)));
  RunReady();
  EXPECT_TRUE(results.empty());
  signal->Notify();
  RunToEnd();
  EXPECT_EQ(results, (std::vector<bool>{true, true}));
}

TEST_F(SignalTest, TheDeadlineEndsTheWait) {
  Start(In(milliseconds(1)));
  RunToEnd();
  EXPECT_EQ(results, std::vector<bool>{false});
}

TEST_F(SignalTest, APastDeadlineEndsItAtOnce) {
  Start(SteadyTime::min());
  RunToEnd();
  EXPECT_EQ(results, std::vector<bool>{false});
}

TEST_F(SignalTest, ItKeepsNoState) {
  signal->Notify();
  Start(In(milliseconds(1)));
  RunToEnd();
  EXPECT_EQ(results, std::vector<bool>{false});
}

TEST_F(SignalTest, EachWaitNeedsItsOwnNotify) {
  Start(SteadyTime::max());
  RunReady();
  signal->Notify();
  RunToEnd();
  Start(SteadyTime::max());
  RunReady();
  EXPECT_EQ(results.size(), 1u);
  signal->Notify();
  signal->Notify();
  RunToEnd();
  EXPECT_EQ(results, (std::vector<bool>{true, true}));
}

TEST_F(SignalTest, OneThatTimedOutIsNotWokenAgain) {
  Start(In(milliseconds(1)));
  RunToEnd();
  Start(SteadyTime::max());
  RunReady();
  signal->Notify();
  RunToEnd();
  EXPECT_EQ(results, (std::vector<bool>{false, true}));
}

TEST_F(SignalTest, DestroyingItWakesItsWaiters) {
  Start(SteadyTime::max());
  RunReady();
  signal.reset();
  RunToEnd();
  EXPECT_EQ(results, std::vector<bool>{true});
}

TEST(Signal, MayOutliveTheLoop) {
  std::vector<bool> results;
  auto loop = std::make_optional<asio::io_context>();
  auto signal = std::make_unique<Signal>(loop->get_executor());
  Spawn(loop->get_executor(), WaitAndNote(signal.get(), SteadyTime::max(), &results),
        [](const std::string& what) { ADD_FAILURE() << what; });
  loop->poll();
  loop.reset();
  signal->Notify();
  signal.reset();
  EXPECT_TRUE(results.empty());
}

TEST(Spawn, HandsOnWhatEscapes) {
  asio::io_context loop;
  std::vector<std::string> errors;
  const auto note = [&errors](const std::string& what) { errors.push_back(what); };
  Spawn(loop.get_executor(), Throw(), note);
  Spawn(loop.get_executor(), ThrowNumber(), note);
  Spawn(loop.get_executor(), ThrowAfterPost(loop.get_executor()), note);
  loop.run();
  EXPECT_EQ(errors, (std::vector<std::string>{"on purpose",
                                              "an exception that is no std::exception", "later"}));
}

}  // namespace
}  // namespace acpd
