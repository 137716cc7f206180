#include "server/grpc_log.h"

#include <grpc/support/log.h>

#include <atomic>

#include "server/strings.h"

namespace acpd::server {
namespace {

std::atomic<Log*> target{nullptr};  // gRPC takes a plain function

LogLevel LevelOf(gpr_log_severity severity) {
  if (severity == GPR_LOG_SEVERITY_ERROR) return LogLevel::kError;
  return severity == GPR_LOG_SEVERITY_INFO ? LogLevel::kInfo : LogLevel::kDebug;
}

void WriteLine(gpr_log_func_args* args) {
  if (Log* log = target.load()) {
    log->Write(LevelOf(args->severity), args->message,
               {{"source", Cat("grpc ", args->file, ":", args->line)}});
  }
}

}  // namespace

void RouteGrpcLog(Log* log) {
  target = log;
  gpr_set_log_function(WriteLine);
}

}  // namespace acpd::server
