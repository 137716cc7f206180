#ifndef ACPD_CLI_CONNECTION_H_
#define ACPD_CLI_CONNECTION_H_

#include <google/protobuf/message.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>

#include "acpd/v1/admin_service.grpc.pb.h"
#include "acpd/v1/session_service.grpc.pb.h"

namespace acpd::cli {

using acpd::v1::AdminService;
using acpd::v1::SessionService;

// What acpctl's exit status says, for scripts.
enum ExitCode {
  kOk = 0,          // done; of a turn: it completed
  kTurnNotOk = 1,   // the turn failed, was refused, truncated or interrupted; of a cancel, drain or
                    // stop: it is still going on
  kUsage = 2,       // bad arguments, or the daemon found the request invalid
  kCallFailed = 3,  // the daemon answered with another error
  kUnreachable = 4,  // no acpd at the address, no answer in time, or it is stopping
  kOutputLost = 5,   // done, but stdout could not be written
  kCancelled = 130,  // the turn was cancelled (Ctrl-C)
};

// What every command has.
struct Settings {
  std::string address;
  bool json = false;  // one JSON object a line instead of text
  int timeout_s = 0;  // what calls may take; 0: each has its own
};

std::shared_ptr<grpc::Channel> OpenChannel(const Settings& settings);
std::unique_ptr<SessionService::Stub> Connect(const Settings& settings);
std::unique_ptr<AdminService::Stub> ConnectAdmin(const Settings& settings);
// A context whose call ends at the latest after `timeout`, or what the settings say instead.
std::unique_ptr<grpc::ClientContext> NewContext(const Settings& settings,
                                                std::chrono::seconds timeout);
// How long calls that do not wait for an agent may take.
inline constexpr std::chrono::seconds kShortCall{30};
// The same of those that stop agents: that takes an agent's grace, three times at the worst.
inline constexpr std::chrono::seconds kStopCall{120};

// Says on stderr what went wrong, with the reason code, and returns the exit code that fits. Of an
// OK status: kOk.
int Report(const grpc::Status& status, const grpc::ClientContext& context);
// A message as one line of JSON on stdout, with the field names of the proto file.
void PrintJson(const google::protobuf::Message& message);
// Whether all that was printed so far has been written.
bool OutputIsGood();

}  // namespace acpd::cli

#endif  // ACPD_CLI_CONNECTION_H_
