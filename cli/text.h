#ifndef ACPD_CLI_TEXT_H_
#define ACPD_CLI_TEXT_H_

#include <string>
#include <vector>

namespace acpd::cli {

// Small things about text.

// A text of an agent as a terminal may have it: without what moves the cursor, colours or changes
// the direction of what stands there. Newlines and tabs stay.
std::string Shown(const std::string& text);
// The same on one line.
std::string ShownLine(const std::string& text);
bool IsUtf8(const std::string& bytes);
size_t CountCharacters(const std::string& text);
std::string Trimmed(const std::string& text);
std::string Lowered(std::string text);
// "red, green".
std::string Join(const std::vector<std::string>& words);

}  // namespace acpd::cli

#endif  // ACPD_CLI_TEXT_H_
