#ifndef ACPD_SERVER_ADDRESS_H_
#define ACPD_SERVER_ADDRESS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// The addresses acpd listens on: `host:port`, `[v6]:port` and `unix:/path`.
namespace acpd::server {

struct ListenAddress {
  std::string host;       // without brackets; empty for a unix socket
  int port = 0;           // 0: the system chooses
  std::string unix_path;  // absolute

  bool is_unix() const { return !unix_path.empty(); }
  // Only this machine can reach it: 127.0.0.0/8, ::1, localhost, a unix socket.
  bool is_local() const;
  std::string ToString() const;
};

// INVALID_ARGUMENT with a sentence for anything else, paths over 107 bytes included.
absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text);

// Checks all of them and, unless `allow_insecure`, that each is local. The sentence names the
// address.
absl::Status CheckListenAddresses(const std::vector<std::string>& addresses, bool allow_insecure);

// Makes the path free for a new socket: removes a socket that nobody listens on.
// FAILED_PRECONDITION with a sentence when the folder is missing, when something listens there, or
// when the path is no socket. Blocking.
absl::Status PrepareUnixSocket(const std::string& path);

}  // namespace acpd::server

#endif  // ACPD_SERVER_ADDRESS_H_
