#ifndef ACPD_SERVER_PAGE_TOKEN_H_
#define ACPD_SERVER_PAGE_TOKEN_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/request_checks.h"
#include "session/types.h"

namespace acpd::server {

// Where a list goes on: behind an entry, newest first. Opaque to callers; good for the list (method
// and filters) it came from, also after a restart.
struct PageToken {
  session::WallTime before_time = 0;
  std::string before_id;
  uint64_t as_of_position = 0;  // of the first page
};

// `list` names the method and the filters.
std::string EncodePageToken(const PageToken& token, std::string_view list);
// INVALID_PAGE_TOKEN when it is malformed or of another list.
absl::StatusOr<PageToken> DecodePageToken(const std::string& text, std::string_view list);

// The list that a request asks for: its method and filters, without where in it a page is.
template <class Request>
std::string ListName(Request request) {
  request.clear_page_size();
  request.clear_page_token();
  return Request::descriptor()->name() + CanonicalBytes(request);
}

// Where the request's page begins; nothing is set for the first one.
template <class Request>
absl::StatusOr<PageToken> TokenOf(const Request& request) {
  if (request.page_token().empty()) return PageToken();
  return DecodePageToken(request.page_token(), ListName(request));
}

}  // namespace acpd::server

#endif  // ACPD_SERVER_PAGE_TOKEN_H_
