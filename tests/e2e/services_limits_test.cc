// The limits of what acpd does for agents, as the config and its defaults have them: at, and over.

#include <filesystem>

#include "tests/e2e/services_support.h"

namespace acpd::e2e {
namespace {

constexpr int kInvalidParams = -32602;
constexpr int kInternalError = -32603;

json ExpectCode(int id, int code, const std::string& part) {
  return Step("expect_answer", {{"id", id}, {"code", code}, {"message", part}});
}

json TerminalOf(int number) { return {{"terminalId", "term-" + std::to_string(number)}}; }

TEST_F(ServicesTest, ASessionHas32Terminals) {
  StartDaemon();
  json steps = json::array();
  int id = 0;  // the number of a terminal is that of the request that made it
  const auto ask = [&](const std::string& method, json params, json answer) {
    steps.push_back(Ask(++id, method, std::move(params)));
    answer["id"] = id;
    steps.push_back(Step("expect_answer", std::move(answer)));
  };
  const json run = Shell("exec sleep 1000");
  for (int i = 1; i <= 32; ++i) ask("terminal/create", run, {{"result", TerminalOf(i)}});
  ask("terminal/create", run, {{"code", kInternalError}, {"message", "limits.max_terminals"}});
  ask("terminal/release", TerminalOf(7), {{"result", json::object()}});
  ask("terminal/create", run, {{"result", TerminalOf(35)}});
  ask("terminal/create", run, {{"code", kInternalError}, {"message", "32 terminals already"}});
  const std::string turn = Accept("", steps);
  ExpectCompleted(turn);
  const std::string session = SessionOf(turn);
  const auto exits = [&] {
    int count = 0;
    for (const Event& event : EventsOf(session)) {
      count += event.has_terminal_output() && event.terminal_output().exited();
    }
    return count;
  };
  EXPECT_EQ(exits(), 1);
  // Another session has its own.
  ExpectCompleted(Accept("", Steps(Ask(1, "terminal/create", run), Expect(1, Terminal()))));
  ASSERT_TRUE(client().CloseSession(session).ok());
  EXPECT_EQ(exits(), 33);
}

TEST_F(ServicesTest, OutputIsKeptUpToTheConfigsLimit) {
  options().extra["limits"] = {{"max_terminal_output", "1KiB"}};
  StartDaemon();
  const std::string turn =
      Accept("", Steps(Ask(1, "terminal/create", Shell("printf %01024d 5")),
                       Expect(1, TerminalOf(1)), Ask(2, "terminal/wait_for_exit", TerminalOf(1)),
                       Expect(2, {{"exitCode", 0}}), Ask(3, "terminal/output", TerminalOf(1)),
                       Expect(3, {{"output", std::string(1023, '0') + "5"}, {"truncated", false}}),
                       Ask(4, "terminal/create", Shell("printf 1%01024d 5")),
                       Expect(4, TerminalOf(4)), Ask(5, "terminal/wait_for_exit", TerminalOf(4)),
                       Expect(5, {{"exitCode", 0}}), Ask(6, "terminal/output", TerminalOf(4)),
                       Expect(6, {{"output", std::string(1023, '0') + "5"}, {"truncated", true}})));
  ExpectCompleted(turn);
  std::string data;
  for (const Event& event : EventsOfTurn(turn)) {
    if (event.has_terminal_output()) data += event.terminal_output().data();
  }
  EXPECT_EQ(data.size(), 1024u + 1025u) << "readers see all of it";
}

TEST_F(ServicesTest, FilesAreReadAndWrittenUpToTheConfigsLimits) {
  options().extra["limits"] = {{"max_file_read", "2KiB"}, {"max_file_write", "1KiB"}};
  StartDaemon();
  std::filesystem::create_directories(Path(""));
  WriteFile(Path("at"), std::string(2048, 'a'));
  WriteFile(Path("over"), std::string(2049, 'a'));
  const std::string turn =
      Accept("", Steps(Ask(1, "fs/read_text_file", {{"path", Path("at")}}),
                       Expect(1, {{"content", std::string(2048, 'a')}}),
                       Ask(2, "fs/read_text_file", {{"path", Path("over")}}),
                       ExpectCode(2, kInvalidParams, "2048 bytes"),
                       Ask(3, "fs/write_text_file",
                           {{"path", Path("new")}, {"content", std::string(1024, 'b')}}),
                       Expect(3, json::object()),
                       Ask(4, "fs/write_text_file",
                           {{"path", Path("new")}, {"content", std::string(1025, 'c')}}),
                       ExpectCode(4, kInvalidParams, "1024 of one write")));
  ExpectCompleted(turn);
  EXPECT_EQ(ReadFile(Path("new")), std::string(1024, 'b'));
  std::vector<std::string> reasons;
  for (const Event& event : EventsOfTurn(turn)) {
    if (event.has_file_access()) reasons.push_back(event.file_access().error().reason());
  }
  EXPECT_EQ(reasons, (std::vector<std::string>{"", "MESSAGE_TOO_LARGE", "", "MESSAGE_TOO_LARGE"}));
}

}  // namespace
}  // namespace acpd::e2e
