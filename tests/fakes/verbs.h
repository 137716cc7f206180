#ifndef ACPD_TESTS_FAKES_VERBS_H_
#define ACPD_TESTS_FAKES_VERBS_H_

#include <string>

#include "tests/fakes/script.h"

namespace acpd::fakes {

class FakeAgent;
struct Run;

enum class Progress {
  kDone,   // go on with the next step
  kAgain,  // more to do: call again after a look at the input
  kWait,   // call again when something has happened: input, time, a barrier
};

// Does one step, or the next part of it: `run->part` counts the calls made for this step before.
using Verb = Progress (*)(FakeAgent* agent, Run* run, const json& argument);

// nullptr: there is no such verb. The table, with what each takes, stands in verb_table.cc.
Verb FindVerb(const std::string& name);

// saying_verbs.cc
Progress DoReply(FakeAgent* agent, Run* run, const json& argument);
Progress DoError(FakeAgent* agent, Run* run, const json& argument);
Progress DoSilent(FakeAgent* agent, Run* run, const json& argument);
Progress DoUpdate(FakeAgent* agent, Run* run, const json& argument);
Progress DoBurst(FakeAgent* agent, Run* run, const json& argument);
Progress DoReplay(FakeAgent* agent, Run* run, const json& argument);
Progress DoUpdatesAndReply(FakeAgent* agent, Run* run, const json& argument);
Progress DoRaw(FakeAgent* agent, Run* run, const json& argument);
Progress DoRaw64(FakeAgent* agent, Run* run, const json& argument);
Progress DoNotify(FakeAgent* agent, Run* run, const json& argument);
Progress DoSayEnv(FakeAgent* agent, Run* run, const json& argument);

// asking_verbs.cc: requests to the client.
Progress DoAsk(FakeAgent* agent, Run* run, const json& argument);
Progress DoRequest(FakeAgent* agent, Run* run, const json& argument);
Progress DoExpectAnswer(FakeAgent* agent, Run* run, const json& argument);
Progress DoSayChosen(FakeAgent* agent, Run* run, const json& argument);

// waiting_verbs.cc: time and the test's barriers.
Progress DoSleep(FakeAgent* agent, Run* run, const json& argument);
Progress DoBarrier(FakeAgent* agent, Run* run, const json& argument);
Progress DoOnCancel(FakeAgent* agent, Run* run, const json& argument);
Progress DoLog(FakeAgent* agent, Run* run, const json& argument);

// process_verbs.cc: what happens to the process.
Progress DoStderr(FakeAgent* agent, Run* run, const json& argument);
Progress DoFork(FakeAgent* agent, Run* run, const json& argument);
Progress DoIgnore(FakeAgent* agent, Run* run, const json& argument);
Progress DoExit(FakeAgent* agent, Run* run, const json& argument);
Progress DoCrash(FakeAgent* agent, Run* run, const json& argument);
Progress DoCloseStdout(FakeAgent* agent, Run* run, const json& argument);
Progress DoCloseStdin(FakeAgent* agent, Run* run, const json& argument);

}  // namespace acpd::fakes

#endif  // ACPD_TESTS_FAKES_VERBS_H_
