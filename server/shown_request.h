#ifndef ACPD_SERVER_SHOWN_REQUEST_H_
#define ACPD_SERVER_SHOWN_REQUEST_H_

#include "acpd/v1/session_service.pb.h"

namespace acpd::server {

// Of Turn.request, beside its prompt and the fields that are short, in all.
inline constexpr size_t kMaxRequestRest = 64u << 10;

// Makes a stored request what callers may see of it: without secrets and the store's own marks, and
// no larger than fits into an answer.
void MakeShown(v1::ChatRequest* request);

}  // namespace acpd::server

#endif  // ACPD_SERVER_SHOWN_REQUEST_H_
