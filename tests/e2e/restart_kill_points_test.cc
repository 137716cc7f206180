// acpd is killed at random moments, again and again, with one state: whatever was under way, it
// comes to its end as though nothing had happened. A failure prints the seed and the round.

#include <algorithm>
#include <cstdlib>
#include <future>
#include <memory>
#include <random>
#include <thread>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using ::testing::IsEmpty;
using Result = api::TurnResult;

// ACPD_TEST_SEED: another one.
unsigned SeedOfKills() {
  const char* given = std::getenv("ACPD_TEST_SEED");
  return given == nullptr ? 20260 : static_cast<unsigned>(std::strtoul(given, nullptr, 10));
}

constexpr int kRounds = 80;
constexpr size_t kSessions = 4;  // and one more where two were made at once
constexpr int kMostDelayMs = 30;
constexpr int kUpdates = 12;
// A call that the kill overtakes before it has left waits for an acpd that does not come.
constexpr milliseconds kBrokenCall{500};

struct Planned {
  api::ChatRequest request;
  std::string text;         // all that its agent says
  std::string question_id;  // the JSON-RPC id of what it asks; empty: nothing
  std::string turn_id;      // once known
};

class KillPointsTest : public TurnsTest {
 protected:
  KillPointsTest() {
    options().extra["shutdown"] = {{"workers", "keep"}};
    options().agents["fake"].extra["permission_mode"] = "ask";
  }

  int Dice(size_t sides) {
    return std::uniform_int_distribution<int>(0, static_cast<int>(sides) - 1)(random_);
  }

  // Many numbered updates at once.
  static void AddBurst(json* steps, std::string* text) {
    constexpr int kCount = 300;
    constexpr size_t kSize = 200;
    steps->push_back(Step("burst", {kCount, kSize}));
    for (int i = 0; i < kCount; ++i) {
      std::string one = std::to_string(i) + " ";
      one.resize(kSize, 'x');
      *text += one;
    }
  }

  // A turn that says numbered updates with small pauses, and may ask something in the middle.
  std::shared_ptr<Planned> Plan() {
    const std::string name = "t" + std::to_string(plans_.size());
    auto plan = std::make_shared<Planned>();
    json steps = json::array();
    const bool asks = Dice(3) == 0;
    for (int i = 0; i < kUpdates; ++i) {
      const std::string text = name + ":" + std::to_string(i) + " ";
      plan->text += text;
      steps.push_back(Say(text));
      if (Dice(3) == 0) steps.push_back(Step("sleep_ms", Dice(4)));
      if (Dice(20) == 0) AddBurst(&steps, &plan->text);
      if (!asks || i != kUpdates / 2) continue;
      plan->question_id = "q-" + name;
      steps.push_back(
          Step("ask", {{"id", plan->question_id},
                       {"wait", true},
                       {"options", json::array({{{"optionId", "yes"}, {"kind", "allow_once"}}})}}));
    }
    const std::string session = sessions_.size() < kSessions ? "" : sessions_[Dice(kSessions)];
    plan->request = ChatOf(kProject, session, Scripted(steps), api::WAIT_FOR_ACCEPTED);
    plan->request.set_request_id(name);
    plans_.push_back(plan);
    return plan;
  }

  // Sends it as a client does that does not know whether it had been heard.
  void Send(const std::shared_ptr<Planned>& plan, milliseconds patience) {
    const auto chat = client().Chat(plan->request, patience);
    if (chat.ok()) plan->turn_id = chat.response.turn_id();
  }
  void AnswerAll() {
    for (const std::string& id : sessions_) {
      api::GetSessionRequest request;
      request.set_session_id(id);
      const auto session = client().Call(&Client::Stub::GetSession, request, kBrokenCall);
      if (!session.ok()) return;  // acpd is gone
      for (const Event& asked : session.response.open_questions()) {
        api::RespondRequest answer;
        answer.set_session_id(id);
        answer.set_question_id(asked.permission_requested().question_id());
        answer.set_option_id("yes");
        client().Call(&Client::Stub::Respond, answer, kBrokenCall);
      }
    }
  }
  void CancelIn(const std::string& session_id) {
    api::CancelRequest request;
    request.set_session_id(session_id);
    client().Cancel(request, kBrokenCall);
  }

  void KillIn(milliseconds delay) {
    std::this_thread::sleep_for(delay);  // the moment is the point
    daemon().Kill();
  }

