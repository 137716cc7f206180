#include "tests/e2e/input_support.h"

#include <algorithm>
#include <filesystem>

namespace acpd::e2e {

Refusal RefusalOf(const Subscription& stream) {
  const auto end = stream.WaitForEnd();
  if (!end) return {grpc::StatusCode::DEADLINE_EXCEEDED, "", "the stream did not end"};
  return {end->error_code(), stream.Trailer("acpd-reason"), end->error_message()};
}

void InputTest::SetUp() {
  StartDaemon();
  const auto shop = client().Say("shop", "", "hello");
  ASSERT_TRUE(shop.ok()) << shop.ToString();
  shop_session_ = shop.response.session_id();
  shop_turn_ = shop.response.turn_id();
  const json steps = {{{"barrier", "yard"}}};
  const auto yard = client().Begin("yard", "", Scripted(steps));
  ASSERT_TRUE(yard.ok()) << yard.ToString();
  yard_session_ = yard.response.session_id();
  yard_turn_ = yard.response.turn_id();
  ASSERT_TRUE(barriers().WaitReached("yard"));
}

std::string InputTest::World() {
  std::string world;
  api::ListSessionsRequest sessions;
  sessions.set_view(api::SESSION_VIEW_BASIC);
  const auto listed = client().Call(&Client::Stub::ListSessions, sessions);
  EXPECT_TRUE(listed.ok()) << listed.ToString();
  const auto turns = client().Call(&Client::Stub::ListTurns, api::ListTurnsRequest());
  EXPECT_TRUE(turns.ok()) << turns.ToString();
  world += listed.response.DebugString() + turns.response.DebugString();
  for (const Event& event : AllEvents()) {
    if (event.seq() != 0) world += event.DebugString();
  }
  std::vector<std::string> folders;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir() / "projects")) {
    folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  for (const std::string& folder : folders) world += folder + "\n";
  return world + std::to_string(log().Pids().size()) + " agents\n";
}

void InputTest::ExpectRefused(const Refusal& refusal, grpc::StatusCode code,
                              const std::string& reason, const std::string& before) {
  EXPECT_EQ(refusal.code, code) << refusal.message;
  EXPECT_EQ(refusal.reason, reason) << refusal.message;
  EXPECT_FALSE(refusal.message.empty());
  EXPECT_EQ(World(), before);
}

}  // namespace acpd::e2e
