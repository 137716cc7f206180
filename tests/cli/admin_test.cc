// acpctl info, drain, stop and wirelog.

#include "tests/cli/acpctl.h"

namespace acpd::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class AdminCommandsTest : public CliTest {
 protected:
  void SetUp() override { StartDaemon(); }
  // A session whose turn stands at the barrier "b".
  std::string BeginTurn() {
    const auto chat = client().Begin("shop", "", Scripted({{{"barrier", "b"}}}));
    EXPECT_TRUE(chat.ok()) << chat.ToString();
    return chat.response.session_id();
  }
};

TEST_F(AdminCommandsTest, InfoIsForPeople) {
  BeginTurn();
  const auto info = Run(0, {"info"});
  EXPECT_EQ(info->Err(), "");
  EXPECT_THAT(LinesOf(info->Out()),
              AllOf(Contains(AllOf(StartsWith("acpd "), HasSubstr(ACPD_VERSION),
                                   HasSubstr("pid " + std::to_string(daemon().pid())))),
                    Contains("turns      1 running, 0 queued"), Contains("sessions   1 busy"),
                    Contains("workers    1; when acpd stops they are stopped"),
                    Contains("questions  0"), Contains("limit      max_line 32MiB")));
}

TEST_F(AdminCommandsTest, InfoAsJson) {
  const json info = json::parse(Run(0, {"--json", "info"})->Out());
  EXPECT_EQ(info["version"], ACPD_VERSION);
  EXPECT_EQ(info["pid"], std::to_string(daemon().pid()));
  EXPECT_EQ(info["limits"]["max_queued_turns"], "32");
  EXPECT_EQ(info["shutdown_workers"], "WORKERS_AT_SHUTDOWN_STOP");
}

TEST_F(AdminCommandsTest, DrainWaitsOrSaysWhatIsLeft) {
  const std::string session = BeginTurn();
  const auto not_yet = Run(1, {"--timeout", "1", "drain"});
  EXPECT_EQ(not_yet->Out(), "");
  EXPECT_THAT(not_yet->Err(), AllOf(HasSubstr("1 running, 0 queued"), HasSubstr("drain --off")));
  EXPECT_THAT(Run(0, {"info"})->Out(), HasSubstr("draining"));
  EXPECT_THAT(Run(3, {"chat", "hello"})->Err(), HasSubstr("DRAINING"));

  const auto drain = Start({"--json", "drain"});
  barriers().Release("b");
  EXPECT_EQ(drain->Wait(), Exited(0)) << drain->Err();
  EXPECT_EQ(json::parse(drain->Out())["drained"], true);
  Run(0, {"drain", "--off"});
  Run(0, {"chat", "-p", "shop", "-s", session, "hello"});
}

TEST_F(AdminCommandsTest, WireLogIsSwitched) {
  const std::string session = BeginTurn();
  Run(0, {"wirelog", session});
  EXPECT_THAT(Run(0, {"info"})->Out(), HasSubstr("wirelog    " + session));
  EXPECT_EQ(Run(0, {"--json", "wirelog", session, "--off"})->Out(), "{}\n");
  EXPECT_THAT(Run(3, {"wirelog", "nobody"})->Err(), HasSubstr("SESSION_NOT_FOUND"));
  Run(2, {"wirelog"});
}

TEST_F(AdminCommandsTest, StopEndsAcpdAndItsWorkers) {
  BeginTurn();
  const auto stop = Run(0, {"stop", "--workers"});
  EXPECT_EQ(stop->Out() + stop->Err(), "");
  EXPECT_TRUE(e2e::WaitUntil([this] { return !e2e::IsAlive(daemon().pid()); }));
  EXPECT_THAT(leftovers().Processes(), IsEmpty());
  EXPECT_EQ(daemon().Stop(), Exited(0));
}

TEST_F(AdminCommandsTest, StopSaysWhenItTakesLonger) {
  // It neither confirms a cancel nor goes by itself.
  SetFake("cancel_grace", "1m");
  RestartDaemon();
  const auto chat =
      client().Begin("shop", "", Scripted({{{"on_cancel", "ignore"}}, {{"barrier", "b"}}}));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const auto stop = Run(1, {"--timeout", "1", "stop"});
  EXPECT_THAT(stop->Err(), HasSubstr("acpd has not gone yet"));
  EXPECT_THAT(Run(4, {"stop"})->Err(), HasSubstr("SHUTTING_DOWN"));
  barriers().Release("b");
  EXPECT_EQ(daemon().Stop(), Exited(0));
}

TEST_F(AdminCommandsTest, NobodyThereIsFour) {
  for (const char* command : {"info", "drain", "stop"})
    EXPECT_THAT(Run(4, {"--address", "127.0.0.1:1", command})->Err(), HasSubstr("cannot reach"));
}

}  // namespace
}  // namespace acpd::cli
