#ifndef ACPD_TESTS_FAKES_DEFAULTS_H_
#define ACPD_TESTS_FAKES_DEFAULTS_H_

#include <string>

#include "tests/fakes/agent.h"

// What the fake agent does when its script says nothing: a good agent's behaviour, as steps.
namespace acpd::fakes {

// The steps that answer this request.
Steps DefaultSteps(FakeAgent* agent, const Run& run);

// option_defaults.cc: modes, options, lists, logins. The result of a set-up with the script's
// `setup`.
json WithSetup(FakeAgent* agent, json result);
Steps SetMode(FakeAgent* agent, const Run& run);
Steps SetConfigOption(FakeAgent* agent, const Run& run);
Steps SetModel(FakeAgent* agent, const Run& run);
Steps Fork(FakeAgent* agent, const Run& run);
Steps ListSessions(FakeAgent* agent, const Run& run);
Steps Logout(FakeAgent* agent, const Run& run);

// `_meta.claudeCode.options.resume` of session/new's params; empty: none.
std::string ResumeIdOf(const json& params);

}  // namespace acpd::fakes

#endif  // ACPD_TESTS_FAKES_DEFAULTS_H_
