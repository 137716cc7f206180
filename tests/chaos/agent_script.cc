#include "tests/chaos/agent_script.h"

namespace acpd::chaos {
namespace {

using nlohmann::json;

// What is done at each call, over all processes; after the last of them all calls go well.
constexpr int kCalls = 3'000;

json OneResume(Dice* dice) {
  const int drawn = dice->Between(1, 100);
  if (drawn <= 3) return json::array({{{"exit", 1}}});
  if (drawn <= 6) return json::array({{{"error", {-32002, "Resource not found"}}}});
  if (drawn <= 8) return json::array({{{"error", {-32603, "the disk is on fire"}}}});
  if (drawn <= 12) return json::array({{{"sleep_ms", dice->Between(50, 800)}}});
  return json::array();
}

json OneNew(Dice* dice) {
  const int drawn = dice->Between(1, 100);
  if (drawn <= 2) return json::array({{{"exit", 1}}});
  if (drawn <= 4) return json::array({{{"error", {-32603, "no session today"}}}});
  if (drawn <= 8) return json::array({{{"sleep_ms", dice->Between(50, 800)}}});
  return json::array();
}

}  // namespace

json MakeAgentScript(Dice* dice) {
  json resumes = json::array(), news = json::array();
  for (int i = 0; i < kCalls; ++i) {
    resumes.push_back(OneResume(dice));
    news.push_back(OneNew(dice));
  }
  resumes.push_back(json::array());
  news.push_back(json::array());
  return {{"session/resume", std::move(resumes)}, {"session/new", std::move(news)}};
}

}  // namespace acpd::chaos
