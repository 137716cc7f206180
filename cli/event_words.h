#ifndef ACPD_CLI_EVENT_WORDS_H_
#define ACPD_CLI_EVENT_WORDS_H_

#include <string>
#include <vector>

#include "cli/connection.h"

namespace acpd::cli {

// What events say, in words for a person.

// "completed", "failed: AGENT_ERROR: ..." and the like.
std::string DescribeResult(const acpd::v1::TurnResult& result);
int ExitCodeFor(const acpd::v1::TurnResult& result);
// How a session became ready; empty where its worker ran.
std::string DescribeOrigin(const acpd::v1::SessionOrigin& origin);
// The agent's `plan` as "2/5 steps done; now: run the tests".
std::string DescribePlan(const std::string& json);
// " by time-out" and the like; empty of an answer that a person gave.
std::string DescribeBy(acpd::v1::QuestionResolved::By by);
// "events before position 7 are gone".
std::string DescribeGap(const acpd::v1::Gap& gap);
// Of a permission or an elicitation.
const std::string& QuestionIdOf(const acpd::v1::ProgressEvent& question);
// The host that a URL leads to; empty: it cannot be read.
std::string HostOf(const std::string& url);
// "$ make [exit code 2]" and the like of a terminal's event; empty where it only brings output.
std::string DescribeTerminal(const acpd::v1::TerminalOutput& output);
// "wrote /srv/a.txt (12 bytes)".
std::string DescribeFileAccess(const acpd::v1::FileAccess& access);
// "mode plan, title Fix it"; empty where it is nothing for a line.
std::string DescribeChange(const acpd::v1::SessionChanged& change);
// What can be answered, a line each: a permission's options, a form's fields, a page's address.
std::vector<std::string> DescribeQuestion(const acpd::v1::ProgressEvent& question);
// The kind of the tool call and its files: "edit /srv/a.txt"; empty: neither is known.
std::string DescribePermission(const acpd::v1::PermissionRequested& asked);
// "answer with: acpctl respond ..."
std::string HowToAnswer(const acpd::v1::ProgressEvent& question);
// "idle", "busy" and the like.
std::string StateWord(acpd::v1::Session::State state);
// The first line of a prompt, cut where it is long.
std::string Brief(const std::string& prompt);

}  // namespace acpd::cli

#endif  // ACPD_CLI_EVENT_WORDS_H_
