#ifndef ACPD_SERVER_PAGE_TOKEN_H_
#define ACPD_SERVER_PAGE_TOKEN_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
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

}  // namespace acpd::server

#endif  // ACPD_SERVER_PAGE_TOKEN_H_
