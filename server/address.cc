#include "server/address.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "server/strings.h"

namespace acpd::server {
namespace {

constexpr size_t kMaxUnixPath = sizeof(sockaddr_un::sun_path) - 1;

absl::Status BadAddress(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(Cat(
      "\"", text, "\" is no listen address: ", why,
      "; write for example \"127.0.0.1:7420\", \"[::1]:7420\" or \"unix:/run/acpd/acpd.sock\""));
}

absl::StatusOr<ListenAddress> ParseUnixAddress(std::string_view text, std::string_view path) {
  if (path.starts_with("//")) path.remove_prefix(2);  // unix:///path is what gRPC calls the same
  if (!path.starts_with("/"))
    return BadAddress(text, "the path of a unix socket has to be absolute");
  if (path.ends_with("/") || path.find('\0') != path.npos)
    return BadAddress(text, "it names no file");
  if (path.size() > kMaxUnixPath) {
    return BadAddress(text, Cat("the path of a unix socket may have ", kMaxUnixPath,
                                " bytes, this one has ", path.size()));
  }
  ListenAddress address;
  address.unix_path = path;
  return address;
}

bool IsHostName(std::string_view host) {
  for (const char c : host) {
    if (!absl::ascii_isalnum(c) && c != '.' && c != '-' && c != '_') return false;
  }
  return !host.empty();
}

bool IsV6(const std::string& host, in6_addr* out) {
  return inet_pton(AF_INET6, host.c_str(), out) == 1;
}

// Whether somebody accepts connections on the socket at `path`; an error when that cannot be told.
absl::StatusOr<bool> IsListening(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return absl::InternalError(Cat("socket: ", strerror(errno)));
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  memcpy(to.sun_path, path.data(), path.size());
  const int error = connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0 ? 0 : errno;
  close(fd);
  if (error == 0 || error == EAGAIN) return true;  // EAGAIN: its backlog is full
  if (error == ECONNREFUSED || error == ENOENT) return false;
  return absl::FailedPreconditionError(
      Cat("cannot tell whether ", path, " is in use: ", strerror(error)));
}

}  // namespace

bool ListenAddress::is_local() const {
  if (is_unix() || host == "localhost") return true;
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  if (!IsV6(host, &v6)) return false;
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

std::string ListenAddress::ToString() const {
  if (is_unix()) return Cat("unix:", unix_path);
  const bool v6 = host.find(':') != std::string::npos;
  return v6 ? Cat("[", host, "]:", port) : Cat(host, ":", port);
}

absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text) {
  std::string_view rest = text;
  if (ConsumePrefix(&rest, "unix:")) return ParseUnixAddress(text, rest);
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return BadAddress(text, "it has no port");
  ListenAddress address;
  const std::string_view port = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size() || address.port < 0 ||
      address.port > 65535) {
    return BadAddress(text, "its port is not a number from 0 to 65535");
  }
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.starts_with("[") && host.ends_with("]") && host.size() > 2;
  if (bracketed) host = host.substr(1, host.size() - 2);
  address.host = host;
  in6_addr v6{};
  if (bracketed ? !IsV6(address.host, &v6) : !IsHostName(host)) {
    return BadAddress(text, "its host is neither a name nor an IP address");
  }
  return address;
}

absl::Status CheckListenAddresses(const std::vector<std::string>& addresses, bool allow_insecure) {
  for (const std::string& text : addresses) {
    const auto address = ParseListenAddress(text);
    if (!address.ok()) return address.status();
    if (allow_insecure || address->is_local()) continue;
    return absl::InvalidArgumentError(
        Cat("listen address \"", text,
            "\" can be reached from other machines, and acpd would serve anyone there without a ",
            "password or encryption: listen on 127.0.0.1 or a unix socket, or set "
            "\"allow_insecure\": true in the config"));
  }
  return absl::OkStatus();
}

absl::Status PrepareUnixSocket(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  struct stat info {};
  if (stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return absl::FailedPreconditionError(
        Cat("cannot listen on unix:", path, ": there is no folder ", folder, "; make it first"));
  }
  if (lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return absl::OkStatus();
    return absl::FailedPreconditionError(
        Cat("cannot listen on unix:", path, ": ", strerror(errno)));
  }
  if (!S_ISSOCK(info.st_mode)) {
    return absl::FailedPreconditionError(Cat(
        "cannot listen on unix:", path, ": a file that is no socket is in the way; move it first"));
  }
  const absl::StatusOr<bool> listening = IsListening(path);
  if (!listening.ok()) return listening.status();
  if (*listening) {
    return absl::FailedPreconditionError(
        Cat("cannot listen on unix:", path,
            ": another process listens there; end it or take another path"));
  }
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return absl::FailedPreconditionError(
        Cat("cannot remove the stale socket ", path, ": ", strerror(errno)));
  }
  return absl::OkStatus();
}

}  // namespace acpd::server
