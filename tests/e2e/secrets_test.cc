// What callers and the config give acpd for agents alone: no byte of it stands in a file that acpd
// writes, whatever the moment and whoever is killed.

#include <filesystem>
#include <future>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kSecretEnv[] = "env-value-not-to-be-kept";
constexpr char kSecretHeader[] = "header-not-to-be-kept";
constexpr char kSecretMeta[] = "meta-not-to-be-kept";
constexpr char kSecretKey[] = "sk-not-to-be-kept";
constexpr char kTeamSecret[] = "secret-of-the-config";
// Stands beside the secrets, and is kept: where it is not found, nobody has looked.
constexpr char kKeptName[] = "a-server-that-is-kept";

const std::vector<std::string> kCallersSecrets = {kSecretEnv, kSecretHeader, kSecretMeta,
                                                  kSecretKey};

class SecretsTest : public TurnsTest {
 protected:
  SecretsTest() {
    script_["capabilities"] = {{"mcpCapabilities", {{"http", true}}},
                               {"sessionCapabilities", {{"fork", json::object()}}}};
    script_["meta_resume"] = true;
    options().extra["store_mcp_secrets"] = false;
  }
  void Start() {
    UseScript(script_);
    options().agents["fake"].env["MODEL_KEY"] = "${model.api_key}";
    StartDaemon();
  }
  static api::ChatRequest Request(const std::string& session_id, api::WaitFor wait_for) {
    api::ChatRequest request = ChatOf(kProject, session_id, "hello", wait_for);
    api::McpServer* files = request.add_mcp_servers();
    files->set_name(kKeptName);
    files->mutable_stdio()->set_command("/bin/mcp");
    (*files->mutable_stdio()->mutable_env())["TOKEN"] = kSecretEnv;
    api::McpServer* web = request.add_mcp_servers();
    web->set_name("web");
    web->mutable_http()->set_url("https://example.test/mcp");
    (*web->mutable_http()->mutable_headers())["Authorization"] =
        std::string("Bearer ") + kSecretHeader;
    request.set_meta_json(std::string(R"({"team": ")") + kSecretMeta + "\"}");
    request.mutable_model_provider()->set_api_key(kSecretKey);
    return request;
  }
  // The files below acpd's folders, and its log, that hold this text.
  std::vector<std::string> FilesWith(const std::string& text) {
    std::vector<std::string> found;
    for (const char* folder : {"state", "run"}) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(dir() / folder)) {
        if (ReadFile(entry.path()).find(text) != std::string::npos) found.push_back(entry.path());
      }
    }
    if (daemon().Log().find(text) != std::string::npos) found.push_back("acpd.log");
    return found;
  }
  void ExpectNowhere(const std::vector<std::string>& secrets, const std::string& when) {
    SCOPED_TRACE(when);
    EXPECT_THAT(FilesWith(kKeptName), Not(IsEmpty())) << "nothing was looked at";
    for (const std::string& secret : secrets) EXPECT_THAT(FilesWith(secret), IsEmpty()) << secret;
  }
  // The agent was given all of it.
  void ExpectAtTheAgent(const std::string& method) {
    const std::vector<json> received = log().Received(method);
    ASSERT_FALSE(received.empty());
    const std::string params = received.back().at("params").dump();
    for (const char* secret : {kSecretEnv, kSecretHeader, kSecretMeta})
      EXPECT_THAT(params, HasSubstr(secret));
  }

  json script_ = json::object();
};

// ---- A set-up that the agent has had and does not answer.

struct SetupWay {
  const char* name;
  const char* method;  // what the agent is called with
  const char* step;    // of its script
  const char* resume;  // the config's method; none: a new session
  bool fork = false;
};

class SetupSecretsTest : public SecretsTest, public ::testing::WithParamInterface<SetupWay> {
 protected:
  // Up to where the agent has the request that is tested.
  void BeginSetup() {
    const SetupWay& way = GetParam();
    if (way.resume != nullptr) SetFake("resume", json::array({way.resume}));
    script_[way.step] = Steps(Barrier("set-up"));
    Start();
    const bool first = way.resume == nullptr && !way.fork;
    const std::string before = first ? "" : MakeBefore();
    if (way.fork) {
      forking_ = std::async(std::launch::async, [this, before] { Fork(before); });
    } else {
      const auto chat = client().Chat(Request(before, api::WAIT_FOR_ACCEPTED));
      ASSERT_TRUE(chat.ok()) << chat.ToString();
      turn_ = chat.response.turn_id();
    }
    ASSERT_TRUE(barriers().WaitReached("set-up"));
    ExpectAtTheAgent(way.method);
  }
  // A session without a worker, that was set up with the same.
  std::string MakeBefore() {
    const auto made = client().Chat(Request("", api::WAIT_FOR_FINISHED));
    EXPECT_TRUE(made.ok()) << made.ToString();
    EXPECT_TRUE(client().CloseSession(made.response.session_id()).ok());
    return made.response.session_id();
  }
  void Fork(const std::string& session_id) {
    api::ForkSessionRequest request;
    request.set_session_id(session_id);
    client().Call(&Client::Stub::ForkSession, request);
  }

