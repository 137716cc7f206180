#ifndef ACPD_SERVER_REQUEST_CHECKS_H_
#define ACPD_SERVER_REQUEST_CHECKS_H_

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/message.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "session/types.h"

namespace acpd::server {

// Gathers the checks of one request; the first that fails is the answer.
class Checks {
 public:
  void Require(bool holds, std::string_view reason, std::string_view message);
  void Add(absl::Status status);
  void Project(const std::string& project_id);
  void Session(const std::string& session_id);
  void RequestId(const std::string& request_id);
  void Enum(std::string_view field, bool is_valid);
  // Well-formed and not negative.
  void Duration(std::string_view field, const google::protobuf::Duration& duration);

  const absl::Status& status() const { return status_; }

 private:
  absl::Status status_;
};

absl::Status NotImplemented(std::string_view what);

// Rounded up to a millisecond, at most ten years, so that adding it to any clock is safe.
session::milliseconds MillisecondsFrom(const google::protobuf::Duration& duration);

// The same bytes for equal messages: maps sorted, fields in order.
std::string CanonicalBytes(const google::protobuf::Message& message);

}  // namespace acpd::server

#endif  // ACPD_SERVER_REQUEST_CHECKS_H_
