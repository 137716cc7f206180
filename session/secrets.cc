#include "session/secrets.h"

#include <algorithm>

#include "acp/text.h"

namespace acpd::session {
namespace {

constexpr size_t kShortestSecret = 8;
constexpr std::string_view kHidden = "***";

bool IsEscaped(char c) { return static_cast<unsigned char>(c) < ' ' || c == '"' || c == '\\'; }

void AddPieces(std::string_view secret, std::vector<std::string_view>& pieces) {
  while (!secret.empty()) {
    const auto end = std::find_if(secret.begin(), secret.end(), IsEscaped);
    const size_t size = end - secret.begin();
    if (size >= kShortestSecret) pieces.push_back(secret.substr(0, size));
    secret.remove_prefix(std::min(size + 1, secret.size()));
  }
}

// A piece at its place in a text. The earliest is the next one; of those at one place the longest.
struct Match {
  size_t at = std::string_view::npos, size = 0;
};

Match NextMatch(std::string_view text, size_t from, const std::vector<std::string_view>& pieces) {
  Match next;
  for (const std::string_view piece : pieces) {
    const size_t at = text.find(piece, from);
    if (at == text.npos) continue;
    if (at < next.at || (at == next.at && piece.size() > next.size)) next = {at, piece.size()};
  }
  return next;
}

}  // namespace

bool NamesSecret(std::string_view variable) {
  std::string name(variable);
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  for (const std::string_view word : {"KEY", "TOKEN", "SECRET", "PASSWORD"}) {
    if (name.find(word) != name.npos) return true;
  }
  return false;
}

std::string HideSecrets(std::string_view text, const std::vector<std::string>& secrets,
                        size_t limit) {
  std::vector<std::string_view> pieces;
  for (const std::string& secret : secrets) AddPieces(secret, pieces);
  size_t longest = 4;  // a character, which is not cut either
  for (const std::string_view piece : pieces) longest = std::max(longest, piece.size());
  std::string shown;
  size_t at = 0;
  while (at < text.size() && shown.size() < limit) {
    // No farther than what is shown, and what begins at its end.
    const std::string_view window = text.substr(0, at + (limit - shown.size()) + longest);
    const Match match = NextMatch(window, at, pieces);
    const size_t plain = std::min(match.at, window.size()) - at;
    shown.append(window.substr(at, plain));
    at += plain;
    if (match.at == window.npos) break;
    shown.append(kHidden);
    at += match.size;
  }
  if (shown.size() > limit) shown.resize(CutText(shown, limit).size());
  return shown;
}

}  // namespace acpd::session
