#include "tests/cli/acpctl.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <sstream>
#include <stdexcept>

namespace acpd::cli {

Acpctl::Acpctl(const std::string& base, const std::string& address, std::vector<std::string> args,
               const AcpctlOptions& options)
    : base_(base) {
  const std::string path = options.stdout_file.empty() ? base + ".out" : options.stdout_file;
  const int out = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (out < 0) throw std::runtime_error("cannot write " + path);
  std::map<std::string, std::string> env = options.env;
  env["ACPD_ADDRESS"] = address;
  process_ = std::make_unique<e2e::Process>(e2e::Process::Options{
      .program = e2e::ProgramPath("acpctl"),
      .args = std::move(args),
      .env = env,
      .stdin_fd = options.stdin_fd,
      .stdout_fd = out,
      .stderr_file = base + ".err",
      .terminal = options.terminal ? options.terminal->path() : std::string()});
  close(out);
}

bool Acpctl::WaitForOut(const std::string& text) const {
  return e2e::WaitUntil([&] { return Out().find(text) != std::string::npos; });
}

bool Acpctl::WaitForErr(const std::string& text) const {
  return e2e::WaitUntil([&] { return Err().find(text) != std::string::npos; });
}

std::string Acpctl::WordAfter(const std::string& label) const {
  std::string word;
  e2e::WaitUntil([&] {
    const std::string text = Err();
    const size_t at = text.find(label);
    const size_t end = at == std::string::npos ? at : text.find_first_of(" \n", at + label.size());
    if (end == std::string::npos) return false;
    word = text.substr(at + label.size(), end - at - label.size());
    return true;
  });
  return word;
}

ExitStatus Acpctl::Wait() { return process_->Wait().value_or(ExitStatus{-1, SIGKILL}); }

std::unique_ptr<Acpctl> CliTest::Start(std::vector<std::string> args,
                                       const AcpctlOptions& options) {
  return std::make_unique<Acpctl>(dir() / ("acpctl-" + std::to_string(++runs_)), daemon().address(),
                                  std::move(args), options);
}

std::unique_ptr<Acpctl> CliTest::StartAt(const Terminal& terminal, std::vector<std::string> args) {
  AcpctlOptions options;
  options.terminal = &terminal;
  return Start(std::move(args), options);
}

std::unique_ptr<Acpctl> CliTest::Run(int exit_code, std::vector<std::string> args,
                                     const AcpctlOptions& options) {
  auto acpctl = Start(std::move(args), options);
  EXPECT_EQ(acpctl->Wait(), Exited(exit_code)) << acpctl->Out() << "---- stderr:\n"
                                               << acpctl->Err();
  return acpctl;
}

api::Turn CliTest::TurnOf(const Acpctl& chat) {
  const auto turn = client().GetTurn(chat.WordAfter("turn: "));
  EXPECT_TRUE(turn.ok()) << turn.ToString() << chat.Err();
  return turn.response;
}

bool CliTest::WaitForState(const std::string& turn_id, api::TurnState state) {
  return e2e::WaitUntil([&] { return client().GetTurn(turn_id).response.state() == state; });
}

std::string AskingPrompt() {
  const json options = {{{"optionId", "yes"}, {"kind", "allow_once"}},
                        {{"optionId", "no"}, {"kind", "reject_once"}}};
  const json ask = {{"id", "q"}, {"options", options}, {"wait", true}};
  return Scripted({{{"ask", ask}}, {{"say_chosen", "q"}}});
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace acpd::cli
