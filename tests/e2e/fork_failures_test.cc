// ForkSession where it cannot be done: what its caller is told, and that no session comes of it.

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::HasSubstr;
using Code = grpc::StatusCode;

class ForkFailuresTest : public TurnsTest {
 protected:
  void StartForking(json script = json::object()) {
    script["capabilities"] = {{"sessionCapabilities", {{"fork", json::object()}}}};
    UseScript(script);
    StartDaemon();
  }
  // A session with something to copy.
  std::string Original() {
    const auto chat = client().Say(kProject, "", "remember the number 42");
    EXPECT_TRUE(chat.ok()) << chat.ToString();
    return chat.response.session_id();
  }
  static api::ForkSessionRequest CopyOf(const std::string& session_id,
                                        const std::string& request_id = "") {
    api::ForkSessionRequest request;
    request.set_session_id(session_id);
    request.set_request_id(request_id);
    return request;
  }
  Called<api::Session> Fork(const api::ForkSessionRequest& request) {
    return client().Call(&Client::Stub::ForkSession, request);
  }
  // There is no other session, and this one goes on as if nobody had asked for a copy.
  void ExpectOnly(const std::string& original) {
    const std::vector<api::Session> sessions = AllSessions();
    ASSERT_EQ(sessions.size(), 1u);
    EXPECT_EQ(sessions[0].session_id(), original);
    EXPECT_EQ(sessions[0].state(), api::Session::STATE_IDLE);
    const auto recalled = client().Say(kProject, original, "what number did I say?");
    ASSERT_TRUE(recalled.ok()) << recalled.ToString();
    EXPECT_EQ(recalled.response.origin().kind(), api::SessionOrigin::KIND_LIVE);
    EXPECT_EQ(recalled.response.result().text(), "42");
  }
};

// ---- Refused before an agent is asked.

