// The folder that a Chat may name.

#include <filesystem>

#include "tests/e2e/input_support.h"

namespace acpd::e2e {
namespace {

using grpc::StatusCode;
using ::testing::SizeIs;

class CwdTest : public InputTest {
 protected:
  CwdTest() { options().extra = {{"allowed_roots", {dir().MakeFolder("allowed")}}}; }

  void ExpectCwdRefused(const std::string& cwd, const std::string& reason) {
    SCOPED_TRACE("cwd " + cwd);
    api::ChatRequest request = ChatOf("shop", "", "hello", api::WAIT_FOR_FINISHED);
    request.set_cwd(cwd);
    const std::string before = World();
    ExpectRefused(RefusalOf(client().Chat(request)), StatusCode::INVALID_ARGUMENT, reason, before);
    api::CreateSessionRequest setup;
    *setup.mutable_setup() = request;
    setup.mutable_setup()->clear_prompt();
    ExpectRefused(RefusalOf(client().Call(&Client::Stub::CreateSession, setup)),
                  StatusCode::INVALID_ARGUMENT, reason, before);
  }

  // Runs there; the agent gets the cwd as it was given.
  void ExpectCwdWorks(const std::string& project, const std::string& cwd) {
    SCOPED_TRACE("cwd " + cwd);
    const size_t earlier = log().Received("session/new").size();
    api::ChatRequest request = ChatOf(project, "", "hello", api::WAIT_FOR_FINISHED);
    request.set_cwd(cwd);
    const auto chat = client().Chat(request);
    ASSERT_TRUE(chat.ok()) << chat.ToString();
    const std::vector<json> calls = log().Received("session/new");
    ASSERT_THAT(calls, SizeIs(earlier + 1));
    EXPECT_EQ(calls.back().at("params").at("cwd"), cwd);
    EXPECT_EQ(client().GetSession(chat.response.session_id()).response.cwd(), cwd);
    EXPECT_EQ(log().Events("start").back().at("cwd"), std::filesystem::canonical(cwd).string());
  }
};

TEST_F(CwdTest, RelativeOnesAreRefused) {
  for (const char* cwd : {"folder", "./folder", "..", "~", "projects/shop"}) {
    ExpectCwdRefused(cwd, "CWD_NOT_ALLOWED");
  }
}

TEST_F(CwdTest, OnesThatAreNotThereAreRefused) {
  ExpectCwdRefused("/no/such/folder", "CWD_NOT_FOUND");
  ExpectCwdRefused(daemon().ProjectFolder("shop") + "/missing", "CWD_NOT_FOUND");
  ExpectCwdRefused(dir() / "allowed/missing", "CWD_NOT_FOUND");
  WriteFile(dir() / "allowed/file", "");
  ExpectCwdRefused(dir() / "allowed/file", "CWD_NOT_FOUND");
}

TEST_F(CwdTest, OnesOutsideTheAllowedRootsAreRefused) {
  dir().MakeFolder("allowed-not");
  for (const std::string& cwd :
       {std::string("/"), std::string("/etc"), dir().path(), dir() / "projects",
        dir() / "allowed-not", dir() / "allowed/../state"}) {
    ExpectCwdRefused(cwd, "CWD_NOT_ALLOWED");
  }
}

TEST_F(CwdTest, AnotherProjectsFolderIsRefused) {
  const std::string yard = daemon().ProjectFolder("yard"), shop = daemon().ProjectFolder("shop");
  std::filesystem::create_directory(yard + "/sub");
  std::filesystem::create_directory_symlink(yard, shop + "/link");
  std::filesystem::create_directory_symlink(yard, dir() / "allowed/link");
  for (const std::string& cwd :
       {yard, yard + "/sub", shop + "/../yard", shop + "/link", dir() / "allowed/link"}) {
    ExpectCwdRefused(cwd, "CWD_NOT_ALLOWED");
  }
}

TEST_F(CwdTest, AnotherCwdThanTheSessionsIsAMismatch) {
  api::ChatRequest request = ChatOf("shop", shop_session_, "hello", api::WAIT_FOR_FINISHED);
  request.set_cwd(dir() / "allowed");
  const std::string before = World();
  ExpectRefused(RefusalOf(client().Chat(request)), StatusCode::FAILED_PRECONDITION, "CWD_MISMATCH",
                before);
  // The same folder by another name is no other one.
  request.set_cwd(daemon().ProjectFolder("shop") + "/../shop");
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.session_id(), shop_session_);
}

TEST_F(CwdTest, TheProjectsFolderAndAllowedRootsWork) {
  const std::string shop = daemon().ProjectFolder("shop");
  std::filesystem::create_directory(shop + "/sub");
  dir().MakeFolder("allowed/sub");
  for (const std::string& cwd : {shop, shop + "/sub", dir() / "allowed", dir() / "allowed/sub"}) {
    ExpectCwdWorks("shop", cwd);
  }
  std::filesystem::create_directory_symlink(dir() / "allowed", shop + "/link");
  ExpectCwdWorks("shop", shop + "/link");
}

}  // namespace
}  // namespace acpd::e2e
