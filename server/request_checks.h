#ifndef ACPD_SERVER_REQUEST_CHECKS_H_
#define ACPD_SERVER_REQUEST_CHECKS_H_

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/map.h>
#include <google/protobuf/message.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "session/types.h"

namespace acpd::server {

// What a caller may say in one field: what is kept comes back in answers and events, and those have
// to stay below what clients take.
inline constexpr size_t kMaxIdBytes = 256;
inline constexpr size_t kMaxTextBytes = 4u << 10;
inline constexpr size_t kMaxKeyBytes = 16u << 10;  // an api_key; some are long

// Gathers the checks of one request; the first that fails is the answer.
class Checks {
 public:
  void Require(bool holds, std::string_view reason, std::string_view message);
  void Add(absl::Status status);
  void Project(const std::string& project_id);
  void Session(const std::string& session_id);
  void RequestId(const std::string& request_id);
  void Enum(std::string_view field, bool is_valid);
  void Text(std::string_view field, const std::string& text, size_t max_bytes = kMaxTextBytes);
  // Of a whole message or list.
  void Size(std::string_view field, size_t bytes, size_t max_bytes);
  void Count(std::string_view field, int count, int max);
  // Labels and what is like them: at most 64 entries, 16 KiB in all.
  void Map(std::string_view field, const google::protobuf::Map<std::string, std::string>& map);
  // Well-formed and not negative.
  void Duration(std::string_view field, const google::protobuf::Duration& duration);

  const absl::Status& status() const { return status_; }

 private:
  absl::Status status_;
};

// Rounded up to a millisecond, at most ten years, so that adding it to any clock is safe.
session::milliseconds MillisecondsFrom(const google::protobuf::Duration& duration);

// The same bytes for equal messages: maps sorted, fields in order.
std::string CanonicalBytes(const google::protobuf::Message& message);

}  // namespace acpd::server

#endif  // ACPD_SERVER_REQUEST_CHECKS_H_
