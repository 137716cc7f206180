#include "server/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "server/strings.h"
#include "tests/server/temp_folder.h"

namespace acpd::server {
namespace {

using testing::HasSubstr;

// A socket that listens at `path` while this lives; its file stays, as after a crash.
class Listener {
 public:
  explicit Listener(const std::string& path) : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    memcpy(at.sun_path, path.data(), path.size());
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&at), sizeof(at)), 0);
    EXPECT_EQ(listen(fd_, 1), 0);
  }
  ~Listener() { close(fd_); }

 private:
  const int fd_;
};

TEST(AddressTest, GoodOnesAreRead) {
  for (const char* text : {"127.0.0.1:7420", "localhost:0", "[::1]:65535", "0.0.0.0:80",
                           "unix:/run/acpd.sock", "host.example:1"}) {
    const auto address = ParseListenAddress(text);
    ASSERT_TRUE(address.ok()) << text << address.status();
    EXPECT_EQ(address->ToString(), text);
  }
  EXPECT_EQ(ParseListenAddress("unix:///run/a")->ToString(), "unix:/run/a");
}

TEST(AddressTest, BadOnesAreNamed) {
  for (const char* text : {"", "7420", ":7420", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x",
                           "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:1 ", "::1:7420", "[::1]",
                           "[x]:1", "a b:1", "unix:", "unix:a", "unix:/a/", "http://a:1"}) {
    const auto address = ParseListenAddress(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_TRUE(absl::IsInvalidArgument(address.status()));
    EXPECT_THAT(address.status().message(),
                HasSubstr(Cat("\"", text, "\" is no listen address: ")));
  }
}

TEST(AddressTest, AUnixPathMayHave107Bytes) {
  EXPECT_TRUE(ParseListenAddress("unix:/" + std::string(106, 'a')).ok());
  EXPECT_THAT(ParseListenAddress("unix:/" + std::string(107, 'a')).status().message(),
              HasSubstr("may have 107 bytes, this one has 108"));
}

TEST(AddressTest, OnlyLocalOnesAreAllowedByThemselves) {
  for (const char* text : {"127.0.0.1:1", "127.9.9.9:1", "localhost:1", "[::1]:1",
                           "[::ffff:127.0.0.1]:1", "unix:/a"}) {
    EXPECT_TRUE(CheckListenAddresses({text}, false).ok()) << text;
  }
  for (const char* text : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "[::ffff:10.0.0.1]:1",
                           "example.org:1", "localhost.example.org:1", "128.0.0.1:1"}) {
    const absl::Status refused = CheckListenAddresses({"127.0.0.1:1", text}, false);
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << text;
    EXPECT_THAT(refused.message(), AllOf(HasSubstr(text), HasSubstr("\"allow_insecure\": true")));
    EXPECT_TRUE(CheckListenAddresses({text}, true).ok()) << text;
  }
  EXPECT_FALSE(CheckListenAddresses({"nothing"}, true).ok());
}

TEST(AddressTest, AStaleSocketIsReplaced) {
  TempFolder folder;
  const std::string path = folder.File("s");
  EXPECT_TRUE(PrepareUnixSocket(path).ok());  // nothing there
  { Listener listener(path); }
  ASSERT_TRUE(std::filesystem::exists(path));
  EXPECT_TRUE(PrepareUnixSocket(path).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(AddressTest, ASocketInUseIsRefused) {
  TempFolder folder;
  const std::string path = folder.File("s");
  Listener listener(path);
  const absl::Status refused = PrepareUnixSocket(path);
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_THAT(refused.message(),
              AllOf(HasSubstr(path), HasSubstr("another process listens there")));
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(AddressTest, AFileInTheWayIsKept) {
  TempFolder folder;
  const std::string path = folder.Write("s", "precious");
  EXPECT_THAT(PrepareUnixSocket(path).message(), HasSubstr("no socket is in the way"));
  EXPECT_EQ(TempFolder::Read(path), "precious");
}

TEST(AddressTest, TheFolderMustExist) {
  TempFolder folder;
  EXPECT_THAT(PrepareUnixSocket(folder.File("no/s")).message(),
              HasSubstr(Cat("there is no folder ", folder.File("no"))));
}

}  // namespace
}  // namespace acpd::server
