#include "cli/permission_prompt.h"

#include <termios.h>
#include <unistd.h>

#include <cstdio>

#include "cli/event_words.h"

namespace acpd::cli {

bool PermissionPrompt::CanAsk() const {
  return !closed_ && isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

void PermissionPrompt::Ask(const acpd::v1::ProgressEvent& question) {
  question_ = question;
  input_.clear();
  tcflush(STDIN_FILENO, TCIFLUSH);
  const auto& options = question.permission_requested().options();
  for (int i = 0; i < options.size(); ++i) {
    std::fprintf(stderr, "  %d) %s (%s)\n", i + 1, options[i].name().c_str(),
                 options[i].option_id().c_str());
  }
  std::fprintf(stderr, "  your choice [1-%d]: ", options.size());
}

int PermissionPrompt::fd() const { return asking() ? STDIN_FILENO : -1; }

void PermissionPrompt::OnInput() {
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
    Answer(line);
  }
}

void PermissionPrompt::Withdraw(const acpd::v1::QuestionResolved& resolved) {
  if (!asking()) return;
  if (question_->permission_requested().question_id() == resolved.question_id()) Drop();
}

void PermissionPrompt::Drop() {
  if (asking()) std::fputc('\n', stderr);  // behind what was asked
  question_.reset();
}

void PermissionPrompt::Answer(const std::string& line) {
  const std::string option_id = OptionFor(line);
  if (option_id.empty()) {
    std::fprintf(stderr, "  please type a number from 1 to %d: ",
                 question_->permission_requested().options_size());
    return;
  }
  acpd::v1::RespondRequest respond;
  respond.set_session_id(question_->session_id());
  respond.set_question_id(question_->permission_requested().question_id());
  respond.set_option_id(option_id);
  acpd::v1::RespondResponse response;
  const auto context = NewContext(settings_, kShortCall);
  Report(stub_->Respond(context.get(), respond, &response), *context);
  question_.reset();
}

std::string PermissionPrompt::OptionFor(const std::string& line) const {
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
