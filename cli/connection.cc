#include "cli/connection.h"

#include <google/protobuf/util/json_util.h>

#include <cstdio>

namespace acpd::cli {
namespace {

std::string Trailer(const grpc::ClientContext& context, const std::string& key) {
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto it = trailers.find(key);
  return it == trailers.end() ? std::string() : std::string(it->second.data(), it->second.size());
}

int CodeFor(grpc::StatusCode code, bool has_reason) {
  switch (code) {
    case grpc::StatusCode::INVALID_ARGUMENT:
      return kUsage;
    case grpc::StatusCode::UNAVAILABLE:
      // Without a reason it is not acpd that said so.
      return has_reason ? kCallFailed : kUnreachable;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return kUnreachable;
    default:
      return kCallFailed;
  }
}

}  // namespace

std::unique_ptr<SessionService::Stub> Connect(const Settings& settings) {
  return SessionService::NewStub(
      grpc::CreateChannel(settings.address, grpc::InsecureChannelCredentials()));
}

std::unique_ptr<grpc::ClientContext> NewContext(std::chrono::seconds timeout) {
  auto context = std::make_unique<grpc::ClientContext>();
  context->set_deadline(std::chrono::system_clock::now() + timeout);
  return context;
}

int Report(const grpc::Status& status, const grpc::ClientContext& context) {
  if (status.ok()) return kOk;
  const std::string reason = Trailer(context, "acpd-reason");
  const int code = CodeFor(status.error_code(), !reason.empty());
  if (code == kUnreachable) {
    std::fprintf(
        stderr,
        "acpctl: cannot reach acpd (%s); is it running? --address or ACPD_ADDRESS says where.\n",
        status.error_message().c_str());
    return code;
  }
  std::fprintf(stderr, "acpctl: %s%s%s\n", reason.c_str(), reason.empty() ? "" : ": ",
               status.error_message().c_str());
  const std::string session_id = Trailer(context, "acpd-session-id");
  if (!session_id.empty()) std::fprintf(stderr, "session: %s\n", session_id.c_str());
  return code;
}

void PrintJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string line;
  const auto status = google::protobuf::util::MessageToJsonString(message, &line, options);
  if (!status.ok()) return;
  line.push_back('\n');
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

}  // namespace acpd::cli
