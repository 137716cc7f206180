// acpctl: acpd at the command line.
#include "cli/command_line.h"

int main(int argc, char** argv) { return acpd::cli::RunCommandLine(argc, argv); }
