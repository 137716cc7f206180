#ifndef ACPD_SERVER_OPTIONS_H_
#define ACPD_SERVER_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace acpd::server {

// What changes per start: acpd's flags. A plain value.
struct Options {
  std::string config_file;
  std::string address_file;
  std::vector<std::string> listen;  // instead of the config's
  std::string state_dir;            // instead of the config's; absolute
  bool check_config = false;
  std::string answer;  // --help, --version: print this and leave with 0
};

// INVALID_ARGUMENT with a sentence for flags that are wrong.
absl::StatusOr<Options> ParseOptions(int argc, const char* const* argv);

}  // namespace acpd::server

#endif  // ACPD_SERVER_OPTIONS_H_
