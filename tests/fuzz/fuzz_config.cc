// The config file, from its text to the configuration that acpd would start with. Input: the text.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>

#include "acp/text.h"
#include "server/address.h"
#include "server/config_reader.h"
#include "server/load_config.h"
#include "server/strings.h"
#include "session/launch.h"
#include "tests/fuzz/fuzz.h"

namespace acpd::fuzz {
namespace {

using server::DaemonConfig;
using session::AgentDefinition;

constexpr size_t kMaxMessage = 1200;

// One line that a person can read in any terminal.
void CheckSentence(const absl::Status& status) {
  const std::string_view message(status.message().data(), status.message().size());
  Require(absl::IsInvalidArgument(status), "a bad config is INVALID_ARGUMENT");
  Require(!message.empty() && message.size() <= kMaxMessage, "an error is a short sentence");
  Require(IsCleanText(message), "an error is UTF-8");
  Require(std::none_of(message.begin(), message.end(),
                       [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; }),
          "an error is one line without control characters");
}

// "LINE: what is wrong".
void CheckPosition(const absl::Status& status, std::string_view text) {
  const std::string_view message(status.message().data(), status.message().size());
  int64_t line = 0;
  const auto [end, error] = std::from_chars(message.data(), message.data() + message.size(), line);
  Require(error == std::errc() && message.substr(end - message.data()).starts_with(": "),
          "an error begins with its line");
  Require(line >= 1 && line <= 1 + std::count(text.begin(), text.end(), '\n'),
          "an error's line is one of the text");
}

void CheckAgent(const AgentDefinition& agent, const DaemonConfig& config) {
  Require(!agent.name.empty() && !agent.command.empty() && !agent.resume.empty(),
          "an agent has a name, a command and a way to resume");
  Require(session::CheckTemplate(agent.command).ok(), "a command is a good template");
  session::LaunchContext context;
  context.project_id = "p";
  context.cwd = "/";
  context.secrets = &config.secrets;
  const auto spec = session::BuildLaunchSpec(agent, context, "w");
  if (!spec.ok()) return;
  const auto whole = [](const std::string& text) { return text.find('\0') == text.npos; };
  Require(std::all_of(spec->argv.begin(), spec->argv.end(), whole), "an argument has no NUL");
  for (const auto& [name, value] : spec->env) {
    Require(!name.empty() && name.find('=') == name.npos && whole(name) && whole(value),
            "a variable can be given to a process");
  }
}

void CheckConfig(const DaemonConfig& config) {
  for (const std::string& listen : config.listen) {
    const auto address = server::ParseListenAddress(listen);
    Require(address.ok(), "addresses have been checked");
    const auto again = server::ParseListenAddress(address->ToString());
    Require(again.ok() && again->ToString() == address->ToString(), "an address can be read again");
  }
  for (const std::string* path : {&config.state_dir, &config.runtime_dir, &config.projects_root}) {
    Require(path->empty() || path->starts_with('/'), "paths are absolute");
  }
  Require(config.limits.max_depth >= 8 && config.limits.max_depth <= 1024 &&
              config.limits.max_line >= 1024 && config.limits.max_line <= 256u << 20,
          "limits are in range");
  for (const AgentDefinition& agent : config.agents) CheckAgent(agent, config);
}

// As `acpd --check-config` does; the file is one in memory.
void CheckLoad(std::string_view text) {
  const int fd = memfd_create("config", MFD_CLOEXEC);
  Require(fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()),
          "a file can be made");
  server::Options options;
  options.config_file = server::Cat("/proc/self/fd/", fd);
  const auto config = server::LoadConfig(options);
  close(fd);
  if (!config.ok()) return CheckSentence(config.status());
  CheckConfig(*config);
  Require(!config->listen.empty() && !config->state_dir.empty() && !config->runtime_dir.empty(),
          "what a start needs is there");
  Require(server::CheckListenAddresses(config->listen, config->allow_insecure).ok(),
          "nobody listens to other machines by mistake");
}

}  // namespace
}  // namespace acpd::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  setenv("ACPD_FUZZ", "/value$\n\xff", 1);
  setenv("XDG_STATE_HOME", "/state", 1);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace acpd::fuzz;
  const Block text({reinterpret_cast<const char*>(data), size});
  DaemonConfig config;
  const absl::Status read = acpd::server::ReadConfig(text.view(), &config);
  DaemonConfig again;
  Require(acpd::server::ReadConfig(text.view(), &again) == read, "the same text reads the same");
  if (!read.ok()) {
    CheckSentence(read);
    CheckPosition(read, text.view());
    return 0;
  }
  CheckConfig(config);
  CheckLoad(text.view());
  return 0;
}
