#ifndef ACPD_SERVER_CONFIG_READER_H_
#define ACPD_SERVER_CONFIG_READER_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/daemon_config.h"

namespace acpd::server {

// Reads the text of a config file over the defaults in `config`. INVALID_ARGUMENT with "LINE: KEY:
// what was expected, and what stands there" for the first thing that is wrong.
absl::Status ReadConfig(std::string_view text, DaemonConfig* config);

// What a sentence about a config repeats of it may be of any length and hold anything: the same
// status with a sentence that fits on one line of a terminal.
absl::Status OneLine(const absl::Status& status);

// The same of a file: "FILE:LINE: ...". Blocking, as ${file:PATH} is.
absl::Status ReadConfigFile(const std::string& path, DaemonConfig* config);

}  // namespace acpd::server

#endif  // ACPD_SERVER_CONFIG_READER_H_
