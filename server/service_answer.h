#ifndef ACPD_SERVER_SERVICE_ANSWER_H_
#define ACPD_SERVER_SERVICE_ANSWER_H_

#include <utility>

#include "absl/status/statusor.h"
#include "acp/asio.h"
#include "server/call.h"
#include "server/convert.h"
#include "server/status.h"

// What the methods of the services have in common. Loop thread.
namespace acpd::server {

// Waits for what the domain returns and hands it to `fill`.
template <class Result, class Fill>
awaitable<absl::Status> Answer(awaitable<absl::StatusOr<Result>> work, Fill fill) {
  const absl::StatusOr<Result> result = co_await std::move(work);
  if (!result.ok()) co_return result.status();
  fill(*result);
  co_return absl::OkStatus();
}

// The same for the methods that return a whole session.
inline awaitable<absl::Status> AnswerSession(UnaryCall& call,
                                             awaitable<absl::StatusOr<session::SessionView>> work,
                                             v1::Session* response) {
  return Answer(std::move(work), [&call, response](const session::SessionView& view) {
    ToProto(view, SessionDetail::kFull, response);
    call.AddTrailer(kSessionIdKey, view.session_id);
  });
}

}  // namespace acpd::server

#endif  // ACPD_SERVER_SERVICE_ANSWER_H_
