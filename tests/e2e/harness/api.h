#ifndef ACPD_TESTS_E2E_HARNESS_API_H_
#define ACPD_TESTS_E2E_HARNESS_API_H_

#include "acpd/v1/admin_service.grpc.pb.h"
#include "acpd/v1/session_service.grpc.pb.h"

namespace acpd::e2e {

namespace api = ::acpd::v1;

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_E2E_HARNESS_API_H_
