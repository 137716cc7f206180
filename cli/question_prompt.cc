#include "cli/question_prompt.h"

#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "cli/event_words.h"

namespace acpd::cli {

using acpd::v1::ElicitationRequested;
using acpd::v1::RespondRequest;

bool QuestionPrompt::CanAsk() const {
  return !closed_ && isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

void QuestionPrompt::Ask(const acpd::v1::ProgressEvent& question) {
  question_ = question;
  input_.clear();
  tcflush(STDIN_FILENO, TCIFLUSH);
  question.has_permission_requested() ? AskPermission() : AskElicitation();
}

void QuestionPrompt::AskPermission() {
  const auto& options = question_->permission_requested().options();
  for (int i = 0; i < options.size(); ++i) {
    std::fprintf(stderr, "  %d) %s (%s)\n", i + 1, options[i].name().c_str(),
                 options[i].option_id().c_str());
  }
  std::fprintf(stderr, "  your choice [1-%d]: ", options.size());
}

// What is typed into a form passes through the agent: a person may always decline.
void QuestionPrompt::AskElicitation() {
  const ElicitationRequested& asked = question_->elicitation_requested();
  if (asked.mode() == ElicitationRequested::MODE_URL) {
    std::fprintf(stderr, "  %s\n  host: %s\n  open it yourself; then type y, or n to decline: ",
                 asked.url().c_str(), HostOf(asked.url()).c_str());
    return;
  }
  form_.emplace(asked.requested_schema_json());
  std::fprintf(stderr, "  (!n declines)\n");
  if (form_->done()) return TakeField("");
  std::fputs(form_->Prompt().c_str(), stderr);
}

int QuestionPrompt::fd() const { return asking() ? STDIN_FILENO : -1; }

void QuestionPrompt::OnInput() {
  char bytes[512];
  const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
  if (got <= 0) {
    closed_ = true;
    const std::string how = HowToAnswer(*question_);
    Drop();
    std::fprintf(stderr, "  %s\n", how.c_str());
    return;
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

void QuestionPrompt::TakeLine(const std::string& line) {
  if (question_->has_permission_requested()) return TakeOption(line);
  form_ ? TakeField(line) : TakePage(line);
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

void QuestionPrompt::TakeField(const std::string& line) {
  RespondRequest respond;
  if (line == "!n") {
    respond.set_decline(true);
    return Send(std::move(respond));
  }
  if (!form_->done()) {
    const std::string wrong = form_->Fill(line);
    if (!wrong.empty()) std::fprintf(stderr, "  %s\n", wrong.c_str());
  }
  if (!form_->done()) {
    std::fputs(form_->Prompt().c_str(), stderr);
    return;
  }
  respond.set_accept_json(form_->Content());
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
  const int code = Report(stub_->Respond(context.get(), respond, &response), *context);
  const acpd::v1::ProgressEvent question = *question_;
  question_.reset();
  form_.reset();
  if (code == kUsage) Ask(question);  // the answer did not fit; the message says how
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
