// The methods of a resume: which are used, in which order, how often.

#include <algorithm>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;

class ResumeLadderTest : public TurnsTest {
 protected:
  json script_ = json::object();

  void Start(const json& resume) {
    UseScript(script_);
    SetFake("resume", resume);
    StartDaemon();
  }
  // The number of session/new calls that carried a resume id.
  size_t CountMetaResumes() {
    const std::vector<json> calls = log().Received("session/new");
    return static_cast<size_t>(std::count_if(calls.begin(), calls.end(), [](const json& call) {
      return call["params"].contains("_meta") &&
             call["params"]["_meta"].dump().find("\"resume\"") != std::string::npos;
    }));
  }
};

TEST_F(ResumeLadderTest, MetaIsHonoured) {
  script_["meta_resume"] = true;
  Start(json::array({"meta", "session/load"}));
  const std::string id = MakeDormant();
  const auto chat = client().Say(kProject, id, "what number did I say?");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.session_id(), id);
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(chat.response.origin().method(), api::SessionOrigin::METHOD_META);
  EXPECT_EQ(chat.response.result().text(), "42");
  EXPECT_EQ(CountMetaResumes(), 1u);
  EXPECT_TRUE(log().Received("session/load").empty());
}

TEST_F(ResumeLadderTest, AnIgnoredMetaIsTheFallback) {
  Start(json::array({"meta", "session/load"}));
  const std::string id = MakeDormant();
  const auto chat = client().Say(kProject, id, "what number did I say?");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_NE(chat.response.session_id(), id);
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_FALLBACK);
  EXPECT_EQ(chat.response.origin().reason(), "RESUME_IGNORED");
  EXPECT_EQ(chat.response.result().text(), "UNKNOWN");
  // The session that the agent made in its place is used: there is no third one.
  EXPECT_EQ(log().Received("session/new").size(), 2u);
  const json prompt = log().Received("session/prompt").back();
  EXPECT_EQ(prompt["params"]["sessionId"], chat.response.agent_session_id());
}

TEST_F(ResumeLadderTest, AnIgnoredMetaWithRequireFails) {
  Start(json::array({"meta"}));
  const std::string id = MakeDormant();
  const auto before = client().GetSession(id);
  api::ChatRequest request = ChatOf(kProject, id, "hello", api::WAIT_FOR_FINISHED);
  request.mutable_resume_policy()->set_mode(api::ResumePolicy::MODE_REQUIRE);
  const auto chat = client().Chat(request);
  EXPECT_EQ(chat.code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(chat.reason(), "RESUME_IGNORED");
  EXPECT_EQ(AllSessions().size(), 1u);
  EXPECT_EQ(client().GetSession(id).response.agent_session_id(),
            before.response.agent_session_id());
  EXPECT_EQ(log().Received("session/prompt").size(), 1u);
}

TEST_F(ResumeLadderTest, WhatIsNotAdvertisedIsNotCalled) {
  script_["capabilities"] =
      json::parse(R"({"loadSession": false, "sessionCapabilities": {"resume": null}})");
  Start(json::array({"session/resume", "session/load"}));
  const std::string id = MakeDormant();
  const auto chat = client().Say(kProject, id, "what number did I say?");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_FALLBACK);
  EXPECT_EQ(chat.response.origin().reason(), "RESUME_UNSUPPORTED");
  EXPECT_TRUE(log().Received("session/load").empty());
  EXPECT_TRUE(log().Received("session/resume").empty());
}

TEST_F(ResumeLadderTest, WhatIsNotAdvertisedFailsWithRequire) {
  script_["capabilities"] =
      json::parse(R"({"loadSession": false, "sessionCapabilities": {"resume": null}})");
  Start(json::array({"session/resume", "session/load"}));
  api::ChatRequest request = ChatOf(kProject, MakeDormant(), "hello", api::WAIT_FOR_FINISHED);
  request.mutable_resume_policy()->set_mode(api::ResumePolicy::MODE_REQUIRE);
  const auto chat = client().Chat(request);
  EXPECT_EQ(chat.code(), grpc::StatusCode::FAILED_PRECONDITION) << chat.ToString();
  EXPECT_EQ(chat.reason(), "RESUME_UNSUPPORTED");
  EXPECT_EQ(AllSessions().size(), 1u);
  EXPECT_TRUE(log().Received("session/load").empty());
}

