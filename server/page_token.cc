#include "server/page_token.h"

#include <charconv>
#include <optional>
#include <vector>

#include "absl/strings/escaping.h"
#include "session/errors.h"
#include "session/names.h"
#include "session/pack.h"

namespace acpd::server {
namespace {

constexpr char kTokenVersion[] = "1";

// Tells lists apart; nobody is kept out by it.
std::string Mark(std::string_view list) { return session::Fingerprint("page", list).substr(0, 12); }

template <class Number>
bool Parse(const std::string& text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<PageToken> Read(const std::string& text, std::string_view list) {
  std::string packed;
  if (!absl::WebSafeBase64Unescape(text, &packed)) return std::nullopt;
  const auto items = session::Unpack(packed);
  if (!items || items->size() != 5) return std::nullopt;
  if ((*items)[0] != kTokenVersion || (*items)[1] != Mark(list)) return std::nullopt;
  PageToken token;
  token.before_id = (*items)[3];
  if (!Parse((*items)[2], &token.before_time) || !Parse((*items)[4], &token.as_of_position))
    return std::nullopt;
  return token;
}

}  // namespace

std::string EncodePageToken(const PageToken& token, std::string_view list) {
  return absl::WebSafeBase64Escape(
      session::Pack({kTokenVersion, Mark(list), std::to_string(token.before_time), token.before_id,
                     std::to_string(token.as_of_position)}));
}

absl::StatusOr<PageToken> DecodePageToken(const std::string& text, std::string_view list) {
  auto token = Read(text, list);
  if (token) return *std::move(token);
  return session::MakeError(
      "INVALID_PAGE_TOKEN",
      "page_token is not one that this list gave out; take next_page_token of the page before, "
      "with the same filters.");
}

}  // namespace acpd::server
