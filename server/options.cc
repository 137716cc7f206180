#include "server/options.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "server/address.h"
#include "server/strings.h"

namespace acpd::server {
namespace {

constexpr char kVersion[] = "acpd " ACPD_VERSION;

void Describe(CLI::App* app, Options* options) {
  app->add_option("--config", options->config_file, "The config file (JSON, comments allowed)")
      ->type_name("FILE");
  app->add_option("--address-file", options->address_file,
                  "Once ready, write the addresses really listened on here, one a line")
      ->type_name("FILE");
  app->add_option("--listen", options->listen,
                  "Listen here instead: host:port or unix:/path; may be given several times")
      ->type_name("ADDRESS")
      ->allow_extra_args(false);
  app->add_option("--state-dir", options->state_dir, "Keep the state here instead")
      ->type_name("FOLDER");
  app->add_flag("--check-config", options->check_config,
                "Check config and flags, print OK or the error, and leave");
  app->set_version_flag("--version", kVersion);
  app->footer("Exit codes: 0 stopped in order, 1 could not start, 2 bad config or flags.");
}

// What the flags say, in a form that does not depend on the current folder.
absl::StatusOr<Options> Check(Options options, const CLI::App& app) {
  for (const char* name : {"--config", "--address-file", "--state-dir"}) {
    if (app.count(name) > 0 && app.get_option(name)->as<std::string>().empty()) {
      return absl::InvalidArgumentError(Cat(name, " needs a value that is not empty"));
    }
  }
  for (const std::string& address : options.listen) {
    if (const auto parsed = ParseListenAddress(address); !parsed.ok()) return parsed.status();
  }
  if (!options.state_dir.empty()) {
    std::error_code error;
    std::filesystem::path path =
        std::filesystem::absolute(options.state_dir, error).lexically_normal();
    if (error) return absl::InvalidArgumentError(Cat("--state-dir: ", error.message()));
    options.state_dir = path.has_filename() ? path.string() : path.parent_path().string();
  }
  return options;
}

}  // namespace

absl::StatusOr<Options> ParseOptions(int argc, const char* const* argv) {
  Options options;
  CLI::App app("acpd runs AI coding agents for other programs, behind one gRPC service.", "acpd");
  Describe(&app, &options);
  try {
    app.parse(argc, argv);
    return Check(std::move(options), app);
  } catch (const CLI::CallForHelp&) {
    options.answer = app.help();
    return options;
  } catch (const CLI::CallForVersion&) {
    options.answer = Cat(kVersion, "\n");
    return options;
  } catch (const CLI::Error& e) {
    return absl::InvalidArgumentError(Cat(e.what(), "; see acpd --help"));
  }
}

}  // namespace acpd::server
