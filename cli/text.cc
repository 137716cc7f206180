#include "cli/text.h"

#include <google/protobuf/stubs/strutil.h>

#include <algorithm>
#include <string_view>

namespace acpd::cli {
namespace {

constexpr char kReplacement[] = "\xEF\xBF\xBD";
constexpr char kBlanks[] = " \t\r\n";

// Of the character that begins there: its bytes if a terminal would take it for a command, else 0.
size_t CommandAt(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x20 || first == 0x7F) return first == '\n' || first == '\t' ? 0 : 1;
  const auto byte = [text](size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
  };
  if (first == 0xC2 && byte(1) >= 0x80 && byte(1) <= 0x9F) return 2;  // C1
  // U+202A to U+202E and U+2066 to U+2069 turn the direction of text around.
  if (first != 0xE2) return 0;
  const bool turns = (byte(1) == 0x80 && byte(2) >= 0xAA && byte(2) <= 0xAE) ||
                     (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9);
  return turns ? 3 : 0;
}

}  // namespace

std::string Shown(const std::string& text) {
  std::string shown;
  for (size_t at = 0; at < text.size();) {
    const size_t command = CommandAt(std::string_view(text).substr(at));
    if (command == 0) {
      shown += text[at++];
      continue;
    }
    // The end of a line of Windows is none.
    if (text.compare(at, 2, "\r\n") != 0) shown += kReplacement;
    at += command;
  }
  return shown;
}

std::string ShownLine(const std::string& text) {
  std::string line = Shown(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::replace(line.begin(), line.end(), '\t', ' ');
  return Trimmed(line);
}

bool IsUtf8(const std::string& bytes) {
  return google::protobuf::internal::IsStructurallyValidUTF8(bytes.data(),
                                                             static_cast<int>(bytes.size()));
}

size_t CountCharacters(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string Lowered(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace acpd::cli
