// acpd as a process: how it starts, what it refuses, how it stops.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "tests/e2e/harness/client.h"
#include "tests/e2e/harness/daemon.h"
#include "tests/e2e/harness/leftovers.h"
#include "tests/e2e/harness/process.h"
#include "tests/e2e/harness/wait.h"
#include "tests/server/temp_folder.h"

namespace acpd::server {
namespace {

using e2e::ExitStatus;
using e2e::json;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

struct Output {
  ExitStatus exit;
  std::string out, err;
};

class DaemonRunTest : public testing::Test {
 protected:
  ~DaemonRunTest() override { EXPECT_THAT(leftovers_.WaitForNone(), IsEmpty()); }

  e2e::DaemonOptions Options(json extra = json::object()) {
    e2e::DaemonOptions options;
    options.agents["demo"] = {.command = "acpd-demo-agent", .args = {}, .env = {}};
    options.extra = std::move(extra);
    return options;
  }
  e2e::Daemon NewDaemon(json extra = json::object()) {
    return e2e::Daemon(&dir_, mark_, Options(std::move(extra)));
  }

  // Runs acpd to its end.
  Output Run(std::vector<std::string> args) {
    const std::string out = dir_.File("out"), err = dir_.File("err");
    std::filesystem::remove(err);
    std::FILE* out_file = std::fopen(out.c_str(), "we");
    e2e::Process process({.program = e2e::ProgramPath("acpd"),
                          .args = std::move(args),
                          .env = {{e2e::Leftovers::kMarkName, mark_}},
                          .stdin_fd = -1,
                          .stdout_fd = fileno(out_file),
                          .stderr_file = err});
    std::fclose(out_file);
    const auto status = process.Wait();
    EXPECT_TRUE(status.has_value()) << "acpd did not end";
    return {status.value_or(ExitStatus{}), TempFolder::Read(out), TempFolder::Read(err)};
  }
  // The lines of acpd's log.
  std::vector<json> Log(const e2e::Daemon& daemon) {
    std::vector<json> lines;
    std::istringstream in(daemon.Log());
    for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
    return lines;
  }
  bool WaitForLog(const e2e::Daemon& daemon, const std::string& text) {
    return e2e::WaitUntil([&] { return daemon.Log().find(text) != std::string::npos; });
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777;
  }

  TempFolder dir_;
  const std::string mark_ = e2e::Leftovers::NewMark();
  const e2e::Leftovers leftovers_{mark_, dir_.path()};
};

TEST_F(DaemonRunTest, ItServesOnEveryAddressAndStopsInOrder) {
  const std::string socket = dir_.File("s");
  e2e::Daemon daemon = NewDaemon({{"listen", {"127.0.0.1:0", "unix:" + socket}}});
  ASSERT_TRUE(daemon.Start());
  std::istringstream addresses(TempFolder::Read(dir_.File("addresses")));
  std::string tcp, unix_address, rest;
  std::getline(addresses, tcp);
  std::getline(addresses, unix_address);
  EXPECT_THAT(tcp, StartsWith("127.0.0.1:"));
  EXPECT_NE(tcp, "127.0.0.1:0");
  EXPECT_EQ(unix_address, "unix:" + socket);
  EXPECT_FALSE(std::getline(addresses, rest));
  EXPECT_EQ(ModeOf(socket), 0600u);
  EXPECT_EQ(ModeOf(dir_.File("state")), 0700u);
  EXPECT_EQ(ModeOf(dir_.File("run")), 0700u);

  e2e::AcceptedTurns accepted;
  for (const std::string& address : {tcp, unix_address}) {
    e2e::Client client(address, &accepted);
    const auto agents = client.Call(&e2e::Client::Stub::ListAgents, e2e::api::ListAgentsRequest());
    ASSERT_TRUE(agents.ok()) << address << agents.ToString();
    EXPECT_EQ(agents.response.agents_size(), 1);
  }

  EXPECT_EQ(daemon.Stop(seconds(10)), (ExitStatus{0, 0}));
  EXPECT_FALSE(std::filesystem::exists(dir_.File("addresses")));
  EXPECT_FALSE(std::filesystem::exists(socket));
  const std::vector<json> log = Log(daemon);
  ASSERT_GE(log.size(), 3u);
  for (const json& line : log) {
    EXPECT_TRUE(line.contains("ts") && line.contains("level") && line.contains("msg")) << line;
  }
  EXPECT_EQ(log.back()["msg"], "stopped");
}

TEST_F(DaemonRunTest, NobodyElseMayReadWhatItMakes) {
  e2e::Daemon daemon = NewDaemon();
  ASSERT_TRUE(daemon.Start());
  e2e::AcceptedTurns accepted;
  e2e::Client client(daemon.address(), &accepted);
  const auto chat = client.Say("shop", "", "hello");
  EXPECT_TRUE(chat.ok()) << chat.ToString();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_.File("state"))) {
    EXPECT_EQ(ModeOf(entry.path()) & 077, 0u) << entry.path();
  }
  EXPECT_EQ(daemon.Stop(), (ExitStatus{0, 0}));
}

