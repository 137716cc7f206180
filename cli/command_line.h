#ifndef ACPD_CLI_COMMAND_LINE_H_
#define ACPD_CLI_COMMAND_LINE_H_

namespace acpd::cli {

// Reads the command line (and ACPD_ADDRESS), runs the command, returns the exit code.
int RunCommandLine(int argc, const char* const* argv);

}  // namespace acpd::cli

#endif  // ACPD_CLI_COMMAND_LINE_H_
