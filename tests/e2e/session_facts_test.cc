// What agents say of their session as a whole, its title and what it used, is kept on Session.

#include "tests/e2e/option_fixture.h"

namespace acpd::e2e {
namespace {

using ::testing::ElementsAre;

class SessionFactsTest : public OptionFixture {
 protected:
  static json UsageUpdate(json facts) {
    facts["sessionUpdate"] = "usage_update";
    return facts;
  }
  static json InfoUpdate(json facts) {
    facts["sessionUpdate"] = "session_info_update";
    return facts;
  }
  static json Used(int used) { return UsageUpdate({{"used", used}, {"size", 200000}}); }
  static json UsedFor(int used, double cost) {
    json update = Used(used);
    update["cost"] = {{"amount", cost}, {"currency", "USD"}};
    return update;
  }
  void ExpectUsage(const std::string& id, uint64_t used, double cost) {
    const api::Usage usage = Get(id).usage();
    EXPECT_EQ(usage.context_used(), used);
    EXPECT_EQ(usage.context_size(), 200000u);
    ASSERT_TRUE(usage.has_cost());
    EXPECT_DOUBLE_EQ(usage.cost(), cost);
    EXPECT_EQ(usage.currency(), "USD");
  }
};

TEST_F(SessionFactsTest, UsageIsTheLastThatTheAgentSaid) {
  StartDaemon();
  const std::string id = NewSession();
  EXPECT_FALSE(Get(id).has_usage());
  SayUpdate(id, UsedFor(100, 0.25));
  ExpectUsage(id, 100, 0.25);
  SayUpdate(id, UsedFor(300, 0.5));
  ExpectUsage(id, 300, 0.5);
  SayUpdate(id, Used(200));  // a compaction; it says nothing of the cost
  ExpectUsage(id, 200, 0.5);
}

TEST_F(SessionFactsTest, UsageOutlivesAcpdAndAResume) {
  StartDaemon();
  const std::string id = NewSession();
  SayUpdate(id, UsedFor(100, 0.25));
  KillAndRestartDaemon();
  ExpectUsage(id, 100, 0.25);
  ASSERT_TRUE(client().Say(kProject, id, "hello").ok());
  ExpectUsage(id, 100, 0.25);
  RestartDaemon();
  ExpectUsage(id, 100, 0.25);
}

TEST_F(SessionFactsTest, UsageMayComeAfterTheTurnAndIsInNoShortList) {
  StartDaemon();
  const std::string id = NewSession();
  ASSERT_TRUE(
      client()
          .Say(kProject, id, Scripted(Steps(Reply("end_turn"), Step("update", UsedFor(7, 0.5)))))
          .ok());
  EXPECT_TRUE(WaitUntil([&] { return Get(id).usage().context_used() == 7; }));
  api::ListSessionsRequest request;
  const auto basic = client().Call(&Client::Stub::ListSessions, request);
  ASSERT_EQ(basic.response.sessions_size(), 1);
  EXPECT_FALSE(basic.response.sessions(0).has_usage());
  request.set_view(api::SESSION_VIEW_FULL);
  const auto full = client().Call(&Client::Stub::ListSessions, request);
  ASSERT_EQ(full.response.sessions_size(), 1);
  EXPECT_EQ(full.response.sessions(0).usage().context_used(), 7u);
}

TEST_F(SessionFactsTest, TokensStandInTheTurn) {
  StartDaemon();
  const json reply = {{"stopReason", "end_turn"},
                      {"usage",
                       {{"inputTokens", 10},
                        {"outputTokens", 20},
                        {"cachedReadTokens", 3},
                        {"cachedWriteTokens", 4},
                        {"thoughtTokens", 5},
                        {"totalTokens", 42}}}};
  const auto chat = client().Say(kProject, "", Scripted(Steps(Step("reply", reply))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  const api::Usage usage = chat.response.result().usage();
  EXPECT_EQ(usage.input_tokens(), 10u);
  EXPECT_EQ(usage.output_tokens(), 20u);
  EXPECT_EQ(usage.cached_read_tokens(), 3u);
  EXPECT_EQ(usage.cached_write_tokens(), 4u);
  EXPECT_EQ(usage.thought_tokens(), 5u);
  EXPECT_EQ(usage.total_tokens(), 42u);
  KillAndRestartDaemon();
  const auto turn = client().GetTurn(chat.response.turn_id());
  EXPECT_EQ(turn.response.result().usage().total_tokens(), 42u);
}

TEST_F(SessionFactsTest, TheTitleIsTheLastThatAnybodyGave) {
  StartDaemon();
  const std::string id = NewSession();
  SayUpdate(id, InfoUpdate({{"title", "Mend the door"}}));
  EXPECT_EQ(Get(id).title(), "Mend the door");
  SayUpdate(id, InfoUpdate({{"updatedAt", "2026-11-30T10:00:00Z"}}));  // not of the title
  SayUpdate(id, InfoUpdate({{"title", "Mend the door"}}));             // nothing new
  EXPECT_EQ(Get(id).title(), "Mend the door");
  const std::vector<api::SessionChanged> changes = ChangesOf(id);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_THAT(changes[0].changed(), ElementsAre("title"));
  EXPECT_EQ(changes[0].session().title(), "Mend the door");
  KillAndRestartDaemon();
  EXPECT_EQ(Get(id).title(), "Mend the door");
  ASSERT_TRUE(SetTitle(id, "Paint the door").ok());
  EXPECT_EQ(Get(id).title(), "Paint the door");
  SayUpdate(id, InfoUpdate({{"title", "Sell the door"}}));
  EXPECT_EQ(Get(id).title(), "Sell the door");
  SayUpdate(id, InfoUpdate({{"title", nullptr}}));
  EXPECT_EQ(Get(id).title(), "");
}

TEST_F(SessionFactsTest, ALongTitleIsCut) {
  StartDaemon();
  const std::string id = NewSession();
  SayUpdate(id, InfoUpdate({{"title", std::string(5000, 't')}}));
  EXPECT_EQ(Get(id).title(), std::string(4096, 't'));
  api::ListSessionsRequest request;
  const auto listed = client().Call(&Client::Stub::ListSessions, request);
  ASSERT_EQ(listed.response.sessions_size(), 1);
  EXPECT_EQ(listed.response.sessions(0).title(), std::string(4096, 't'));
}

TEST_F(SessionFactsTest, ASessionThatStandsInHasTheTitleButItsOwnUsage) {
  UseScript({{"session/resume", Steps(Error(-32002, "Resource not found"))}});
  StartDaemon();
  const std::string id = NewSession();
  SayUpdate(id, InfoUpdate({{"title", "Mend the door"}}));
  SayUpdate(id, UsedFor(100, 0.25));
  Close(id);
  const auto chat = client().Say(kProject, id, "hello");
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  ASSERT_EQ(chat.response.origin().kind(), api::SessionOrigin::KIND_FALLBACK);
  EXPECT_EQ(Get(chat.response.session_id()).title(), "Mend the door");
  EXPECT_FALSE(Get(chat.response.session_id()).usage().has_context_used());
  ExpectUsage(id, 100, 0.25);
}

}  // namespace
}  // namespace acpd::e2e
