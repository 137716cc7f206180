#include <algorithm>

#include "server/request_checks.h"
#include "server/requests.h"
#include "session/errors.h"

namespace acpd::server {
namespace {

using Request = v1::SubscribeProgressRequest;
using Kind = session::LogScope::Kind;

constexpr milliseconds kDefaultHeartbeat = std::chrono::seconds(15);
constexpr milliseconds kLeastHeartbeat = std::chrono::seconds(1);

absl::StatusOr<session::LogScope> ScopeFrom(const Request& request) {
  Checks checks;
  switch (request.scope_case()) {
    case Request::kSessionId:
      checks.Session(request.session_id());
      checks.Require(request.labels().empty(), "INVALID_REQUEST",
                     "labels goes with project_id or everything, not with session_id.");
      if (!checks.status().ok()) return checks.status();
      return session::LogScope{Kind::kSession, request.session_id()};
    case Request::kProjectId:
      checks.Project(request.project_id());
      if (!checks.status().ok()) return checks.status();
      return session::LogScope{Kind::kProject, request.project_id()};
    case Request::kEverything:
      if (request.everything()) return session::LogScope{Kind::kEverything, ""};
      return session::MakeError(
          "INVALID_REQUEST",
          "everything is false; set session_id, project_id or everything: true.");
    case Request::SCOPE_NOT_SET:
      break;
  }
  return session::MakeError("INVALID_REQUEST",
                            "there is no scope; set session_id, project_id or everything.");
}

absl::Status SetStart(const Request& request, SubscribeParams& params) {
  params.epoch = request.epoch();
  if (request.has_after_position()) {
    params.start = SubscribeParams::Start::kAfterPosition;
    params.after = request.after_position();
  } else if (request.has_after_seq()) {
    if (params.query.scope.kind != Kind::kSession) {
      return session::MakeError(
          "INVALID_CURSOR",
          "after_seq goes with session_id only; use after_position in other scopes.");
    }
    params.start = SubscribeParams::Start::kAfterSeq;
    params.after = request.after_seq();
  }
  return absl::OkStatus();
}

absl::Status SetFilter(const Request& request, EventFilter& filter) {
  Checks checks;
  for (int kind : request.event_kinds()) {
    checks.Enum("event_kinds", v1::EventKind_IsValid(kind) && kind != v1::EVENT_KIND_UNSPECIFIED);
    filter.event_kinds.insert(static_cast<uint32_t>(kind));
  }
  checks.Text("turn_id", request.turn_id(), kMaxIdBytes);
  checks.Text("until_turn_id", request.until_turn_id(), kMaxIdBytes);
  checks.Map("labels", request.labels());
  filter.update_kinds.insert(request.update_kinds().begin(), request.update_kinds().end());
  filter.turn_id = request.turn_id();
  filter.labels.insert(request.labels().begin(), request.labels().end());
  return checks.status();
}

}  // namespace

absl::StatusOr<milliseconds> HeartbeatFrom(bool has, const google::protobuf::Duration& duration) {
  Checks checks;
  checks.Duration("heartbeat", duration);
  if (!checks.status().ok()) return checks.status();
  return has ? std::max(MillisecondsFrom(duration), kLeastHeartbeat) : kDefaultHeartbeat;
}

absl::StatusOr<SubscribeParams> SubscribeFrom(const Request& request) {
  SubscribeParams params;
  auto scope = ScopeFrom(request);
  if (!scope.ok()) return scope.status();
  params.query.scope = *std::move(scope);
  params.query.until_turn_id = request.until_turn_id();
  params.query.turn_id = request.turn_id();
  if (auto status = SetStart(request, params); !status.ok()) return status;
  if (auto status = SetFilter(request, params.filter); !status.ok()) return status;
  const auto heartbeat = HeartbeatFrom(request.has_heartbeat(), request.heartbeat());
  if (!heartbeat.ok()) return heartbeat.status();
  params.heartbeat = *heartbeat;
  params.replay_only = request.replay_only();
  params.omit_json = request.omit_json();
  return params;
}

}  // namespace acpd::server
