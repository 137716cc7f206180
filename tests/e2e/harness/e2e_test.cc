#include "tests/e2e/harness/e2e_test.h"

#include <unistd.h>

#include <cstdio>
#include <stdexcept>

namespace acpd::e2e {

using ::testing::IsEmpty;

E2eTest::E2eTest()
    : leftovers_(mark_, dir_.path()),
      log_(dir_ / "agent.log"),
      barriers_(dir_.MakeFolder("barriers")),
      daemon_(&dir_, mark_, {}) {
  options().agents["fake"] = FakeAgent();
  options().agents["demo"] = {.command = "acpd-demo-agent", .args = {}, .env = {}};
  options().agents["burst"] = {.command = "burst_agent", .args = {}, .env = {}};
  options().default_agent = "fake";
}

AgentSpec E2eTest::FakeAgent(const json& script) {
  // A file, since acpd would take a ${...} in the environment as its own.
  const std::string path = dir_ / ("script-" + std::to_string(++scripts_) + ".json");
  WriteFile(path, script.dump());
  return {.command = "fake_agent",
          .args = {},
          .env = {{"FAKE_AGENT_SCRIPT", path},
                  {"FAKE_AGENT_LOG", log_.path()},
                  {"FAKE_AGENT_BARRIERS", barriers_.folder()},
                  {"FAKE_AGENT_STATE", dir_.MakeFolder("agent-state")}}};
}

void E2eTest::StartDaemon() {
  // An exception ends the test from here, too.
  if (!daemon_.Start()) throw std::runtime_error("acpd did not start");
  client_ = NewClient();
}

void E2eTest::RestartDaemon() {
  client_.reset();
  EXPECT_EQ(daemon_.Stop(), (ExitStatus{0, 0}));
  StartDaemon();
}

void E2eTest::KillAndRestartDaemon() {
  client_.reset();
  daemon_.Kill();
  StartDaemon();
}

std::unique_ptr<Client> E2eTest::NewClient() {
  return std::make_unique<Client>(daemon_.address(), &accepted_);
}

std::vector<Event> E2eTest::AllEvents() {
  api::SubscribeProgressRequest request;
  request.set_everything(true);
  request.set_after_position(0);
  request.set_replay_only(true);
  const auto stream = client_->Subscribe(request);
  const auto end = stream->WaitForEnd();
  EXPECT_TRUE(end && end->ok()) << (end ? end->error_message() : "the stream did not end");
  return stream->Events();
}

void E2eTest::EndAllTurns() {
  api::CancelRequest request;
  request.set_everything(true);
  request.mutable_grace();  // 0: at once
  const auto cancelled = client_->Cancel(request);
  EXPECT_TRUE(cancelled.ok()) << cancelled.ToString();
}

void E2eTest::CheckInvariants() {
  EndAllTurns();
  const std::vector<Event> events = AllEvents();
  EXPECT_THAT(CheckTurnsEndOnce(events, accepted_.All()), IsEmpty());
  EXPECT_THAT(CheckNoHoleNoRepeat(events), IsEmpty());
  const pid_t acpd = daemon_.pid();
  EXPECT_TRUE(WaitUntil([acpd] { return ZombiesOf(acpd).empty(); })) << "acpd leaves zombies";
}

void E2eTest::TearDown() {
  if (daemon_.running()) {
    if (client_ != nullptr) CheckInvariants();
    client_.reset();
    // Workers that acpd keeps are ended by one that does not.
    if (options().extra.contains("shutdown")) {
      EXPECT_EQ(daemon_.Stop(), (ExitStatus{0, 0}));
      options().extra.erase("shutdown");
      EXPECT_TRUE(daemon_.Start());
    }
    EXPECT_EQ(daemon_.Stop(), (ExitStatus{0, 0})) << "acpd did not stop well";
  }
  EXPECT_THAT(leftovers_.WaitForNone(), IsEmpty());
  leftovers_.Kill();
  EXPECT_THAT(ZombiesOf(::getpid()), IsEmpty());
  if (HasFailure()) std::fprintf(stderr, "---- acpd's log:\n%s----\n", daemon_.Log().c_str());
}

std::string Scripted(const json& steps) { return "!" + steps.dump(); }

}  // namespace acpd::e2e
