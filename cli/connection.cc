#include "cli/connection.h"

#include <google/protobuf/util/json_util.h>
#include <grpc/support/log.h>

#include <cstdio>
#include <cstdlib>

#include "cli/text.h"

namespace acpd::cli {
namespace {

std::string Trailer(const grpc::ClientContext& context, const std::string& key) {
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto it = trailers.find(key);
  return it == trailers.end() ? std::string() : std::string(it->second.data(), it->second.size());
}

int CodeFor(grpc::StatusCode code, const std::string& reason) {
  switch (code) {
    case grpc::StatusCode::INVALID_ARGUMENT:
      return kUsage;
    case grpc::StatusCode::UNAVAILABLE:
      // Without a reason it is not acpd that said so.
      return reason.empty() || reason == "SHUTTING_DOWN" ? kUnreachable : kCallFailed;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return kUnreachable;
    default:
      return kCallFailed;
  }
}

// One sentence that says what to do.
std::string Describe(const grpc::Status& status, const std::string& reason) {
  if (!reason.empty()) return reason + ": " + status.error_message();
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
      return "cannot reach acpd (" + status.error_message() +
             "); is it running? --address or ACPD_ADDRESS says where.";
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return "acpd did not answer in time; what was asked for may still happen. --timeout gives it "
             "longer.";
    default:
      return status.error_message();
  }
}

}  // namespace

std::shared_ptr<grpc::Channel> OpenChannel(const Settings& settings) {
  // What gRPC logs is said by the calls' errors, in words that help.
  if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function([](gpr_log_func_args*) {});
  grpc::ChannelArguments arguments;
  // A proxy is for the web; acpd is here or where --address says.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(settings.address, grpc::InsecureChannelCredentials(), arguments);
}

std::unique_ptr<SessionService::Stub> Connect(const Settings& settings) {
  return SessionService::NewStub(OpenChannel(settings));
}

std::unique_ptr<AdminService::Stub> ConnectAdmin(const Settings& settings) {
  return AdminService::NewStub(OpenChannel(settings));
}

std::unique_ptr<grpc::ClientContext> NewContext(const Settings& settings,
                                                std::chrono::seconds timeout) {
  if (settings.timeout_s > 0) timeout = std::chrono::seconds(settings.timeout_s);
  auto context = std::make_unique<grpc::ClientContext>();
  context->set_deadline(std::chrono::system_clock::now() + timeout);
  return context;
}

int Report(const grpc::Status& status, const grpc::ClientContext& context) {
  if (status.ok()) return kOk;
  const std::string reason = Trailer(context, "acpd-reason");
  std::fprintf(stderr, "acpctl: %s\n", Shown(Describe(status, reason)).c_str());
  const std::string session_id = Trailer(context, "acpd-session-id");
  if (!session_id.empty()) std::fprintf(stderr, "session: %s\n", session_id.c_str());
  return CodeFor(status.error_code(), reason);
}

void PrintJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string line;
  const auto status = google::protobuf::util::MessageToJsonString(message, &line, options);
  if (!status.ok()) {
    std::fprintf(stderr, "acpctl: no JSON can be made of a message of acpd: %s\n",
                 status.ToString().c_str());
    return;
  }
  line.push_back('\n');
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

bool OutputIsGood() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

}  // namespace acpd::cli
