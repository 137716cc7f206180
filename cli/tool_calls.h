#ifndef ACPD_CLI_TOOL_CALLS_H_
#define ACPD_CLI_TOOL_CALLS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/connection.h"

namespace acpd::cli {

// What the tool calls of the turns that are shown are called and whether they are done: agents name
// them once, and do not say what becomes of those that a cancelled turn leaves behind.
class ToolCalls {
 public:
  // Of a tool_call or tool_call_update: the call's title, of before if need be, else its id.
  std::string Note(const acpd::v1::ProgressEvent& event);
  // A turn_ended: the titles of its calls that were neither completed nor failed.
  std::vector<std::string> TakeUnfinished(const acpd::v1::ProgressEvent& event);

 private:
  struct Call {
    std::string id, title, status;
  };
  // By session and turn; of each in the order of their first updates.
  std::map<std::pair<std::string, std::string>, std::vector<Call>> of_turns_;
};

}  // namespace acpd::cli

#endif  // ACPD_CLI_TOOL_CALLS_H_
