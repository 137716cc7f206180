#ifndef ACPD_TESTS_FAKES_FAKES_TEST_BASE_H_
#define ACPD_TESTS_FAKES_FAKES_TEST_BASE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <string>

#include "tests/e2e/harness/barriers.h"
#include "tests/e2e/harness/fake_agent_log.h"
#include "tests/e2e/harness/leftovers.h"
#include "tests/e2e/harness/temp_dir.h"
#include "tests/fakes/agent_process.h"

namespace acpd::fakes {

// A folder, a log and barriers of the test's own, and the environment that tells agents of them.
// After each test nothing runs that carries the test's mark.
class FakesTest : public ::testing::Test {
 protected:
  FakesTest()
      : log_(dir_ / "agent.log"),
        barriers_(dir_.MakeFolder("barriers")),
        leftovers_(mark_, dir_.path()),
        env_{{"FAKE_AGENT_LOG", log_.path()},
             {"FAKE_AGENT_BARRIERS", barriers_.folder()},
             {"ACPD_TEST_WIRE", ""},  // what these tests send is not acpd's
             {e2e::Leftovers::kMarkName, mark_}} {}

  void TearDown() override {
    EXPECT_THAT(leftovers_.WaitForNone(), ::testing::IsEmpty());
    leftovers_.Kill();
    EXPECT_THAT(e2e::ZombiesOf(::getpid()), ::testing::IsEmpty());
  }

  void UseScript(const json& script) { env_["FAKE_AGENT_INLINE"] = script.dump(); }
  void KeepState() { env_["FAKE_AGENT_STATE"] = dir_.MakeFolder("state"); }

  e2e::TempDir dir_;
  std::string mark_ = e2e::Leftovers::NewMark();
  e2e::FakeAgentLog log_;
  e2e::Barriers barriers_;
  e2e::Leftovers leftovers_;
  std::map<std::string, std::string> env_;
};

inline std::string StopReason(const json& answer) {
  return answer.is_object() && answer.contains("result")
             ? answer["result"].value("stopReason", "none")
             : "no result: " + answer.dump();
}

inline json ErrorCode(const json& answer) {
  return answer.is_object() && answer.contains("error") ? answer["error"]["code"] : json();
}

// The answer to a permission request.
inline json Selected(const json& id, const char* option) {
  return {{"jsonrpc", "2.0"},
          {"id", id},
          {"result", {{"outcome", {{"outcome", "selected"}, {"optionId", option}}}}}};
}

}  // namespace acpd::fakes

#endif  // ACPD_TESTS_FAKES_FAKES_TEST_BASE_H_
