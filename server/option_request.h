#ifndef ACPD_SERVER_OPTION_REQUEST_H_
#define ACPD_SERVER_OPTION_REQUEST_H_

#include <string>

#include "absl/status/statusor.h"
#include "acp/content.h"
#include "acp/options.h"
#include "acpd/v1/session_service.pb.h"
#include "server/request_checks.h"
#include "session/views.h"

// What is set in a session: modes, config options, title, labels. Pure functions.
namespace acpd::server {

// `field` names it in errors.
void CheckOptionValue(const std::string& field, const v1::ConfigOptionValue& value, Checks& checks);
acp::OptionValue OptionValueFrom(const v1::ConfigOptionValue& value);

absl::StatusOr<session::SessionChange> SessionChangeFrom(const v1::SetSessionOptionRequest& request,
                                                         const acp::TraceContext& trace = {});

}  // namespace acpd::server

#endif  // ACPD_SERVER_OPTION_REQUEST_H_
