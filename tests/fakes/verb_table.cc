#include <map>
#include <string>

#include "tests/fakes/verbs.h"

namespace acpd::fakes {
namespace {

const std::map<std::string, Verb> kVerbs = {
    // ---- What is said. Texts are agent_message_chunk updates of the run's session.
    // RESULT: the answer; without an argument the default answer. Later steps still run.
    {"reply", DoReply},
    // {"code":, "message":, "data":} or [code, message, data]
    {"error", DoError},
    // No answer when the steps are done. A cancel still ends a prompt: see on_cancel.
    {"silent", DoSilent},
    // "text", or an `update` object as it is
    {"update", DoUpdate},
    // [n, size]: n texts of that size; each begins with its number (from 0) and a space.
    {"burst", DoBurst},
    // n made-up messages of history, or "history": the session's own
    {"replay", DoReplay},
    // {"updates": n or ["text", ...], "reply": RESULT}: all in one write(2)
    {"updates_and_reply", DoUpdatesAndReply},
    // "bytes": no newline is added; ${id} and ${sessionId} are filled in.
    {"raw", DoRaw},
    // The same in base64, with nothing filled in.
    {"raw64", DoRaw64},
    // {"method":, "params":}
    {"notify", DoNotify},
    // "NAME": the text `NAME=value`, or `NAME is not set`
    {"say_env", DoSayEnv},

    // ---- Requests to the client. They hold up the next steps only with "wait": true.
    // {"options": [{"optionId":, "kind":}, ...], "id":, "toolCall":, "wait":}: a permission
    {"ask", DoAsk},
    // {"method":, "params":, "id":, "wait":}; a param "${sessionId}" is filled in
    {"request", DoRequest},
    // {"id":, "outcome":, "optionId":, "code":, "message": a part of it, "result": some of it}:
    // waits for the answer; it must have what is given.
    // A mismatch is logged, and is the answer to the prompt.
    {"expect_answer", DoExpectAnswer},
    // ID: waits for the answer and says the chosen option's kind.
    {"say_chosen", DoSayChosen},

    // ---- Time and the test.
    {"sleep_ms", DoSleep},
    // "name", or {"name":, "deaf": true}: reads nothing meanwhile
    {"barrier", DoBarrier},
    // As in the script, for this prompt.
    {"on_cancel", DoOnCancel},
    // "text": a note in the agent's log
    {"log", DoLog},

    // ---- The process.
    // n bytes in lines of 64, or "text"
    {"stderr", DoStderr},
    // {"hold": "stdout", "ignore": "TERM", "setsid": true}, all optional: a child that lives on
    {"fork", DoFork},
    // "EOF" or "TERM"
    {"ignore", DoIgnore},
    // The exit code.
    {"exit", DoExit},
    // "SEGV", "ABRT", "KILL", "TERM" or a number
    {"crash", DoCrash},
    {"close_stdout", DoCloseStdout},
    {"close_stdin", DoCloseStdin},
};

}  // namespace

Verb FindVerb(const std::string& name) {
  const auto found = kVerbs.find(name);
  return found == kVerbs.end() ? nullptr : found->second;
}

}  // namespace acpd::fakes
