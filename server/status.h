#ifndef ACPD_SERVER_STATUS_H_
#define ACPD_SERVER_STATUS_H_

#include <grpcpp/support/status.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace acpd::server {

// Trailing (or initial) metadata, in order.
using Metadata = std::vector<std::pair<std::string, std::string>>;

inline constexpr char kReasonKey[] = "acpd-reason";
inline constexpr char kSessionIdKey[] = "acpd-session-id";
inline constexpr char kTurnIdKey[] = "acpd-turn-id";
inline constexpr char kPositionKey[] = "acpd-position";
inline constexpr char kAfterPositionKey[] = "acpd-after-position";
inline constexpr char kEpochKey[] = "acpd-epoch";
inline constexpr char kRetryPushbackKey[] = "grpc-retry-pushback-ms";

// The gRPC status of an error of session/errors.h. Its message is cut at a character border to at
// most 1 KiB as it travels (percent-encoded): past 8 KB in all, C-core clients lose status and
// trailers alike.
grpc::Status ToGrpcStatus(const absl::Status& status);

// What goes with it: the reason, the ids and when to try again, as far as known. Nothing for OK, or
// for a caller that has left.
Metadata TrailersOf(const absl::Status& status);

// Adds what can travel as a header value (printable ASCII, not empty) and fits into 2 KiB in all,
// which with the message stays under 4 KiB.
template <class Context>
void AddTrailers(const Metadata& metadata, Context& context);

// Whether a value can travel in an ASCII header.
bool IsHeaderValue(std::string_view value);
// The entries that AddTrailers takes.
Metadata Fitting(const Metadata& metadata);

template <class Context>
void AddTrailers(const Metadata& metadata, Context& context) {
  for (const auto& [key, value] : Fitting(metadata)) context.AddTrailingMetadata(key, value);
}

}  // namespace acpd::server

#endif  // ACPD_SERVER_STATUS_H_
