#include "server/status.h"

#include <algorithm>

#include "acp/text.h"
#include "session/errors.h"

namespace acpd::server {
namespace {

constexpr size_t kMaxMessage = 1024;
constexpr size_t kMaxTrailers = 2048;

// What gRPC's percent-encoding makes of a byte of the message
// (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md, Percent-Byte-Encoded).
size_t EncodedSize(char c) { return c >= ' ' && c <= '~' && c != '%' ? 1 : 3; }

std::string_view CutToTravel(std::string_view message) {
  size_t encoded = 0;
  for (size_t i = 0; i < message.size(); ++i) {
    encoded += EncodedSize(message[i]);
    if (encoded > kMaxMessage) return CutText(message, i);
  }
  return message;
}

}  // namespace

// The codes of absl::StatusCode are those of gRPC.
static_assert(static_cast<int>(absl::StatusCode::kInvalidArgument) == grpc::INVALID_ARGUMENT);
static_assert(static_cast<int>(absl::StatusCode::kUnauthenticated) == grpc::UNAUTHENTICATED);
static_assert(static_cast<int>(absl::StatusCode::kUnavailable) == grpc::UNAVAILABLE);

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const std::string message(status.message());
  return grpc::Status(static_cast<grpc::StatusCode>(status.raw_code()),
                      std::string(CutToTravel(message)));
}

Metadata TrailersOf(const absl::Status& status) {
  if (status.ok() || absl::IsCancelled(status)) return {};
  const session::Failure failure = session::ToFailure(status);
  Metadata metadata = {{kReasonKey, failure.reason},
                       {kSessionIdKey, session::SessionIdOf(status)},
                       {kTurnIdKey, session::TurnIdOf(status)}};
  if (failure.retry_after.count() > 0) {
    metadata.emplace_back(kRetryPushbackKey, std::to_string(failure.retry_after.count()));
  }
  return metadata;
}

bool IsHeaderValue(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

Metadata Fitting(const Metadata& metadata) {
  Metadata fitting;
  size_t size = 0;
  for (const auto& entry : metadata) {
    size_t with = size + entry.first.size() + entry.second.size() + 32;  // as HPACK counts an entry
    if (entry.second.empty() || !IsHeaderValue(entry.second) || with > kMaxTrailers) continue;
    size = with;
    fitting.push_back(entry);
  }
  return fitting;
}

}  // namespace acpd::server