TEST_F(DaemonRunTest, ItStopsInTimeWhileATurnRuns) {
  e2e::Daemon daemon = NewDaemon();
  ASSERT_TRUE(daemon.Start());
  e2e::AcceptedTurns accepted;
  e2e::Client client(daemon.address(), &accepted);
  const auto chat = client.Begin("shop", "", "SLOW 1000 1000");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const auto stream = client.SubscribeSession(chat.response.session_id());
  ASSERT_TRUE(stream->WaitFor(e2e::HasCaughtUp()));
  EXPECT_EQ(daemon.Stop(seconds(20)), (ExitStatus{0, 0}));
  EXPECT_TRUE(stream->WaitFor(e2e::EndOf(chat.response.turn_id())));
  EXPECT_THAT(leftovers_.WaitForNone(), IsEmpty());
}

// Stops that take their time.
class SlowStopTest : public DaemonRunTest {
 protected:
  // Its agent never answers and does not mind SIGTERM: a stop in order takes two graces.
  e2e::DaemonOptions DeafAgent(const std::string& stop_grace) {
    e2e::DaemonOptions options;
    options.agents["deaf"] = {
        .command = "/bin/sh",
        .args = {"-c", "trap '' TERM; read line; : > " + asked_ + "; while :; do sleep 1; done"},
        .env = {},
        .extra = {{"stop_grace", stop_grace}}};
    options.extra = {{"shutdown", {{"timeout", "10m"}}}};
    return options;
  }
  // A Chat whose agent runs, and has been asked something.
  e2e::Called<e2e::api::ChatResponse> StartAgent(e2e::Client& client) {
    auto chat = client.Chat(e2e::ChatOf("shop", "", "hello", e2e::api::WAIT_FOR_ACCEPTED));
    EXPECT_TRUE(chat.ok()) << chat.ToString();
    EXPECT_TRUE(e2e::WaitUntil([this] { return std::filesystem::exists(asked_); }));
    return chat;
  }

 private:
  const std::string asked_ = dir_.File("asked");
};

// As a Ctrl-C in a terminal and the SIGTERM of the script that it ended: one wish, told twice.
TEST_F(SlowStopTest, SignalsThatComeTogetherStopItInOrder) {
  e2e::Daemon daemon(&dir_, mark_, DeafAgent("300ms"));
  ASSERT_TRUE(daemon.Start());
  e2e::AcceptedTurns accepted;
  e2e::Client client(daemon.address(), &accepted);
  StartAgent(client);
  kill(daemon.pid(), SIGINT);
  EXPECT_EQ(daemon.Stop(), (ExitStatus{0, 0}));
  EXPECT_EQ(Log(daemon).back()["msg"], "stopped");
  EXPECT_THAT(leftovers_.Processes(), IsEmpty());
}

TEST_F(SlowStopTest, ASecondSignalThatComesLaterEndsItAtOnce) {
  e2e::Daemon daemon(&dir_, mark_, DeafAgent("1m"));
  ASSERT_TRUE(daemon.Start());
  e2e::AcceptedTurns accepted;
  e2e::Client client(daemon.address(), &accepted);
  const auto chat = StartAgent(client);
  kill(daemon.pid(), SIGTERM);
  ASSERT_TRUE(WaitForLog(daemon, "\"stopping\""));
  // Those of the first second are the same wish; then one ends it. (Nobody has reaped it yet, so
  // its pid is nobody else's.)
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(e2e::WaitUntil([&daemon] {
    kill(daemon.pid(), SIGTERM);
    return !e2e::IsAlive(daemon.pid());
  }));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(10)) << "a stop in order takes 2 min";
  EXPECT_EQ(daemon.Stop(seconds(5)), (ExitStatus{128 + SIGTERM, 0}));

  // The next start ends what was left; nothing was lost.
  daemon.options().agents["deaf"].extra["stop_grace"] = "100ms";
  ASSERT_TRUE(daemon.Start());
  e2e::Client next(daemon.address(), &accepted);
  EXPECT_TRUE(next.GetTurn(chat.response.turn_id()).ok());
  EXPECT_EQ(daemon.Stop(), (ExitStatus{0, 0}));
}

TEST_F(DaemonRunTest, ASecondAcpdNamesTheHolder) {
  e2e::Daemon daemon = NewDaemon();
  ASSERT_TRUE(daemon.Start());
  const Output second =
      Run({"--config", dir_.File("acpd.json"), "--address-file", dir_.File("addresses")});
  EXPECT_EQ(second.exit, (ExitStatus{1, 0}));
  EXPECT_THAT(second.err, AllOf(HasSubstr("pid " + std::to_string(daemon.pid())),
                                HasSubstr(dir_.File("state"))));
  EXPECT_TRUE(std::filesystem::exists(dir_.File("addresses")));  // it is still the first one's
  EXPECT_EQ(daemon.Stop(), (ExitStatus{0, 0}));
}