TEST_F(ForkFailuresTest, AReplacedOriginalNamesItsSuccessor) {
  StartForking();
  const auto chat = client().Say(kProject, "lost", "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string successor = chat.response.session_id();
  ASSERT_NE(successor, "lost");
  const size_t before = AllSessions().size();
  const auto copy = Fork(CopyOf("lost"));
  EXPECT_EQ(copy.code(), Code::FAILED_PRECONDITION);
  EXPECT_EQ(copy.reason(), "SESSION_REPLACED");
  EXPECT_THAT(copy.status.error_message(), HasSubstr(successor));
  EXPECT_EQ(AllSessions().size(), before);
  EXPECT_TRUE(log().Received("session/fork").empty());
  EXPECT_TRUE(Fork(CopyOf(successor)).ok());
}

TEST_F(ForkFailuresTest, ARequestIdIsForOneContent) {
  StartForking();
  const std::string original = Original();
  const auto first = Fork(CopyOf(original, "copy-1"));
  ASSERT_TRUE(first.ok()) << first.ToString();
  api::ForkSessionRequest other = CopyOf(original, "copy-1");
  (*other.mutable_labels())["colour"] = "red";
  const auto reused = Fork(other);
  EXPECT_EQ(reused.code(), Code::ALREADY_EXISTS);
  EXPECT_EQ(reused.reason(), "REQUEST_ID_REUSED");
  EXPECT_THAT(reused.status.error_message(), HasSubstr("copy-1"));
  const auto again = Fork(CopyOf(original, "copy-1"));
  ASSERT_TRUE(again.ok()) << again.ToString();
  EXPECT_EQ(again.response.session_id(), first.response.session_id());
  EXPECT_EQ(AllSessions().size(), 2u);
  EXPECT_EQ(log().Received("session/fork").size(), 1u);
}

TEST_F(ForkFailuresTest, ARequestIdOfAChatIsNoneForACopy) {
  StartForking();
  api::ChatRequest request = ChatOf(kProject, "", "remember the number 42", api::WAIT_FOR_FINISHED);
  request.set_request_id("one");
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  EXPECT_EQ(Fork(CopyOf(chat.response.session_id(), "one")).reason(), "REQUEST_ID_REUSED");
  ExpectOnly(chat.response.session_id());
}

TEST_F(ForkFailuresTest, ADrainedAcpdMakesNoneButKnowsThoseThatItMade) {
  StartForking();
  const std::string original = Original(), other = Original();
  const auto made = Fork(CopyOf(original, "copy-1"));
  ASSERT_TRUE(made.ok()) << made.ToString();
  const auto drained = client().Call(&Client::AdminStub::Drain, api::DrainRequest());
  ASSERT_TRUE(drained.ok()) << drained.ToString();
  const auto refused = Fork(CopyOf(other, "copy-2"));
  EXPECT_EQ(refused.code(), Code::UNAVAILABLE);
  EXPECT_EQ(refused.reason(), "DRAINING");
  EXPECT_EQ(AllSessions().size(), 3u);
  const auto repeated = Fork(CopyOf(original, "copy-1"));
  ASSERT_TRUE(repeated.ok()) << repeated.ToString();
  EXPECT_EQ(repeated.response.session_id(), made.response.session_id());
  api::DrainRequest resume;
  resume.set_resume(true);
  ASSERT_TRUE(client().Call(&Client::AdminStub::Drain, resume).ok());
  const auto second = Fork(CopyOf(other, "copy-2"));
  EXPECT_TRUE(second.ok()) << second.ToString();
  EXPECT_EQ(log().Received("session/fork").size(), 2u);
}

TEST_F(ForkFailuresTest, LabelsOverTheirLimitAreNoRequest) {
  StartForking();
  api::ChatRequest request = ChatOf(kProject, "", "remember the number 42", api::WAIT_FOR_FINISHED);
  for (int i = 0; i < 40; ++i) (*request.mutable_labels())["old-" + std::to_string(i)] = "x";
  const auto chat = client().Chat(request);
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const std::string original = chat.response.session_id();
  // More than a request may have, and more than the copy may have in all.
  for (const int count : {65, 25}) {
    SCOPED_TRACE(count);
    api::ForkSessionRequest copy = CopyOf(original);
    for (int i = 0; i < count; ++i) (*copy.mutable_labels())["new-" + std::to_string(i)] = "x";
    const auto refused = Fork(copy);
    EXPECT_EQ(refused.code(), Code::INVALID_ARGUMENT);
    EXPECT_EQ(refused.reason(), "INVALID_REQUEST");
    EXPECT_THAT(refused.status.error_message(), HasSubstr("64"));
  }
  EXPECT_TRUE(log().Received("session/fork").empty());
  ExpectOnly(original);
}

TEST_F(ForkFailuresTest, ACopyMayHaveAsManyLabelsAsASession) {
  StartForking();
  const std::string original = Original();
  api::ForkSessionRequest request = CopyOf(original);
  for (int i = 0; i < 64; ++i) (*request.mutable_labels())["new-" + std::to_string(i)] = "x";
  const auto copy = Fork(request);
  ASSERT_TRUE(copy.ok()) << copy.ToString();
  EXPECT_EQ(copy.response.labels_size(), 64);
}

// ---- The agent has the request.

TEST_F(ForkFailuresTest, AnAgentThatDiesOverItLeavesNoneAndTheSameRequestIsANewTry) {
  StartForking({{"session/fork", json::array({Steps(Step("exit", 3)), json::array()})}});
  const std::string original = Original();
  const auto died = Fork(CopyOf(original, "copy-1"));
  EXPECT_EQ(died.code(), Code::UNAVAILABLE);
  EXPECT_EQ(died.reason(), "AGENT_START_FAILED");
  EXPECT_THAT(died.status.error_message(), HasSubstr("session/fork"));
  ExpectOnly(original);
  const auto again = Fork(CopyOf(original, "copy-1"));
  ASSERT_TRUE(again.ok()) << again.ToString();
  EXPECT_EQ(again.response.origin().kind(), api::SessionOrigin::KIND_FORKED);
  EXPECT_EQ(AllSessions().size(), 2u);
}

TEST_F(ForkFailuresTest, ASilentAgentHasSessionSetupTimeout) {
  SetFake("session_setup_timeout", "4s");
  StartForking({{"session/fork", Steps("silent")}});
  const std::string original = Original();
  const auto silent = Fork(CopyOf(original));
  EXPECT_EQ(silent.code(), Code::UNAVAILABLE);
  EXPECT_EQ(silent.reason(), "START_TIMEOUT");
  EXPECT_THAT(silent.status.error_message(), HasSubstr("session/fork"));
  ExpectOnly(original);
}

TEST_F(ForkFailuresTest, AWantedLoginIsSaidWithTheMethods) {
  StartForking({{"auth_methods", {{{"id", "key"}, {"name", "By key"}}}},
                {"session/fork", Steps(Error(-32000, "Authentication required"))}});
  const std::string original = Original();
  const auto copy = Fork(CopyOf(original));
  EXPECT_EQ(copy.code(), Code::FAILED_PRECONDITION);
  EXPECT_EQ(copy.reason(), "AGENT_AUTH_REQUIRED");
  EXPECT_THAT(copy.status.error_message(), HasSubstr("methods: key"));
  EXPECT_THAT(copy.status.error_message(), HasSubstr("acpctl login fake"));
  EXPECT_TRUE(log().Received("authenticate").empty());
  ExpectOnly(original);
}

}  // namespace
}  // namespace acpd::e2e
