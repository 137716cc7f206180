#ifndef ACPD_CLI_PROMPT_FILES_H_
#define ACPD_CLI_PROMPT_FILES_H_

#include <string>

#include "cli/connection.h"

namespace acpd::cli {

// Adds a file to a prompt: an image or a sound as such, another one with its contents, as text
// where it is some; `link`: only where it is (a folder will do, too), for the agent to look itself.
// Empty, or why it cannot be added, for the person.
std::string AddFile(const std::string& path, bool link, acpd::v1::ChatRequest* chat);
// A folder as acpd takes it: absolute, a relative one from here. Empty stays empty.
std::string FolderFrom(const std::string& path);

}  // namespace acpd::cli

#endif  // ACPD_CLI_PROMPT_FILES_H_
