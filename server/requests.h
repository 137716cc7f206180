#ifndef ACPD_SERVER_REQUESTS_H_
#define ACPD_SERVER_REQUESTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "acpd/v1/session_service.pb.h"
#include "server/event_filter.h"
#include "session/session_manager.h"
#include "session/types.h"

// The API's requests as the domain's values, checked as far as that goes without knowing any state:
// form of ids, enum values, durations, fields that exclude each other. What is wrong comes back as
// an error of session/errors.h. Those that make turns stand in server/chat_request.h. Pure
// functions.
namespace acpd::server {

absl::StatusOr<session::CancelQuery> CancelFrom(const v1::CancelRequest& request,
                                                const acp::TraceContext& trace = {});
absl::StatusOr<session::RespondQuery> RespondFrom(const v1::RespondRequest& request);

struct GetTurnParams {
  session::TurnQuery query;
  session::WaitFor wait_for = session::WaitFor::kUnspecified;
};
absl::StatusOr<GetTurnParams> GetTurnFrom(const v1::GetTurnRequest& request);

// Lists: the query of one page, and of which list the page is (part of its tokens).
struct ListTurnsParams {
  session::TurnListQuery query;
  uint64_t as_of_position = 0;  // of the first page; 0: this is it
};
absl::StatusOr<ListTurnsParams> ListTurnsFrom(const v1::ListTurnsRequest& request);
struct ListSessionsParams {
  session::ListSessionsQuery query;
  bool full = false;
  uint64_t as_of_position = 0;
};
absl::StatusOr<ListSessionsParams> ListSessionsFrom(const v1::ListSessionsRequest& request);
// The tokens of the pages behind a turn or session, for the same filters.
std::string NextPageToken(const v1::ListTurnsRequest& request, const session::TurnView& last,
                          uint64_t as_of);
std::string NextPageToken(const v1::ListSessionsRequest& request, const session::SessionView& last,
                          uint64_t as_of);

// OK, or why this is no session_id.
absl::Status CheckSessionId(const std::string& session_id);

struct SubscribeParams {
  enum class Start { kNow, kAfterSeq, kAfterPosition };
  session::SubscriptionQuery query;
  Start start = Start::kNow;
  uint64_t after = 0;
  std::string epoch;
  EventFilter filter;
  bool replay_only = false;
  bool omit_json = false;
  milliseconds heartbeat{0};
};
absl::StatusOr<SubscribeParams> SubscribeFrom(const v1::SubscribeProgressRequest& request);
// The interval of heartbeats: default 15 s, least 1 s.
absl::StatusOr<milliseconds> HeartbeatFrom(bool has, const google::protobuf::Duration& duration);

}  // namespace acpd::server

#endif  // ACPD_SERVER_REQUESTS_H_
