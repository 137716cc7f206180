#ifndef ACPD_SERVER_LIST_EVENTS_H_
#define ACPD_SERVER_LIST_EVENTS_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "acp/asio.h"
#include "acpd/v1/session_service.pb.h"
#include "server/event_pager.h"
#include "session/event_log.h"
#include "session/session_manager.h"

// ListEvents: pages of a session's log. A page is read, filtered and encoded on the store's reader
// threads, a piece of the log at a time, so that no other reader waits for it; the loop only hands
// it on.
namespace acpd::server {

// A page ends when it took this much of the log, whatever came of it.
inline constexpr size_t kMaxReadForPage = 8u << 20;

struct ListEventsParams {
  session::SessionRange range;  // what is left of it for this page
  EventPager::Options page;
  std::string list;  // the method and the filters, for tokens
};
absl::StatusOr<ListEventsParams> ListEventsFrom(const v1::ListEventsRequest& request);

// Loop thread. Answers with the encoded ListEventsResponse. SESSION_NOT_FOUND when the session is
// deleted meanwhile; STORE_UNAVAILABLE when the log cannot be read, or not in the call's time.
awaitable<absl::Status> ListEvents(session::EventLog* log, asio::any_io_executor loop,
                                   session::CallPtr call, ListEventsParams params,
                                   grpc::ByteBuffer* response);

}  // namespace acpd::server

#endif  // ACPD_SERVER_LIST_EVENTS_H_
