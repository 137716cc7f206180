#ifndef ACPD_CLI_OPEN_QUESTIONS_H_
#define ACPD_CLI_OPEN_QUESTIONS_H_

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "cli/connection.h"

namespace acpd::cli {

// Finds in a stream of events the questions that a person is to answer: not those that the turn's
// permission mode answers, and of the past only those that are open at its end.
class OpenQuestions {
 public:
  void See(const acpd::v1::ProgressEvent& event);
  // The oldest one that is open and was not taken yet; nullopt: none.
  std::optional<acpd::v1::ProgressEvent> Take();

 private:
  bool AnsweredByPolicy(const acpd::v1::ProgressEvent& event) const;

  bool in_past_ = true;
  std::map<std::string, acpd::v1::PermissionMode> modes_;  // of turns that have not ended
  std::deque<acpd::v1::ProgressEvent> waiting_;
};

}  // namespace acpd::cli

#endif  // ACPD_CLI_OPEN_QUESTIONS_H_
