#include "server/request_checks.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <utility>

#include "session/errors.h"
#include "session/names.h"

namespace acpd::server {
namespace {
constexpr int64_t kMaxSeconds = 10LL * 366 * 24 * 3600;
constexpr int32_t kNanosPerSecond = 1'000'000'000;
constexpr int32_t kNanosPerMillisecond = 1'000'000;
}  // namespace

void Checks::Require(bool holds, std::string_view reason, std::string_view message) {
  if (!holds && status_.ok()) status_ = session::MakeError(reason, message);
}

void Checks::Add(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

void Checks::Project(const std::string& project_id) {
  Require(session::IsProjectId(project_id), "INVALID_PROJECT_ID",
          "project_id has to be 1 to 128 of A-Z, a-z, 0-9, '.', '_' and '-', beginning with a "
          "letter or digit.");
}

void Checks::Session(const std::string& session_id) {
  Require(session::IsSessionId(session_id), "INVALID_SESSION_ID",
          "session_id has to be 1 to 256 printable ASCII characters without space and '/'.");
}

void Checks::RequestId(const std::string& request_id) {
  Require(session::IsRequestId(request_id), "INVALID_REQUEST",
          "request_id has to be at most 256 bytes of printable text.");
}

void Checks::Enum(std::string_view field, bool is_valid) {
  Require(is_valid, "INVALID_REQUEST",
          std::string(field) + " has a value that this acpd does not know.");
}

void Checks::Text(std::string_view field, const std::string& text, size_t max_bytes) {
  Size(field, text.size(), max_bytes);
}

void Checks::Size(std::string_view field, size_t bytes, size_t max_bytes) {
  Require(bytes <= max_bytes, "INVALID_REQUEST",
          std::string(field) + " has more than " + std::to_string(max_bytes) + " bytes.");
}

void Checks::Count(std::string_view field, int count, int max) {
  Require(count <= max, "INVALID_REQUEST",
          std::string(field) + " has more than " + std::to_string(max) + " entries.");
}

void Checks::Map(std::string_view field,
                 const google::protobuf::Map<std::string, std::string>& map) {
  Require(session::AreLabels({map.begin(), map.end()}), "INVALID_REQUEST",
          std::string(field) + " has more than 64 entries, or more than 16 KiB in all.");
}

void Checks::Duration(std::string_view field, const google::protobuf::Duration& duration) {
  const bool valid =
      duration.seconds() >= 0 && duration.nanos() >= 0 && duration.nanos() < kNanosPerSecond;
  Require(valid, "INVALID_REQUEST", std::string(field) + " is negative or no duration.");
}

session::milliseconds MillisecondsFrom(const google::protobuf::Duration& duration) {
  if (duration.seconds() >= kMaxSeconds) return session::milliseconds(kMaxSeconds * 1000);
  return session::milliseconds(duration.seconds() * 1000 +
                               (duration.nanos() + kNanosPerMillisecond - 1) /
                                   kNanosPerMillisecond);
}

std::string CanonicalBytes(const google::protobuf::Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&out);
  out.Trim();
  return bytes;
}

}  // namespace acpd::server
