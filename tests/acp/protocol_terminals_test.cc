#include <gtest/gtest.h>

#include "acp/agent_connection.h"
#include "acp/link_input.h"
#include "tests/acp/protocol_connection_fixture.h"

// Terminals on acpd's side: they are passed on both ways as they are.
namespace acpd::acp {
namespace {

class TerminalRecorder : public Recorder {
 public:
  using Recorder::Recorder;
  void OnTerminalState(const TerminalState& state) override { states.push_back(state); }
  void OnTerminalOutput(const TerminalOutput& output) override {
    outputs += std::to_string(output.number) + " " + std::to_string(output.offset) + " " +
               std::string(output.bytes) + "\n";
  }
  void OnTerminalSnapshot(TerminalSnapshot snapshot) override {
    snapshots.push_back(std::move(snapshot));
  }

  std::vector<TerminalState> states;
  std::string outputs;
  std::vector<TerminalSnapshot> snapshots;
};

TEST_F(ConnectionTest, WhatIsAskedOfTerminalsGoesToTheWorker) {
  Start();
  worker->sent.clear();
  const TerminalOpen open{1, 2, {{"make"}, {{"A", "b"}}, "/src"}};
  connection->OpenTerminal(open.number, open.output_limit, open.spec);
  connection->WatchTerminal(3, 4);
  connection->ReadTerminal(5, 6);
  connection->KillTerminal(7);
  connection->ReleaseTerminal(8);
  EXPECT_EQ(worker->sent, (Record{"terminal open " + EncodeTerminalOpen(open), "terminal watch 3 4",
                                  "terminal read 5 6", "terminal kill 7", "terminal release 8"}));
}

TEST_F(ConnectionTest, WhatTheWorkerSaysOfTerminalsGoesToTheHandler) {
  TerminalRecorder terminals(loop.get_executor());
  connection = std::make_shared<AgentConnection>(loop.get_executor(), pool,
                                                 std::make_unique<FakeLink>(worker), &terminals,
                                                 AgentConnection::Options());
  connection->Start(3, 0);
  const TerminalState state{.number = 1, .known = true, .pid = 9};
  const TerminalSnapshot snapshot{.number = 3, .tag = 4, .known = true, .end = 1, .bytes = "x"};
  worker->Say(LinkEvent(state));
  worker->Say(LinkEvent(TerminalOutput{2, 100, "out"}));
  worker->Say(LinkEvent(snapshot));
  RunAll();
  EXPECT_EQ(terminals.states, std::vector<TerminalState>{state});
  EXPECT_EQ(terminals.outputs, "2 100 out\n");
  EXPECT_EQ(terminals.snapshots, std::vector<TerminalSnapshot>{snapshot});
  EXPECT_EQ(terminals.seen, Record());
  connection.reset();
  while (loop.poll() > 0) {
  }
}

// What the input makes of a frame; nothing when it needs more or skips it.
absl::StatusOr<std::optional<LinkEvent>> EventOf(LinkInput& input, const std::string& frame) {
  const std::span<char> room = input.Room();
  std::memcpy(room.data(), frame.data(), frame.size());
  input.Added(frame.size());
  return input.Next();
}

TEST(LinkInputTerminalsTest, FramesBecomeEvents) {
  LinkInput input;
  const TerminalState state{.number = 1, .known = true, .pid = 9};
  EXPECT_EQ(std::get<TerminalState>(**EventOf(input, EncodeTerminalState(state))), state);
  const TerminalOutput output{2, 100, "out"};
  EXPECT_EQ(std::get<TerminalOutput>(**EventOf(input, EncodeTerminalOutput(output))), output);
  const TerminalSnapshot snapshot{.number = 3, .tag = 4, .known = true, .end = 1, .bytes = "x"};
  EXPECT_EQ(std::get<TerminalSnapshot>(**EventOf(input, EncodeTerminalSnapshot(snapshot))),
            snapshot);
  for (FrameType type :
       {FrameType::kTerminalState, FrameType::kTerminalOutput, FrameType::kTerminalSnapshot}) {
    LinkInput other;
    EXPECT_EQ(EventOf(other, EncodeNumbered(type, 1)).status().code(),
              absl::StatusCode::kUnavailable);
  }
}

}  // namespace
}  // namespace acpd::acp
