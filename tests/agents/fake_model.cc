#include "tests/agents/fake_model.h"

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace acpd::e2e {
namespace {

constexpr milliseconds kStartPatience{60'000};

// It says {"listening":PORT}, a line of its own.
int PortIn(const std::string& output) {
  const std::string line = output.substr(0, output.find('\n'));
  const nlohmann::json said = nlohmann::json::parse(line, nullptr, false);
  if (!said.is_object() || !said.contains("listening")) return 0;
  return said["listening"].get<int>();
}

}  // namespace

FakeModel::FakeModel(const std::string& node, const std::string& script, const TempDir& dir)
    : log_(dir / "model.jsonl") {
  const std::string output = dir / "model.out";
  const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (out < 0) throw std::runtime_error("cannot write " + output);
  // The log's name is not an argument: a command line with the test's folder in it would make this
  // one of the processes that acpd must not leave behind.
  process_ = std::make_unique<Process>(Process::Options{.program = node,
                                                        .args = {script, "--port", "0"},
                                                        .env = {{"FAKE_LOG", log_}},
                                                        .stdin_fd = -1,
                                                        .stdout_fd = out,
                                                        .stderr_file = {}});
  ::close(out);
  WaitUntil([&output] { return ReadFile(output).find('\n') != std::string::npos; }, kStartPatience);
  const int port = PortIn(ReadFile(output));
  if (port == 0) throw std::runtime_error(script + " does not listen");
  url_ = "http://127.0.0.1:" + std::to_string(port);
}

}  // namespace acpd::e2e