  // Everything is sent, acpd is killed, and started again.
  void Round() {
    const auto reader = Follow();
    std::vector<std::future<void>> calls;
    const auto call = [&](auto work) { calls.push_back(std::async(std::launch::async, work)); };
    std::vector<std::shared_ptr<Planned>> plans{Plan()};
    if (Dice(2) == 0) plans.push_back(Plan());
    for (const auto& plan : plans) call([this, plan] { Send(plan, kBrokenCall); });
    if (Dice(2) == 0) call([this] { AnswerAll(); });
    if (sessions_.size() >= kSessions && Dice(4) == 0) {
      const std::string session = sessions_[Dice(kSessions)];
      call([this, session] { CancelIn(session); });
    }
    KillIn(milliseconds(Dice(kMostDelayMs + 1)));
    for (std::future<void>& each : calls) each.get();
    Take(*reader);
    StartDaemon();
    for (const auto& plan : plans) Send(plan, kPatience);
    for (const auto& plan : plans) {
      ASSERT_FALSE(plan->turn_id.empty());
      if (plan->request.session_id().empty()) sessions_.push_back(SessionOf(*plan));
    }
  }
  std::string SessionOf(const Planned& plan) {
    return client().GetTurn(plan.turn_id).response.session_id();
  }

  // One reader, which comes back with its cursor after each kill.
  std::unique_ptr<Subscription> Follow() {
    api::SubscribeProgressRequest request;
    request.set_everything(true);
    request.set_after_position(seen_.empty() ? 0 : seen_.back().position());
    return client().Subscribe(request);
  }
  void Take(const Subscription& reader) {
    reader.WaitForEnd();
    for (const Event& event : reader.Stored()) seen_.push_back(event);
  }

  void WaitForAll() {
    const auto all_ended = [this] {
      AnswerAll();
      return std::all_of(plans_.begin(), plans_.end(), [this](const auto& plan) {
        return client().GetTurn(plan->turn_id).response.state() == api::TURN_STATE_ENDED;
      });
    };
    EXPECT_TRUE(WaitUntil(all_ended));
  }

  void Check(const Planned& plan, const std::vector<Event>& events,
             const std::vector<json>& prompts) {
    SCOPED_TRACE(plan.request.request_id() + ", turn " + plan.turn_id);
    const Result result = client().GetTurn(plan.turn_id).response.result();
    const std::string text = TextOf(events, plan.turn_id);
    const auto ends = std::count_if(events.begin(), events.end(), EndOf(plan.turn_id));
    const auto sent = std::count_if(prompts.begin(), prompts.end(), [&plan](const json& prompt) {
      return prompt["params"]["prompt"][0]["text"] == plan.request.prompt();
    });
    EXPECT_EQ(ends, 1);
    EXPECT_EQ(sent, result.prompt_sent() ? 1 : 0);
    EXPECT_EQ(result.text(), text);
    if (result.outcome() == Result::OUTCOME_CANCELLED) {
      EXPECT_EQ(plan.text.substr(0, text.size()), text);
      return;
    }
    // No agent and no worker died.
    EXPECT_EQ(result.outcome(), Result::OUTCOME_COMPLETED) << result.ShortDebugString();
    EXPECT_EQ(text, plan.text);
    if (plan.question_id.empty()) return;
    EXPECT_EQ(log().AnswersTo(plan.question_id).size(), 1u);
  }

  std::mt19937 random_{SeedOfKills()};
  std::vector<std::shared_ptr<Planned>> plans_;
  std::vector<std::string> sessions_;
  std::vector<Event> seen_;
};

TEST_F(KillPointsTest, NothingIsLostAndNothingHappensTwice) {
  SCOPED_TRACE("seed " + std::to_string(SeedOfKills()));
  StartDaemon();
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    ASSERT_NO_FATAL_FAILURE(Round());
  }
  WaitForAll();
  std::vector<Event> events = AllEvents();
  std::erase_if(events, [](const Event& event) { return event.seq() == 0; });
  const std::vector<json> prompts = log().Received("session/prompt");
  for (const auto& plan : plans_) Check(*plan, events, prompts);
  EXPECT_THAT(CheckNoHoleNoRepeat(events), IsEmpty());
  // What the reader saw is the log's beginning, each event once.
  EXPECT_THAT(CheckNoHoleNoRepeat(seen_), IsEmpty());
  ASSERT_FALSE(seen_.empty());
  for (size_t i = 0; i < seen_.size(); ++i) {
    ASSERT_LT(i, events.size());
    ASSERT_EQ(seen_[i].position(), events[i].position());
    ASSERT_EQ(seen_[i].seq(), events[i].seq());
  }
}

}  // namespace
}  // namespace acpd::e2e
