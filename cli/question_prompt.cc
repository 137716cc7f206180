#include "cli/question_prompt.h"

#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "cli/event_words.h"
#include "cli/text.h"

namespace acpd::cli {

using acpd::v1::ElicitationRequested;
using acpd::v1::RespondRequest;

namespace {

// Then the question is left open: the person is not to be kept in it.
constexpr int kMostRefusals = 3;
constexpr std::chrono::seconds kNameCall{5};

bool IsAlways(acpd::v1::PermissionOptionKind kind) {
  return kind == acpd::v1::PERMISSION_OPTION_KIND_ALLOW_ALWAYS ||
         kind == acpd::v1::PERMISSION_OPTION_KIND_REJECT_ALWAYS;
}

}  // namespace

bool QuestionPrompt::CanAsk() const {
  return !closed_ && isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

void QuestionPrompt::Ask(const acpd::v1::ProgressEvent& question) {
  question_ = question;
  refusals_ = 0;
  input_.clear();
  tcflush(STDIN_FILENO, TCIFLUSH);
  if (question.has_permission_requested()) return AskPermission();
  const bool page = question.elicitation_requested().mode() == ElicitationRequested::MODE_URL;
  page ? AskPage() : AskForm();
}

void QuestionPrompt::AskPermission() {
  const auto& options = question_->permission_requested().options();
  for (int i = 0; i < options.size(); ++i) {
    std::fprintf(stderr, "  %d) %s (%s%s)\n", i + 1, ShownLine(options[i].name()).c_str(),
                 ShownLine(options[i].option_id()).c_str(),
                 IsAlways(options[i].kind()) ? "; remembered for this session" : "");
  }
  std::fprintf(stderr, "  your choice [1-%d]: ", options.size());
}

// What is typed into a form passes through the agent, so the person is told whose it is.
void QuestionPrompt::AskForm() {
  form_.emplace(question_->elicitation_requested().requested_schema_json());
  std::fprintf(stderr, "  (%s asks, and gets what you type)\n%s%s", AgentName().c_str(),
               form_->Intro().c_str(), form_->Prompt().c_str());
}

void QuestionPrompt::AskPage() {
  const std::string& url = question_->elicitation_requested().url();
  std::fprintf(stderr,
               "  (%s asks)\n  %s\n  host: %s\n  open it yourself; then type y, or n to decline: ",
               AgentName().c_str(), ShownLine(url).c_str(), ShownLine(HostOf(url)).c_str());
}

std::string QuestionPrompt::AgentName() {
  if (!agent_.empty()) return agent_;
  acpd::v1::GetSessionRequest request;
  request.set_session_id(question_->session_id());
  acpd::v1::Session session;
  const auto context = NewContext(settings_, kNameCall);
  const bool known = stub_->GetSession(context.get(), request, &session).ok();
  if (known) agent_ = "agent " + session.agent();
  return known ? agent_ : "the agent";
}

int QuestionPrompt::fd() const { return asking() ? STDIN_FILENO : -1; }

void QuestionPrompt::OnInput() {
  char bytes[512];
  const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
  if (got <= 0) {
    closed_ = true;
    std::fputc('\n', stderr);  // behind what was asked
    return LeaveOpen();
  }
  input_.append(bytes, static_cast<size_t>(got));
  size_t end;
  while (asking() && (end = input_.find('\n')) != std::string::npos) {
    const std::string line = input_.substr(0, end);
    input_.erase(0, end + 1);
    TakeLine(line);
  }
}

void QuestionPrompt::Withdraw(const acpd::v1::QuestionResolved& resolved) {
  if (asking() && QuestionIdOf(*question_) == resolved.question_id()) Drop();
}

void QuestionPrompt::Drop() {
  if (asking()) std::fputc('\n', stderr);  // behind what was asked
  question_.reset();
  form_.reset();
}

// It can still be answered, by somebody else or from another terminal.
void QuestionPrompt::LeaveOpen() {
  std::fprintf(stderr, "  %s\n", HowToAnswer(*question_).c_str());
  question_.reset();
  form_.reset();
}

void QuestionPrompt::TakeLine(const std::string& line) {
  if (question_->has_permission_requested()) return TakeOption(Trimmed(line));
  form_ ? TakeFormLine(line) : TakePage(Lowered(Trimmed(line)));
}

void QuestionPrompt::TakeOption(const std::string& line) {
  const std::string option_id = OptionFor(line);
  if (option_id.empty()) {
    std::fprintf(stderr, "  please type a number from 1 to %d: ",
                 question_->permission_requested().options_size());
    return;
  }
  RespondRequest respond;
  respond.set_option_id(option_id);
  Send(std::move(respond));
}

void QuestionPrompt::TakeFormLine(const std::string& line) {
  std::string wrong;
  RespondRequest respond;
  switch (form_->Take(line, &wrong)) {
    case QuestionForm::Wish::kGoOn:
      if (!wrong.empty()) std::fprintf(stderr, "  %s\n", ShownLine(wrong).c_str());
      std::fputs(form_->Prompt().c_str(), stderr);
      return;
    case QuestionForm::Wish::kSend:
      respond.set_accept_json(form_->Content());
      break;
    case QuestionForm::Wish::kDecline:
      respond.set_decline(true);
      break;
    case QuestionForm::Wish::kCancel:
      respond.set_cancelled(true);
      break;
  }
  Send(std::move(respond));
}

void QuestionPrompt::TakePage(const std::string& line) {
  RespondRequest respond;
  if (line == "y" || line == "yes") {
    respond.set_accept_json("{}");
  } else if (line == "n" || line == "no") {
    respond.set_decline(true);
  } else {
    std::fprintf(stderr, "  please type y or n: ");
    return;
  }
  Send(std::move(respond));
}

void QuestionPrompt::Send(RespondRequest respond) {
  respond.set_session_id(question_->session_id());
  respond.set_question_id(QuestionIdOf(*question_));
  acpd::v1::RespondResponse response;
  const auto context = NewContext(settings_, kShortCall);
  const grpc::Status status = stub_->Respond(context.get(), respond, &response);
  if (status.error_code() == grpc::StatusCode::INVALID_ARGUMENT) {
    std::fprintf(stderr, "  not taken: %s\n", Shown(status.error_message()).c_str());
    return ++refusals_ < kMostRefusals ? AskAgain(status.error_message()) : LeaveOpen();
  }
  if (Report(status, *context) == kUnreachable) return LeaveOpen();
  // Taken, or no longer open.
  question_.reset();
  form_.reset();
}

void QuestionPrompt::AskAgain(const std::string& refusal) {
  if (question_->has_permission_requested()) return AskPermission();
  if (!form_) return AskPage();
  form_->Reopen(refusal);
  std::fputs(form_->Prompt().c_str(), stderr);
}

std::string QuestionPrompt::OptionFor(const std::string& line) const {
  const auto& options = question_->permission_requested().options();
  for (int i = 0; i < options.size(); ++i) {
    if (line == std::to_string(i + 1)) return options[i].option_id();
  }
  for (const auto& option : options) {
    if (line == option.option_id()) return line;
  }
  return "";
}

}  // namespace acpd::cli