TEST_F(ResumeLadderTest, TheFallbackHasNoTraceOfTheResumeId) {
  script_["session/new+resume"] = Steps(Error(-32603, "No conversation found with session ID"));
  Start(json::array({"meta"}));
  const std::string id = MakeDormant();
  const std::string agent_id = client().GetSession(id).response.agent_session_id();
  const auto chat = client().Say(kProject, id, "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.origin().reason(), "SESSION_NOT_FOUND");
  EXPECT_EQ(CountMetaResumes(), 1u);
  const std::vector<json> calls = log().Received("session/new");
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_THAT(calls[1].dump(), HasSubstr(agent_id));
  EXPECT_THAT(calls[2].dump(), ::testing::Not(HasSubstr(agent_id)));
}

TEST_F(ResumeLadderTest, AnUnknownMethodLeadsToTheNext) {
  script_["session/resume"] = Steps(Error(-32601, "Method not found"));
  Start(json::array({"session/resume", "session/load"}));
  const std::string id = MakeDormant();
  const auto chat = client().Say(kProject, id, "what number did I say?");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.session_id(), id);
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(chat.response.origin().method(), api::SessionOrigin::METHOD_SESSION_LOAD);
  EXPECT_EQ(chat.response.result().text(), "42");
}

TEST_F(ResumeLadderTest, AWeakSignIsTriedAgain) {
  script_["session/load"] =
      Steps(Steps(Error(-32603, "Query closed before response received")), Steps("reply"));
  Start(json::array({"session/load"}));
  const std::string id = MakeDormant();
  const auto chat = client().Say(kProject, id, "what number did I say?");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.session_id(), id);
  EXPECT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_RESUMED);
  EXPECT_EQ(chat.response.origin().attempts(), 2u);
  EXPECT_EQ(chat.response.result().text(), "42");
}

TEST_F(ResumeLadderTest, MaxRetriesZeroTriesOnce) {
  script_["session/load"] = Steps(Error(-32603, "the disk is upside down"));
  Start(json::array({"session/load"}));
  const std::string id = MakeDormant();
  api::ChatRequest request = ChatOf(kProject, id, "hello", api::WAIT_FOR_FINISHED);
  request.mutable_resume_policy()->set_max_retries(0);
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.origin().attempts(), 1u);
  EXPECT_EQ(log().Received("session/load").size(), 1u);
}

TEST_F(ResumeLadderTest, AWantedLoginIsNoReasonToFallBack) {
  script_["session/load"] = Steps(Error(-32000, "Authentication required"));
  Start(json::array({"session/load"}));
  const std::string id = MakeDormant();
  const auto chat = client().Say(kProject, id, "hello");
  EXPECT_EQ(chat.code(), grpc::StatusCode::FAILED_PRECONDITION) << chat.ToString();
  EXPECT_EQ(chat.reason(), "AGENT_AUTH_REQUIRED");
  EXPECT_EQ(AllSessions().size(), 1u);
  EXPECT_EQ(client().GetSession(id).response.state(), api::Session::STATE_DORMANT);
  EXPECT_EQ(log().Received("session/new").size(), 1u);
}

TEST_F(ResumeLadderTest, OwnPatternsOfTheAgentCount) {
  script_["session/load"] = Steps(Error(-32603, "Never Heard Of It"));
  SetFake("resume_missing_patterns", json::array({"never heard of"}));
  Start(json::array({"session/load"}));
  const auto chat = client().Say(kProject, MakeDormant(), "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(chat.response.origin().reason(), "SESSION_NOT_FOUND");
  EXPECT_EQ(chat.response.origin().attempts(), 1u);
}

}  // namespace
}  // namespace acpd::e2e
