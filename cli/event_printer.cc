#include "cli/event_printer.h"

#include <unistd.h>

#include <cstdio>

#include "cli/event_words.h"
#include "cli/text.h"

namespace acpd::cli {

using acpd::v1::ProgressEvent;

EventPrinter::EventPrinter(const Settings& settings, Scope scope)
    : json_(settings.json), at_terminal_(isatty(STDOUT_FILENO) == 1), scope_(scope) {}

void EventPrinter::EndText() {
  if (text_session_.empty()) return;
  std::fputc('\n', stdout);
  std::fflush(stdout);
  text_session_.clear();
}

void EventPrinter::Line(const ProgressEvent& event, const std::string& text) {
  EndText();
  const std::string prefix = scope_ == Scope::kSessions ? "[" + event.session_id() + "] " : "";
  std::fprintf(stderr, "%s%s\n", prefix.c_str(), Shown(text).c_str());
}

void EventPrinter::PrintIfAny(const ProgressEvent& event, const std::string& text) {
  if (!text.empty()) Line(event, "* " + text);
}

std::string EventPrinter::TurnWord(const ProgressEvent& event) const {
  return scope_ == Scope::kTurn ? "" : "turn " + event.turn_id() + " ";
}

void EventPrinter::PrintText(const ProgressEvent& event) {
  const std::string& raw = event.session_update().text();
  if (raw.empty()) return;
  const std::string text = at_terminal_ ? Shown(raw) : raw;
  if (text_session_ != event.session_id()) {
    EndText();
    if (scope_ == Scope::kSessions) std::printf("[%s] ", event.session_id().c_str());
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  text_session_ = text.back() == '\n' ? "" : event.session_id();
}

void EventPrinter::PrintUpdate(const ProgressEvent& event) {
  const auto& update = event.session_update();
  if (update.kind() == "agent_message_chunk" && !update.replayed()) {
    PrintText(event);
  } else if (update.kind() == "tool_call" || update.kind() == "tool_call_update") {
    const std::string title = tool_calls_.Note(event);
    Line(event,
         "* " + title + (update.tool_status().empty() ? "" : " [" + update.tool_status() + "]"));
  } else if (update.kind() == "plan") {
    Line(event, "* plan: " + DescribePlan(update.json()));
  }
}

void EventPrinter::PrintQueued(const ProgressEvent& event) {
  const auto& queued = event.turn_queued();
  const std::string behind =
      queued.ahead() > 0 ? " behind " + std::to_string(queued.ahead()) + " turn(s)" : "";
  if (scope_ != Scope::kTurn) {
    Line(event, "* " + TurnWord(event) + "queued" + behind + ": " + Brief(queued.prompt()));
  } else if (queued.ahead() > 0) {
    Line(event, "* queued" + behind);
  }
}

// ACP has no status for a call that a turn's end left behind, and mostly no update follows.
void EventPrinter::PrintEnd(const ProgressEvent& event) {
  const auto& result = event.turn_ended().result();
  const bool completed = result.outcome() == acpd::v1::TurnResult::OUTCOME_COMPLETED;
  for (const std::string& title : tool_calls_.TakeUnfinished(event)) {
    if (!completed) Line(event, "* " + title + " [cancelled]");
  }
  Line(event, "* " + TurnWord(event) + DescribeResult(result));
}

void EventPrinter::PrintPermission(const ProgressEvent& event) {
  const auto& asked = event.permission_requested();
  Line(event, "? " + asked.title() + " (question " + asked.question_id() + ")");
  const std::string what = DescribePermission(asked);
  if (!what.empty()) Line(event, "  " + what);
}

void EventPrinter::PrintHowToAnswer(const ProgressEvent& question) {
  if (json_) return;
  for (const std::string& line : DescribeQuestion(question)) Line(question, "  " + line);
  Line(question, "  " + HowToAnswer(question));
}

void EventPrinter::Print(const ProgressEvent& event) {
  if (json_) {
    PrintJson(event);
    return;
  }
  switch (event.event_case()) {
    case ProgressEvent::kSessionUpdate:
      return PrintUpdate(event);
    case ProgressEvent::kTurnQueued:
      return PrintQueued(event);
    case ProgressEvent::kTurnEnded:
      return PrintEnd(event);
    case ProgressEvent::kPermissionRequested:
      return PrintPermission(event);
    case ProgressEvent::kElicitationRequested:
      return Line(event, "? " + event.elicitation_requested().message() + " (question " +
                             event.elicitation_requested().question_id() + ")");
    case ProgressEvent::kTerminalOutput:
      return PrintIfAny(event, DescribeTerminal(event.terminal_output()));
    case ProgressEvent::kFileAccess:
      return Line(event, "* " + DescribeFileAccess(event.file_access()));
    case ProgressEvent::kSessionChanged:
      return PrintIfAny(event, DescribeChange(event.session_changed()));
    case ProgressEvent::kQuestionResolved: {
      const auto& resolved = event.question_resolved();
      std::string answer = resolved.option_id().empty() ? "cancelled" : resolved.option_id();
      if (resolved.outcome() == acpd::v1::QuestionResolved::OUTCOME_ACCEPTED) answer = "accepted";
      if (resolved.outcome() == acpd::v1::QuestionResolved::OUTCOME_DECLINED) answer = "declined";
      return Line(event, "* answered: " + answer + DescribeBy(resolved.by()));
    }
    case ProgressEvent::kSessionReady:
      return PrintIfAny(event, DescribeOrigin(event.session_ready().origin()));
    case ProgressEvent::kSessionReplaced:
      return Line(event, "* replaced by session " + event.session_replaced().new_session_id());
    case ProgressEvent::kSessionClosed:
      return Line(event, "* session closed");
    case ProgressEvent::kSessionDeleted:
      return Line(event, "* session deleted");
    case ProgressEvent::kWorkerExited:
      if (!event.worker_exited().expected()) Line(event, "* the agent ended unexpectedly");
      return;
    case ProgressEvent::kNotice:
      return Line(event, "! " + event.notice().code() + ": " + event.notice().message());
    case ProgressEvent::kGap:
      return Line(event, "! " + DescribeGap(event.gap()));
    default:
      return;
  }
}

}  // namespace acpd::cli
