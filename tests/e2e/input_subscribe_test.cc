// Subscriptions that are refused: unknown sessions and turns, cursors, scopes.

#include "tests/e2e/input_support.h"

namespace acpd::e2e {
namespace {

using grpc::StatusCode;
using ::testing::IsEmpty;

class BadSubscriptionTest : public InputTest {
 protected:
  using Request = api::SubscribeProgressRequest;

  void Try(const std::string& name, const std::function<void(Request&)>& set, StatusCode code,
           const std::string& reason) {
    SCOPED_TRACE(name);
    const std::string before = World();
    Request request;
    set(request);
    const auto stream = client().Subscribe(request);
    ExpectRefused(RefusalOf(*stream), code, reason, before);
    EXPECT_THAT(stream->Events(), IsEmpty());
  }

  uint64_t NewestSeq(const std::string& session_id) {
    return client().GetSession(session_id).response.newest_seq();
  }
  uint64_t NewestPosition() { return AllEvents().back().position(); }
};

TEST_F(BadSubscriptionTest, OfSessionsAndTurnsThatNobodyKnows) {
  Try(
      "unknown session", [](auto& to) { to.set_session_id("no-such-session"); },
      StatusCode::NOT_FOUND, "SESSION_NOT_FOUND");
  Try(
      "bad session id", [](auto& to) { to.set_session_id("a/b"); }, StatusCode::INVALID_ARGUMENT,
      "INVALID_SESSION_ID");
  Try(
      "bad project id", [](auto& to) { to.set_project_id("../x"); }, StatusCode::INVALID_ARGUMENT,
      "INVALID_PROJECT_ID");
  Try(
      "unknown until_turn_id",
      [&](auto& to) {
        to.set_session_id(shop_session_);
        to.set_until_turn_id("no-such-turn");
      },
      StatusCode::NOT_FOUND, "TURN_NOT_FOUND");
  Try(
      "unknown turn_id",
      [&](auto& to) {
        to.set_everything(true);
        to.set_turn_id("no-such-turn");
      },
      StatusCode::NOT_FOUND, "TURN_NOT_FOUND");
}

TEST_F(BadSubscriptionTest, WithCursorsPastTheEnd) {
  const uint64_t seq = NewestSeq(shop_session_), position = NewestPosition();
  ASSERT_GT(seq, 0u);
  for (const uint64_t beyond : {seq + 1, seq + 1'000'000, UINT64_MAX}) {
    Try(
        "seq " + std::to_string(beyond),
        [&](auto& to) {
          to.set_session_id(shop_session_);
          to.set_after_seq(beyond);
        },
        StatusCode::OUT_OF_RANGE, "CURSOR_AHEAD");
  }
  const std::function<void(Request&)> scopes[] = {
      [&](auto& to) { to.set_session_id(shop_session_); },
      [](auto& to) { to.set_project_id("shop"); },
      [](auto& to) { to.set_everything(true); },
  };
  for (const auto& scope : scopes) {
    for (const uint64_t beyond : {position + 1, position + 1'000'000, UINT64_MAX}) {
      Try(
          "position " + std::to_string(beyond),
          [&](auto& to) {
            scope(to);
            to.set_after_position(beyond);
          },
          StatusCode::OUT_OF_RANGE, "CURSOR_AHEAD");
    }
  }
}

TEST_F(BadSubscriptionTest, ACursorAtTheEndIsGood) {
  const uint64_t seq = NewestSeq(shop_session_), position = NewestPosition();
  Request by_seq, by_position;
  by_seq.set_session_id(shop_session_);
  by_seq.set_after_seq(seq);
  by_position.set_everything(true);
  by_position.set_after_position(position);
  for (Request* request : {&by_seq, &by_position}) {
    request->set_replay_only(true);
    const auto stream = client().Subscribe(*request);
    const auto end = stream->WaitForEnd();
    ASSERT_TRUE(end);
    EXPECT_TRUE(end->ok()) << end->error_message();
    EXPECT_THAT(stream->Stored(), IsEmpty());
    EXPECT_TRUE(stream->WaitFor(HasCaughtUp()));
  }
}

TEST_F(BadSubscriptionTest, WithASeqOutsideASession) {
  for (const uint64_t seq : {0, 1}) {
    Try(
        "project",
        [&](auto& to) {
          to.set_project_id("shop");
          to.set_after_seq(seq);
        },
        StatusCode::INVALID_ARGUMENT, "INVALID_CURSOR");
    Try(
        "everything",
        [&](auto& to) {
          to.set_everything(true);
          to.set_after_seq(seq);
        },
        StatusCode::INVALID_ARGUMENT, "INVALID_CURSOR");
  }
}

TEST_F(BadSubscriptionTest, WithoutAScopeOrWithBadFilters) {
  const auto invalid = StatusCode::INVALID_ARGUMENT;
  Try(
      "no scope", [](auto&) {}, invalid, "INVALID_REQUEST");
  Try(
      "everything false", [](auto& to) { to.set_everything(false); }, invalid, "INVALID_REQUEST");
  Try(
      "heartbeat",
      [](auto& to) {
        to.set_everything(true);
        to.mutable_heartbeat()->set_seconds(-1);
      },
      invalid, "INVALID_REQUEST");
  Try(
      "event kind",
      [](auto& to) {
        to.set_everything(true);
        to.add_event_kinds(static_cast<api::EventKind>(999));
      },
      invalid, "INVALID_REQUEST");
  Try(
      "labels in session scope",
      [&](auto& to) {
        to.set_session_id(shop_session_);
        (*to.mutable_labels())["a"] = "b";
      },
      invalid, "INVALID_REQUEST");
}

TEST_F(BadSubscriptionTest, AProjectThatWasNeverNamedIsEmptyAndNotMadeByIt) {
  const std::string before = World();
  Request request;
  request.set_project_id("never-named");
  request.set_after_position(0);
  request.set_replay_only(true);
  const auto stream = client().Subscribe(request);
  const auto end = stream->WaitForEnd();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->ok()) << end->error_message();
  EXPECT_THAT(stream->Stored(), IsEmpty());
  EXPECT_EQ(World(), before);
}

}  // namespace
}  // namespace acpd::e2e
