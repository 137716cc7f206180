// What acpd does for an agent, files and commands, as the readers of its events see it, and that
// neither SIGKILL of acpd nor of an agent leaves a command behind or does one twice.

#include <filesystem>

#include "tests/e2e/services_support.h"

namespace acpd::e2e {
namespace {

using Result = api::TurnResult;

TEST_F(ServicesTest, ReadersSeeFilesAndCommands) {
  StartDaemon();
  const std::string turn = Accept(
      "", Steps(Ask(1, "fs/write_text_file", {{"path", Path("a.txt")}, {"content", "text"}}),
                Expect(1, json::object()), Ask(2, "fs/read_text_file", {{"path", Path("none")}}),
                Step("expect_answer", {{"id", 2}, {"code", -32002}})));
  ExpectCompleted(turn);
  std::vector<api::FileAccess> accesses;
  for (const Event& event : EventsOfTurn(turn)) {
    if (event.has_file_access()) accesses.push_back(event.file_access());
  }
  ASSERT_EQ(accesses.size(), 2u);
  EXPECT_TRUE(accesses[0].write());
  EXPECT_EQ(accesses[0].path(), Path("a.txt"));
  EXPECT_EQ(accesses[0].bytes(), 4u);
  EXPECT_FALSE(accesses[0].has_error());
  EXPECT_FALSE(accesses[1].write());
  EXPECT_EQ(accesses[1].error().agent_code(), -32002);
  EXPECT_EQ(accesses[1].error().reason(), "CWD_NOT_FOUND");
  EXPECT_EQ(ReadFile(Path("a.txt")), "text");
}

TEST_F(ServicesTest, MuchOutputComesInPiecesAndInOrder) {
  StartDaemon();
  const std::string turn = Accept(
      "", Steps(Ask(1, "terminal/create", Shell("seq 1 20000; exit 2")), Expect(1, Terminal()),
                Ask(2, "terminal/wait_for_exit", Terminal()), Expect(2, {{"exitCode", 2}}),
                Ask(3, "terminal/release", Terminal()), Expect(3, json::object())));
  ExpectCompleted(turn);
  const Shown shown = ShownOf(SessionOf(turn));
  EXPECT_EQ(shown.commands, "/bin/sh -c 'seq 1 20000; exit 2'");
  EXPECT_EQ(shown.exits, 1);
  EXPECT_EQ(shown.exit_code, 2);
  EXPECT_TRUE(shown.data.ends_with("\n19999\n20000\n"));
  if (shown.truncated) return;  // what acpd was too slow for
  std::string all;
  for (int i = 1; i <= 20000; ++i) all += std::to_string(i) + "\n";
  EXPECT_EQ(shown.data, all);
}

TEST_F(ServicesTest, AWaitOutlivesTheKillOfAcpd) {
  StartDaemon();
  const std::string turn = Accept(
      "", Steps(Ask(1, "terminal/create",
                    Shell("echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; exit 9")),
                Expect(1, Terminal()), Ask(2, "terminal/wait_for_exit", Terminal()),
                Step("log", "waiting"), Expect(2, {{"exitCode", 9}}),
                Ask(3, "terminal/output", Terminal()), Expect(3, {{"output", "one\ntwo\n"}})));
  const std::string session = SessionOf(turn);
  ASSERT_TRUE(WaitUntil([&] { return ShownOf(session).data == "one\n"; }));
  for (int i = 0; i < 3; ++i) KillAndRestartDaemon();
  Touch(Path("go"));
  ExpectCompleted(turn);
  const Shown shown = ShownOf(session);
  EXPECT_EQ(shown.data, "one\ntwo\n");
  EXPECT_EQ(shown.exits, 1);
  EXPECT_EQ(shown.exit_code, 9);
  EXPECT_FALSE(shown.truncated);
}

TEST_F(ServicesTest, WhatWasDoneWhileAcpdWasAwayIsToldOnce) {
  StartDaemon();
  const std::string turn = Accept(
      "",
      Steps(Ask(1, "terminal/create",
                Shell("echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; touch gone")),
            Expect(1, Terminal()), Ask(2, "terminal/wait_for_exit", Terminal()),
            Expect(2, {{"exitCode", 0}}), Ask(3, "terminal/release", Terminal()),
            Expect(3, json::object())));
  const std::string session = SessionOf(turn);
  ASSERT_TRUE(WaitUntil([&] { return ShownOf(session).data == "one\n"; }));
  daemon().Kill();
  Touch(Path("go"));
  ASSERT_TRUE(WaitUntil([&] { return std::filesystem::exists(Path("gone")); }));
  StartDaemon();
  ExpectCompleted(turn);
  const Shown shown = ShownOf(session);
  EXPECT_EQ(shown.data, "one\ntwo\n");
  EXPECT_EQ(shown.exits, 1);
}

TEST_F(ServicesTest, AWriteThatAKillInterruptsIsDone) {
  StartDaemon();
  std::filesystem::create_directories(Path(""));
  // Nothing is found in it for a while: what comes behind the read waits meanwhile.
  Touch(Path("slow"));
  std::filesystem::resize_file(Path("slow"), 1000u << 20);
  const std::string turn = Accept(
      "", Steps(Ask(1, "fs/read_text_file", {{"path", Path("slow")}, {"line", 99}, {"limit", 1}}),
                Ask(2, "fs/write_text_file", {{"path", Path("a.txt")}, {"content", "text"}}),
                Step("log", "asked"), Expect(1, {{"content", ""}}), Expect(2, json::object())));
  ASSERT_TRUE(WaitUntil([&] { return !log().Events("note").empty(); }));
  KillAndRestartDaemon();
  ExpectCompleted(turn);
  EXPECT_EQ(ReadFile(Path("a.txt")), "text");
}

TEST_F(ServicesTest, ADeadAgentLeavesNoCommand) {
  StartDaemon();
  const std::string turn =
      Accept("", Steps(Ask(1, "terminal/create",
                           Shell("setsid sleep 1000 & echo $!; trap '' TERM; sleep 1000")),
                       Expect(1, Terminal()), Ask(2, "terminal/wait_for_exit", Terminal()),
                       Expect(2, json::object())));
  const std::string session = SessionOf(turn);
  ASSERT_TRUE(WaitUntil([&] { return !ShownOf(session).data.empty(); }));
  const pid_t sleeper = std::stoi(ShownOf(session).data);
  EXPECT_TRUE(IsAlive(sleeper));
  KillAgent();
  EXPECT_EQ(WaitForTurn(turn).result().error().reason(), "AGENT_EXITED");
  EXPECT_FALSE(IsAlive(sleeper));
  const Shown shown = ShownOf(session);
  EXPECT_EQ(shown.exits, 1);
  EXPECT_NE(shown.signal, "");
}

TEST_F(ServicesTest, ALostWorkerAndAcpdLeaveNoCommand) {
  StartDaemon();
  const std::string turn = Accept(
      "", Steps(Ask(1, "terminal/create", Shell("echo $$; exec sleep 1000")), Expect(1, Terminal()),
                Ask(2, "terminal/wait_for_exit", Terminal()), Expect(2, json::object())));
  const std::string session = SessionOf(turn);
  ASSERT_TRUE(WaitUntil([&] { return !ShownOf(session).data.empty(); }));
  const pid_t sleeper = std::stoi(ShownOf(session).data);
  LoseAllAndRestart();
  EXPECT_EQ(WaitForTurn(turn).result().outcome(), Result::OUTCOME_INTERRUPTED);
  EXPECT_TRUE(WaitUntil([&] { return !IsAlive(sleeper); }));
  ASSERT_TRUE(WaitUntil([&] { return ShownOf(session).exits == 1; }));
  EXPECT_EQ(ShownOf(session).signal, "SIGKILL");
}

// The agent confirms the cancel only once its wait has an end.
TEST_F(ServicesTest, ACancelEndsTheWaitForACommand) {
  StartDaemon();
  const std::string turn =
      Accept("", Steps(Step("on_cancel", "ignore"),
                       Ask(1, "terminal/create", Shell("echo $$; exec sleep 1000")),
                       Expect(1, Terminal()), Ask(2, "terminal/wait_for_exit", Terminal()),
                       Step("log", "waiting"), Step("expect_answer", {{"id", 2}, {"code", -32800}}),
                       Ask(3, "terminal/release", Terminal()), Expect(3, json::object()),
                       Reply("cancelled")));
  const std::string session = SessionOf(turn);
  ASSERT_TRUE(
      WaitUntil([&] { return !log().Events("note").empty() && !ShownOf(session).data.empty(); }));
  const pid_t sleeper = std::stoi(ShownOf(session).data);
  const auto cancelled = client().CancelSession(session);
  ASSERT_TRUE(cancelled.ok()) << cancelled.ToString();
  EXPECT_EQ(cancelled.response.outcome(), api::CancelResponse::OUTCOME_CANCELLED);
  const api::Turn ended = WaitForTurn(turn);
  EXPECT_EQ(ended.result().outcome(), Result::OUTCOME_CANCELLED);
  EXPECT_EQ(ended.result().stop_reason(), "cancelled") << ended.result().error().agent_data();
  EXPECT_FALSE(IsAlive(sleeper));
  EXPECT_TRUE(IsAlive(log().Pids().back()));
  EXPECT_EQ(CountEnds(turn), 1u);
}

TEST_F(ServicesTest, AnIdleAgentsCommandRunsToItsEnd) {
  SetFake("idle_timeout", "200ms");
  StartDaemon();
  const std::string turn =
      Accept("", Steps(Ask(1, "terminal/create", Shell("sleep 2; exit 4")), Expect(1, Terminal())));
  ExpectCompleted(turn);
  const std::string session = SessionOf(turn);
  const auto stream = client().SubscribeSession(session);
  const auto closed =
      stream->WaitFor([](const Event& event) { return event.has_session_closed(); });
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->session_closed().reason(), api::SessionClosed::REASON_IDLE);
  EXPECT_EQ(ShownOf(session).exits, 1);
  EXPECT_EQ(ShownOf(session).exit_code, 4);
}

TEST_F(ServicesTest, ACommandEndsWithItsSession) {
  StartDaemon();
  const std::string turn = Accept(
      "",
      Steps(Ask(1, "terminal/create", Shell("echo $$; exec sleep 1000")), Expect(1, Terminal())));
  ExpectCompleted(turn);
  const std::string session = SessionOf(turn);
  ASSERT_TRUE(WaitUntil([&] { return !ShownOf(session).data.empty(); }));
  const pid_t sleeper = std::stoi(ShownOf(session).data);
  EXPECT_TRUE(IsAlive(sleeper)) << "it outlives its turn";
  api::CloseSessionRequest request;
  request.set_session_id(session);
  ASSERT_TRUE(client().Call(&Client::Stub::CloseSession, request, kPatience).ok());
  EXPECT_FALSE(IsAlive(sleeper));
  EXPECT_EQ(ShownOf(session).exits, 1);
}

}  // namespace
}  // namespace acpd::e2e
