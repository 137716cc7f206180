#include "cli/event_printer.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <cstdio>
#include <vector>

namespace acpd::cli {
namespace {

using acpd::v1::ProgressEvent;
using acpd::v1::TurnResult;

// The agent's `plan` as "2/5 steps done; now: run the tests".
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
             origin.requested_session_id();
    default:
      return "ready";
  }
}

}  // namespace

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

void EventPrinter::EndText() {
  if (!in_text_) return;
  std::fputc('\n', stdout);
  std::fflush(stdout);
  in_text_ = false;
}

void EventPrinter::Line(const ProgressEvent& event, const std::string& text) {
  EndText();
  const std::string prefix = with_session_ ? "[" + event.session_id() + "] " : "";
  std::fprintf(stderr, "%s%s\n", prefix.c_str(), text.c_str());
}

void EventPrinter::PrintUpdate(const ProgressEvent& event) {
  const auto& update = event.session_update();
  if (update.kind() == "agent_message_chunk" && !update.replayed()) {
    if (with_session_ && !in_text_) std::printf("[%s] ", event.session_id().c_str());
    std::fwrite(update.text().data(), 1, update.text().size(), stdout);
    std::fflush(stdout);
    if (!update.text().empty()) in_text_ = update.text().back() != '\n';
  } else if (update.kind() == "tool_call" || update.kind() == "tool_call_update") {
    const std::string title = update.title().empty() ? update.tool_call_id() : update.title();
    Line(event,
         "* " + title + (update.tool_status().empty() ? "" : " [" + update.tool_status() + "]"));
  } else if (update.kind() == "plan") {
    Line(event, "* plan: " + DescribePlan(update.json()));
  }
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
      if (event.turn_queued().ahead() > 0) {
        Line(event, "* queued behind " + std::to_string(event.turn_queued().ahead()) + " turn(s)");
      }
      return;
    case ProgressEvent::kTurnEnded:
      return Line(event, "* " + DescribeResult(event.turn_ended().result()));
    case ProgressEvent::kPermissionRequested:
      return Line(event, "? " + event.permission_requested().title() + " (question " +
                             event.permission_requested().question_id() + ")");
    case ProgressEvent::kQuestionResolved: {
      const auto& resolved = event.question_resolved();
      return Line(event, "* answered: " +
                             (resolved.option_id().empty() ? "cancelled" : resolved.option_id()));
    }
    case ProgressEvent::kSessionReady: {
      const std::string text = DescribeOrigin(event.session_ready().origin());
      if (!text.empty()) Line(event, "* " + text);
      return;
    }
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
      return Line(event, "! events before position " + std::to_string(event.gap().next_position()) +
                             " are gone");
    default:
      return;
  }
}

}  // namespace acpd::cli
