#ifndef ACPD_TESTS_FAKES_AGENT_LOG_H_
#define ACPD_TESTS_FAKES_AGENT_LOG_H_

#include <nlohmann/json.hpp>
#include <string>

namespace acpd::fakes {

using nlohmann::json;

// What the fake agent tells the test beside the protocol: one JSON object a line, appended by one
// write each, so that several processes share a file. Every entry has `event`, `pid` and `ns`
// (steady clock). Events:
//   start {argv, cwd, env (names), fds {number: target}}   in {line}   eof   exit {code, why}
//   fork {child}   reached, released {name}   note {text}   answer {id, message}   mismatch
//   {wanted, got}   stdout_gone
class AgentLog {
 public:
  // Empty path: nothing is logged.
  explicit AgentLog(std::string path) : path_(std::move(path)) {}
  void Write(json entry);
  void WriteStart(int argc, char** argv);

 private:
  std::string path_;
};

}  // namespace acpd::fakes

#endif  // ACPD_TESTS_FAKES_AGENT_LOG_H_
