#include "worker_test_base.h"

// What a worker costs while its agent says nothing: memory that no other process shares.
namespace acpd::acp {
namespace {

constexpr size_t kMost = 1 << 20;
constexpr size_t kBurst = 32 << 20;

class WorkerMemoryTest : public WorkerTest {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory counts";
  }
  // It gives memory back at its next step, which is soon.
  void ExpectSmall(const Started& worker, const char* when) {
    WaitFor(std::string("little memory ") + when, [&] {
      const size_t bytes = PrivateBytes(worker.pid);
      return bytes > 0 && bytes <= kMost;
    });
    RecordProperty(when, static_cast<int>(PrivateBytes(worker.pid) >> 10));
  }
};

TEST_F(WorkerMemoryTest, AtRest) {
  Started worker = StartVerb({"echo"});
  ExpectSmall(worker, "at_rest");
  Finish(worker);
}

TEST_F(WorkerMemoryTest, AfterABurstInBothDirections) {
  Started worker = StartVerb({"burst", std::to_string(kBurst)});
  Peer& peer = *worker.peer;
  WaitFor("the burst", [&] { return peer.seen().next() == kBurst; });
  EXPECT_GT(PrivateBytes(worker.pid), kBurst) << "nothing was acknowledged: it is kept";
  peer.link().SendAck(kBurst);
  ExpectSmall(worker, "after_output");
  peer.set_auto_ack(true);
  peer.link().SendStdin(1, std::string(kBurst, 'i'));
  WaitFor("the echo", [&] { return peer.seen().next() == 2 * kBurst + 1; });
  ExpectSmall(worker, "after_input");
  Finish(worker);
}

TEST_F(WorkerMemoryTest, AfterMuchOnStderr) {
  Started worker = StartVerb({"noise", std::to_string(4 << 20)});
  WaitFor("the noise", [&] { return worker.peer->seen().out == "noise made\n"; });
  worker.peer->link().SendAck(worker.peer->seen().next());
  ExpectSmall(worker, "after_stderr");
  Finish(worker);
}

}  // namespace
}  // namespace acpd::acp
