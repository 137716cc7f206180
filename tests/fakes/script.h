#ifndef ACPD_TESTS_FAKES_SCRIPT_H_
#define ACPD_TESTS_FAKES_SCRIPT_H_

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace acpd::fakes {

using nlohmann::json;

// One thing to do: `{"verb": argument}`, or just `"verb"` for one without an argument.
struct Step {
  std::string verb;
  json argument;  // discarded when there was none, so that null can be an argument
  bool has_argument() const { return !argument.is_discarded(); }
};
using Steps = std::vector<Step>;

// What the fake agent is told. A JSON object; everything in it is optional:
//
//   "session/load": [STEP, ...]           what to do at each such call, before (or instead of) the
//   default answer "session/load": [[STEP, ...], ...]    the same per call: the first, the second
//   ...; the last one for all further calls
//                                         (counted across processes where FAKE_AGENT_STATE is set)
//   "start": [STEP, ...]                  at the start of the process, before anything is read
//   "session/new+resume": [STEP, ...]     session/new with `_meta.claudeCode.options.resume`;
//   "session/new" is then not used "on_cancel": "ignore" | STOP_REASON | [STEP, ...]   what
//   session/cancel does to a running prompt; default "cancelled" "capabilities": {...} merged into
//   agentCapabilities (null removes a member) "auth_methods": [...]                 authMethods
//   "require_auth": true                  -32000 for session/* until authenticate was called
//   "setup": {"modes":, "configOptions":, "models":}   of a set-up's answer; clients may set them
//   "session_pages": {CURSOR: {"sessions": [...], "nextCursor":}, ...}   session/list; "" is the
//   first "meta_resume": true                   honours `_meta.claudeCode.options.resume`
//
// verb_table.cc has the verbs. A step list that ends without an answer is followed by the
// default answer.
class Script {
 public:
  // From FAKE_AGENT_INLINE (the text) or FAKE_AGENT_SCRIPT (a file); neither: the good agent. A
  // script with a mistake ends the process with exit code 64 and a sentence on stderr.
  static Script FromEnvironment();

  // The steps of the next call of `method`.
  Steps NextCall(const std::string& method);
  bool Has(const std::string& method) const { return root_.contains(method); }
  bool Flag(const char* name) const { return root_.value(name, false); }
  json Value(const char* name, json fallback) const {
    return root_.value(name, std::move(fallback));
  }

  // Reads a step list; on a mistake false, with a sentence.
  static bool ReadSteps(const json& list, Steps* steps, std::string* mistake);

 private:
  std::string FindMistake() const;

  json root_ = json::object();
  std::map<std::string, size_t> calls_;
};

}  // namespace acpd::fakes

#endif  // ACPD_TESTS_FAKES_SCRIPT_H_