  std::string turn_;
  std::future<void> forking_;
};

TEST_P(SetupSecretsTest, AreInNoFileWhileItWaitsNorAfterwards) {
  BeginSetup();
  ExpectNowhere(kCallersSecrets, "while the agent has not answered");
  barriers().Release("set-up");
  if (forking_.valid()) forking_.get();
  if (!turn_.empty()) {
    EXPECT_EQ(WaitForTurn(turn_).result().outcome(), api::TurnResult::OUTCOME_COMPLETED);
  }
  ExpectNowhere(kCallersSecrets, "when it has");
  EXPECT_EQ(daemon().Stop(), (ExitStatus{0, 0}));
  ExpectNowhere(kCallersSecrets, "after a stop");
}

TEST_P(SetupSecretsTest, AreInNoFileWhenAcpdIsKilledMeanwhile) {
  BeginSetup();
  daemon().Kill();
  ExpectNowhere(kCallersSecrets, "after the kill");
  if (forking_.valid()) forking_.get();
  barriers().Release("set-up");
  StartDaemon();
  if (!turn_.empty()) {
    const api::TurnResult result = WaitForTurn(turn_).result();
    EXPECT_EQ(result.outcome(), api::TurnResult::OUTCOME_FAILED);
    EXPECT_EQ(result.error().reason(), "CREDENTIALS_NEEDED") << result.ShortDebugString();
  }
  ExpectNowhere(kCallersSecrets, "after the start");
}

INSTANTIATE_TEST_SUITE_P(
    Ways, SetupSecretsTest,
    ::testing::Values(SetupWay{"New", "session/new", "session/new", nullptr},
                      SetupWay{"Resume", "session/resume", "session/resume", "session/resume"},
                      SetupWay{"Load", "session/load", "session/load", "session/load"},
                      SetupWay{"Meta", "session/new", "session/new+resume", "meta"},
                      SetupWay{"Fork", "session/fork", "session/fork", nullptr, true}),
    [](const auto& info) { return info.param.name; });

// ---- Other moments.

TEST_F(SecretsTest, OfTheConfigAreInNoFileThoughTheirNamesAre) {
  options().extra["store_mcp_secrets"] = true;
  options().extra["secrets"] = {{"team", kTeamSecret}};
  script_["session/new"] = Steps(Barrier("set-up"));
  Start();
  api::ChatRequest request = ChatOf(kProject, "", "hello", api::WAIT_FOR_ACCEPTED);
  request.add_mcp_servers()->set_name(kKeptName);
  request.mutable_mcp_servers(0)->mutable_stdio()->set_command("/bin/mcp");
  (*request.mutable_mcp_servers(0)->mutable_stdio()->mutable_env())["TOKEN"] = "${secret:team}";
  request.mutable_model_provider()->set_api_key(kSecretKey);
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  ASSERT_TRUE(barriers().WaitReached("set-up"));
  EXPECT_THAT(log().Received("session/new").back().dump(), HasSubstr(kTeamSecret));
  EXPECT_THAT(FilesWith("${secret:team}"), Not(IsEmpty()));
  ExpectNowhere({kTeamSecret, kSecretKey}, "while the agent has not answered");
  daemon().Kill();
  ExpectNowhere({kTeamSecret, kSecretKey}, "after a kill");
  barriers().Release("set-up");
  StartDaemon();
  EXPECT_EQ(WaitForTurn(chat.response.turn_id()).result().error().reason(), "CREDENTIALS_NEEDED");
}