TEST_F(DaemonRunTest, AnAddressInUseIsRefusedWithASentence) {
  const std::string socket = dir_.File("s");
  e2e::Daemon daemon = NewDaemon({{"listen", {"127.0.0.1:0", "unix:" + socket}}});
  ASSERT_TRUE(daemon.Start());
  std::filesystem::create_directory(dir_.File("other"));
  for (const std::string& taken : {daemon.address(), "unix:" + socket}) {
    const Output second = Run(
        {"--config", dir_.File("acpd.json"), "--listen", taken, "--state-dir", dir_.File("other")});
    EXPECT_EQ(second.exit, (ExitStatus{1, 0}));
    EXPECT_THAT(second.err, HasSubstr(taken));
  }
  e2e::AcceptedTurns accepted;
  e2e::Client client("unix:" + socket, &accepted);  // the first one still has it
  EXPECT_TRUE(client.Call(&e2e::Client::Stub::ListAgents, e2e::api::ListAgentsRequest()).ok());
  EXPECT_EQ(daemon.Stop(), (ExitStatus{0, 0}));
}

TEST_F(DaemonRunTest, ItStartsAgainAfterAKill) {
  e2e::Daemon daemon = NewDaemon({{"listen", {"unix:" + dir_.File("s")}}});
  ASSERT_TRUE(daemon.Start());
  daemon.Kill();
  EXPECT_TRUE(std::filesystem::exists(dir_.File("s")));  // stale
  ASSERT_TRUE(daemon.Start());
  EXPECT_EQ(daemon.Stop(), (ExitStatus{0, 0}));
}

TEST_F(DaemonRunTest, AConfigIsChecked) {
  const std::string good =
      dir_.Write("good.json", R"({"agent_servers": {"demo": {"extends": "demo"}}})");
  const Output ok = Run({"--config", good, "--check-config"});
  EXPECT_EQ(ok.exit, (ExitStatus{0, 0}));
  EXPECT_EQ(ok.out, "OK\n");
  EXPECT_EQ(ok.err, "");
  const std::string bad = dir_.Write("bad.json", "{\n  \"turn_silence\": \"5m\"\n}");
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--check-config"}, {}}) {
    std::vector<std::string> args = {"--config", bad};
    args.insert(args.end(), more.begin(), more.end());
    const Output refused = Run(args);
    EXPECT_EQ(refused.exit, (ExitStatus{2, 0}));
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err,
                StartsWith("acpd: " + bad +
                           ":2: unknown key \"turn_silence\"; the nearest known key is \""));
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1);
  }
}

TEST_F(DaemonRunTest, TheExampleConfigIsGood) {
  const Output checked =
      Run({"--config", ACPD_SOURCE_DIR "/deploy/acpd.example.json", "--check-config"});
  EXPECT_EQ(checked.out, "OK\n");
  EXPECT_EQ(checked.err, "");
}

TEST_F(DaemonRunTest, FlagsAreChecked) {
  EXPECT_EQ(Run({"--version"}).out, "acpd " ACPD_VERSION "\n");
  const Output unknown = Run({"--no-such-flag"});
  EXPECT_EQ(unknown.exit, (ExitStatus{2, 0}));
  EXPECT_THAT(unknown.err, HasSubstr("--no-such-flag"));
  const Output open = Run({"--listen", "0.0.0.0:0"});
  EXPECT_EQ(open.exit, (ExitStatus{2, 0}));
  EXPECT_THAT(open.err, HasSubstr("allow_insecure"));
}

TEST_F(DaemonRunTest, AStateDirThatIsAFileIsRefused) {
  const std::string file = dir_.Write("file", "");
  const std::string config = dir_.Write(
      "c.json", "{\"listen\": [\"127.0.0.1:0\"], \"runtime_dir\": \"" + dir_.File("run") + "\"}");
  const Output refused = Run({"--config", config, "--state-dir", file});
  EXPECT_EQ(refused.exit, (ExitStatus{1, 0}));
  EXPECT_EQ(refused.err, "acpd: state_dir: cannot use the folder " + file + ": it is no folder\n");
}

TEST_F(DaemonRunTest, AnAddressFileThatCannotBeWrittenEndsTheStart) {
  const std::string config = dir_.Write(
      "c.json", "{\"listen\": [\"127.0.0.1:0\"], \"runtime_dir\": \"" + dir_.File("run") + "\"}");
  const Output refused = Run(
      {"--config", config, "--state-dir", dir_.File("state"), "--address-file", dir_.File("no/a")});
  EXPECT_EQ(refused.exit, (ExitStatus{1, 0}));
  EXPECT_THAT(refused.err, HasSubstr("acpd: cannot write " + dir_.File("no/a")));
}

}  // namespace
}  // namespace acpd::server
