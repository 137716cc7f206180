#include "cli/event_words.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <cctype>

#include "cli/form_words.h"

namespace acpd::cli {

using acpd::v1::TurnResult;

namespace {

// Longer ones are no help on a command line.
constexpr size_t kMostExample = 400;

const char* OutcomeWord(TurnResult::Outcome outcome) {
  switch (outcome) {
    case TurnResult::OUTCOME_COMPLETED:
      return "completed";
    case TurnResult::OUTCOME_TRUNCATED:
      return "truncated";
    case TurnResult::OUTCOME_REFUSED:
      return "refused";
    case TurnResult::OUTCOME_CANCELLED:
      return "cancelled";
    case TurnResult::OUTCOME_FAILED:
      return "failed";
    case TurnResult::OUTCOME_INTERRUPTED:
      return "interrupted";
    default:
      return "ended";
  }
}

}  // namespace

std::string DescribePlan(const std::string& json) {
  google::protobuf::Struct update;
  if (!google::protobuf::util::JsonStringToMessage(json, &update).ok()) return "";
  const auto entries = update.fields().find("entries");
  if (entries == update.fields().end()) return "";
  int done = 0;
  int all = 0;
  std::string now;
  for (const auto& entry : entries->second.list_value().values()) {
    const auto& fields = entry.struct_value().fields();
    const auto status = fields.find("status");
    const auto content = fields.find("content");
    const std::string word = status == fields.end() ? "" : status->second.string_value();
    ++all;
    if (word == "completed") ++done;
    if (word == "in_progress" && now.empty() && content != fields.end())
      now = content->second.string_value();
  }
  std::string text = std::to_string(done) + "/" + std::to_string(all) + " steps done";
  if (!now.empty()) text += "; now: " + now;
  return text;
}

std::string DescribeOrigin(const acpd::v1::SessionOrigin& origin) {
  using acpd::v1::SessionOrigin;
  switch (origin.kind()) {
    case SessionOrigin::KIND_NEW:
      return "new session";
    case SessionOrigin::KIND_LIVE:
      return "";
    case SessionOrigin::KIND_RESUMED:
      return "resumed";
    case SessionOrigin::KIND_FALLBACK:
      return "the old context is lost (" + origin.reason() + "): a new session stands in for " +
             origin.requested_session_id() +
             (origin.transcript_injected() ? "; its prompt carries acpd's record of it" : "");
    case SessionOrigin::KIND_FORKED:
      return "a copy of another session";
    default:
      return "ready";
  }
}

std::string DescribeBy(acpd::v1::QuestionResolved::By by) {
  using acpd::v1::QuestionResolved;
  switch (by) {
    case QuestionResolved::BY_POLICY:
      return " by policy";
    case QuestionResolved::BY_TIMEOUT:
      return " by time-out";
    case QuestionResolved::BY_CANCEL:
      return " by the cancel";
    case QuestionResolved::BY_AGENT:
      return " by the agent";
    default:
      return "";
  }
}

std::string DescribeGap(const acpd::v1::Gap& gap) {
  // 0: nothing has come behind them.
  if (gap.next_position() == 0) return "the events so far are gone";
  return "events before position " + std::to_string(gap.next_position()) + " are gone";
}

std::string StateWord(acpd::v1::Session::State state) {
  const std::string name = acpd::v1::Session::State_Name(state);
  if (name.empty()) return "state-" + std::to_string(static_cast<int>(state));  // a newer acpd's
  std::string word = name.substr(sizeof("STATE_") - 1);
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

std::string Brief(const std::string& prompt) {
  constexpr size_t kMost = 60;
  std::string line = prompt.substr(0, prompt.find('\n'));
  if (line.size() > kMost) {
    size_t end = kMost;
    while (end > 0 && (line[end] & 0xC0) == 0x80) --end;  // not within a character
    line.resize(end);
  }
  return line.size() < prompt.size() ? line + "..." : line;
}

std::string DescribeResult(const TurnResult& result) {
  std::string text = OutcomeWord(result.outcome());
  if (!result.cancelled_by().empty()) text += " by " + result.cancelled_by();
  if (result.has_error() && !result.error().reason().empty()) {
    text += ": " + result.error().reason() + ": " + result.error().message();
  }
  return text;
}

int ExitCodeFor(const TurnResult& result) {
  if (result.outcome() == TurnResult::OUTCOME_COMPLETED) return kOk;
  return result.outcome() == TurnResult::OUTCOME_CANCELLED ? kCancelled : kTurnNotOk;
}

const std::string& QuestionIdOf(const acpd::v1::ProgressEvent& question) {
  return question.has_permission_requested() ? question.permission_requested().question_id()
                                             : question.elicitation_requested().question_id();
}

std::string HowToAnswer(const acpd::v1::ProgressEvent& question) {
  const std::string command =
      "answer with: acpctl respond " + question.session_id() + " " + QuestionIdOf(question) + " ";
  if (question.has_permission_requested()) return command + "OPTION";
  const auto& asked = question.elicitation_requested();
  if (asked.mode() == acpd::v1::ElicitationRequested::MODE_URL)
    return command + "--accept '{}' when you have opened it (or --decline)";
  const std::string content = ExampleContent(ReadFormSchema(asked.requested_schema_json()));
  return command + "--accept '" + (content.size() > kMostExample ? "{...}" : content) +
         "' with your values (or --decline)";
}

std::vector<std::string> DescribeQuestion(const acpd::v1::ProgressEvent& question) {
  std::vector<std::string> lines;
  for (const auto& option : question.permission_requested().options())
    lines.push_back(option.option_id() + ": " + option.name());
  if (!question.has_elicitation_requested()) return lines;
  const auto& asked = question.elicitation_requested();
  if (asked.mode() == acpd::v1::ElicitationRequested::MODE_URL)
    return {asked.url(), "host: " + HostOf(asked.url())};
  return DescribeForm(ReadFormSchema(asked.requested_schema_json()));
}

std::string DescribePermission(const acpd::v1::PermissionRequested& asked) {
  std::string text = asked.tool_kind();
  for (const std::string& path : asked.paths()) text += (text.empty() ? "" : " ") + path;
  return text;
}

std::string HostOf(const std::string& url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string::npos) return "";
  std::string host = url.substr(scheme + 3);
  host = host.substr(0, host.find_first_of("/?#"));
  const size_t user = host.rfind('@');
  return user == std::string::npos ? host : host.substr(user + 1);
}

std::string DescribeTerminal(const acpd::v1::TerminalOutput& output) {
  std::string text;
  if (!output.command().empty()) text = "$ " + output.command();
  if (!output.exited()) return text;
  if (text.empty()) text = output.terminal_id();
  if (output.has_exit_code())
    return text + " [exit code " + std::to_string(output.exit_code()) + "]";
  return text + " [" + output.signal() + "]";
}

std::string DescribeFileAccess(const acpd::v1::FileAccess& access) {
  const std::string verb = access.write() ? "write" : "read";
  if (access.has_error()) return verb + " " + access.path() + ": " + access.error().message();
  return verb + " " + access.path() + " (" + std::to_string(access.bytes()) + " bytes)";
}

std::string DescribeChange(const acpd::v1::SessionChanged& change) {
  std::string text;
  for (const std::string& field : change.changed()) {
    std::string words;
    if (field == "mode_id") words = "mode " + change.session().mode_id();
    if (field == "model") words = "model " + change.session().model();
    if (field == "title") words = "title " + change.session().title();
    if (!words.empty()) text += (text.empty() ? "" : ", ") + words;
  }
  return text;
}

}  // namespace acpd::cli
