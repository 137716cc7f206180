// Each way to resume a session by itself: with a session that the agent has, and with one that it
// does not have.

#include "tests/agents/agent_test.h"

namespace acpd::e2e {
namespace {

// A way to resume.
struct Way {
  const char* key;  // in acpd's config
  api::SessionOrigin::Method method;
  Ability ability;
  const char* reason_without;  // of the fallback where the agent does not have it
};

class ResumeByTest : public AgentTest {
 protected:
  explicit ResumeByTest(const Way& way) : AgentTest({{"resume", {way.key}}}), way_(way) {}

  void ExpectAClosedSessionIsTakenUp();
  void ExpectAMissingSessionIsReplaced();

 private:
  void ExpectFallback(const Called<api::ChatResponse>& chat, const std::string& requested,
                      const std::string& reason);

  const Way way_;
};

void ResumeByTest::ExpectFallback(const Called<api::ChatResponse>& chat,
                                  const std::string& requested, const std::string& reason) {
  ExpectAnswer(chat, api::SessionOrigin::KIND_FALLBACK, "UNKNOWN");
  const api::SessionOrigin& origin = chat.response.origin();
  EXPECT_EQ(origin.reason(), reason) << chat.ToString();
  EXPECT_EQ(origin.requested_session_id(), requested);
  EXPECT_FALSE(chat.response.session_id().empty());
  EXPECT_NE(chat.response.session_id(), requested);
}

void ResumeByTest::ExpectAClosedSessionIsTakenUp() {
  const std::string session_id = RememberAndClose();
  if (Cannot(way_.ability)) {
    ExpectFallback(Say(session_id, kRecall), session_id, way_.reason_without);
    return;
  }
  // Where the agent would lose a session that is loaded too early, acpd waits.
  const auto chat = Say(session_id, kRecall);
  ExpectAnswer(chat, api::SessionOrigin::KIND_RESUMED, "42");
  EXPECT_EQ(chat.response.session_id(), session_id);
  EXPECT_EQ(api::SessionOrigin::Method_Name(chat.response.origin().method()),
            api::SessionOrigin::Method_Name(way_.method));
}

void ResumeByTest::ExpectAMissingSessionIsReplaced() {
  const bool cannot = Cannot(way_.ability);
  const auto first = Say(kUnknownSession, kRecall);
  ExpectFallback(first, kUnknownSession, cannot ? way_.reason_without : "SESSION_NOT_FOUND");
  EXPECT_NE(first.response.agent_session_id(), kUnknownSession);
  const std::string successor = first.response.session_id();

  // Once: from then on the old id means the new session.
  const auto second = Say(kUnknownSession, kRemember);
  ExpectAnswer(second, api::SessionOrigin::KIND_LIVE, kRemembered);
  EXPECT_EQ(second.response.session_id(), successor);
  EXPECT_EQ(second.response.origin().requested_session_id(), kUnknownSession);
  const auto third = Say(kUnknownSession, kRecall);
  ExpectAnswer(third, api::SessionOrigin::KIND_LIVE, "42");
  EXPECT_EQ(third.response.session_id(), successor);
}

struct ResumeByMetaTest : ResumeByTest {
  ResumeByMetaTest()
      : ResumeByTest({.key = "meta",
                      .method = api::SessionOrigin::METHOD_META,
                      .ability = Ability::kResumeByMeta,
                      .reason_without = "RESUME_IGNORED"}) {}
};

struct ResumeByResumeTest : ResumeByTest {
  ResumeByResumeTest()
      : ResumeByTest({.key = "session/resume",
                      .method = api::SessionOrigin::METHOD_SESSION_RESUME,
                      .ability = Ability::kResumeByResume,
                      .reason_without = "RESUME_UNSUPPORTED"}) {}
};

struct ResumeByLoadTest : ResumeByTest {
  ResumeByLoadTest()
      : ResumeByTest({.key = "session/load",
                      .method = api::SessionOrigin::METHOD_SESSION_LOAD,
                      .ability = Ability::kResumeByLoad,
                      .reason_without = "RESUME_UNSUPPORTED"}) {}
};

INSTANTIATE_TEST_SUITE_P(Agents, ResumeByMetaTest, ::testing::ValuesIn(AgentNames()),
                         AgentTestName);
INSTANTIATE_TEST_SUITE_P(Agents, ResumeByResumeTest, ::testing::ValuesIn(AgentNames()),
                         AgentTestName);
INSTANTIATE_TEST_SUITE_P(Agents, ResumeByLoadTest, ::testing::ValuesIn(AgentNames()),
                         AgentTestName);

TEST_P(ResumeByMetaTest, TakesUpAClosedSession) { ExpectAClosedSessionIsTakenUp(); }
TEST_P(ResumeByMetaTest, ReplacesAMissingSession) { ExpectAMissingSessionIsReplaced(); }

TEST_P(ResumeByResumeTest, TakesUpAClosedSession) { ExpectAClosedSessionIsTakenUp(); }
TEST_P(ResumeByResumeTest, ReplacesAMissingSession) { ExpectAMissingSessionIsReplaced(); }

TEST_P(ResumeByLoadTest, TakesUpAClosedSession) { ExpectAClosedSessionIsTakenUp(); }
TEST_P(ResumeByLoadTest, ReplacesAMissingSession) { ExpectAMissingSessionIsReplaced(); }

}  // namespace
}  // namespace acpd::e2e