TEST_F(SecretsTest, OfATurnThatWaitsAreInNoFile) {
  Start();
  const api::ChatResponse running = BeginAt("hold");
  const auto queued = client().Chat(Request(running.session_id(), api::WAIT_FOR_ACCEPTED));
  ASSERT_TRUE(queued.ok()) << queued.ToString();
  ExpectNowhere(kCallersSecrets, "while it waits");
  KillAndRestartDaemon();
  barriers().Release("hold");
  const api::TurnResult result = WaitForTurn(queued.response.turn_id()).result();
  EXPECT_EQ(result.error().reason(), "CREDENTIALS_NEEDED") << result.ShortDebugString();
  ExpectNowhere(kCallersSecrets, "after a kill");
}

// The worker ends its agent and leaves a file for the next acpd, which cannot have the key of it.
TEST_F(SecretsTest, OfAnAgentThatNobodyCameForAreInNoFile) {
  options().extra["limits"] = {{"orphan_timeout", "1s"}};
  Start();
  const auto chat = client().Chat(Request("", api::WAIT_FOR_FINISHED));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const pid_t worker = ParentOf(log().Pids().back());
  daemon().Kill();
  ASSERT_TRUE(WaitUntil([worker] { return !IsAlive(worker); }));
  size_t spools = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir() / "run"))
    spools += entry.path().extension() == ".spool";
  EXPECT_EQ(spools, 1u);
  ExpectNowhere(kCallersSecrets, "when the worker has left");
  StartDaemon();
  const std::string id = chat.response.session_id();
  ASSERT_TRUE(WaitForState(id, api::Session::STATE_DORMANT));
  EXPECT_EQ(client().Say(kProject, id, "hello").reason(), "CREDENTIALS_NEEDED");
  const auto again = client().Chat(Request(id, api::WAIT_FOR_FINISHED));
  ASSERT_TRUE(again.ok()) << again.ToString();
  EXPECT_EQ(again.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  ExpectNowhere(kCallersSecrets, "afterwards");
}

TEST_F(SecretsTest, StayOutOfTheWireLog) {
  SetFake("resume", json::array({"session/resume"}));
  Start();
  const auto made = client().Say(kProject, "", "hello");
  ASSERT_TRUE(made.ok()) << made.ToString();
  api::SetWireLogRequest wire;
  wire.set_session_id(made.response.session_id());
  wire.set_on(true);
  ASSERT_TRUE(client().Call(&Client::AdminStub::SetWireLog, wire).ok());
  const auto chat = client().Chat(Request(made.response.session_id(), api::WAIT_FOR_FINISHED));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  ExpectAtTheAgent("session/resume");
  EXPECT_EQ(daemon().Stop(), (ExitStatus{0, 0}));
  EXPECT_THAT(daemon().Log(), HasSubstr("session/resume"));
  for (const char* secret : {kSecretEnv, kSecretHeader, kSecretMeta, kSecretKey})
    EXPECT_THAT(daemon().Log(), Not(HasSubstr(secret)));
}

TEST_F(SecretsTest, StayOutOfWhatIsSaidOfThem) {
  Start();
  api::ChatRequest request = Request("", api::WAIT_FOR_FINISHED);
  (*request.mutable_mcp_servers(0)->mutable_stdio()->mutable_env())["TOKEN"] =
      std::string("$${") + kSecretEnv + "} ${secret:nobody}";
  const auto chat = client().Chat(request);
  EXPECT_EQ(chat.reason(), "CREDENTIALS_NEEDED");
  EXPECT_THAT(chat.status.error_message(), HasSubstr("wants ${secret:nobody} for TOKEN"));
  EXPECT_THAT(chat.status.error_message(), Not(HasSubstr(kSecretEnv)));
  for (const std::string& secret : kCallersSecrets)
    EXPECT_THAT(FilesWith(secret), IsEmpty()) << secret;
}

// What was stored by the config's leave goes with its session.
TEST_F(SecretsTest, AreGoneWithTheSessionThatWasDeleted) {
  options().extra["store_mcp_secrets"] = true;
  Start();
  const auto chat = client().Chat(Request("", api::WAIT_FOR_FINISHED));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_THAT(FilesWith(kSecretEnv), Not(IsEmpty()));
  api::DeleteSessionRequest request;
  request.set_session_id(chat.response.session_id());
  const auto deleted = client().Call(&Client::Stub::DeleteSession, request);
  ASSERT_TRUE(deleted.ok()) << deleted.ToString();
  EXPECT_EQ(daemon().Stop(), (ExitStatus{0, 0}));
  for (const char* text : {kKeptName, kSecretEnv, kSecretHeader, kSecretMeta, kSecretKey})
    EXPECT_THAT(FilesWith(text), IsEmpty()) << text;
}

}  // namespace
}  // namespace acpd::e2e
