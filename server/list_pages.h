#ifndef ACPD_SERVER_LIST_PAGES_H_
#define ACPD_SERVER_LIST_PAGES_H_

#include "acpd/v1/session_service.pb.h"
#include "server/requests.h"
#include "session/session_manager.h"

namespace acpd::server {

// A list's page ends here, or at its page_size; clients refuse messages over 4 MiB by default.
inline constexpr size_t kMaxPageBytes = 2u << 20;

// The page as the answer, with the token of the next one where there is more.
void FillPage(const v1::ListTurnsRequest& request, const ListTurnsParams& params,
              const session::TurnPage& page, v1::ListTurnsResponse* response);
void FillPage(const v1::ListSessionsRequest& request, const ListSessionsParams& params,
              const session::SessionPage& page, v1::ListSessionsResponse* response);

}  // namespace acpd::server

#endif  // ACPD_SERVER_LIST_PAGES_H_
