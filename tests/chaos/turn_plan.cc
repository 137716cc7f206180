#include "tests/chaos/turn_plan.h"

#include <functional>
#include <nlohmann/json.hpp>

namespace acpd::chaos {
namespace {

using nlohmann::json;

constexpr char kKeyMark[] = "turn ";

// Steps of the fake agent (tests/fakes/verb_table.cc) and the texts that come of them.
class Steps {
 public:
  explicit Steps(TurnPlan* plan) : plan_(plan) { Do("log", kKeyMark + plan->key); }

  void Do(const char* verb, json argument) { steps_.push_back({{verb, std::move(argument)}}); }
  std::string NextText() {
    std::string text = "u " + plan_->key + " " + std::to_string(plan_->texts.size() + 1) + ". ";
    plan_->texts.push_back(HashOf(text));
    return text;
  }
  void Say(int count) {
    for (int i = 0; i < count; ++i) Do("update", NextText());
  }
  void Stop(const char* reason) { Do("reply", {{"stopReason", reason}}); }
  std::string Prompt() const { return "!" + steps_.dump(); }

  // As the fake agent's verb makes them.
  void Burst(int count, size_t size) {
    Do("burst", {count, size});
    for (int i = 0; i < count; ++i) {
      std::string text = std::to_string(i) + " ";
      if (text.size() < size) text.resize(size, 'x');
      plan_->texts.push_back(HashOf(text));
    }
  }
  void SayAndReplyAtOnce(int count) {
    json texts = json::array();
    for (int i = 0; i < count; ++i) texts.push_back(NextText());
    Do("updates_and_reply", {{"updates", texts}});
  }

 private:
  TurnPlan* plan_;
  json steps_ = json::array();
};

void Small(Dice* dice, Steps* steps) { steps->Say(dice->Between(1, 4)); }

void AtOnce(Dice* dice, Steps* steps) { steps->SayAndReplyAtOnce(dice->Between(5, 40)); }

void Slow(Dice* dice, Steps* steps) {
  for (int i = dice->Between(2, 5); i > 0; --i) {
    steps->Say(1);
    steps->Do("sleep_ms", dice->Between(50, 300));
  }
}

void DeafToCancel(Dice* dice, Steps* steps) {
  steps->Do("on_cancel", "ignore");
  Slow(dice, steps);
}

void Asking(Dice* dice, Steps* steps) {
  const json options = {{{"optionId", "yes"}, {"kind", "allow_once"}},
                        {{"optionId", "no"}, {"kind", "reject_once"}}};
  steps->Say(1);
  steps->Do("ask", {{"options", options}, {"wait", true}});
  steps->Say(dice->Between(1, 2));
}

void Dying(Dice* dice, Steps* steps) {
  steps->Say(dice->Between(1, 3));
  if (dice->Chance(50)) {
    steps->Do("crash", dice->Chance(50) ? "SEGV" : "KILL");
  } else {
    steps->Do("exit", dice->Between(0, 3));
  }
}

void Large(Dice* dice, Steps* steps) {
  steps->Burst(dice->Between(1, 3), static_cast<size_t>(dice->Between(20'000, 300'000)));
}

void Failing(Dice* dice, Steps* steps) {
  steps->Say(dice->Between(1, 3));
  steps->Do("error", {-32603, "the model is not there"});
}

void Refusing(Dice* dice, Steps* steps) {
  steps->Say(1);
  steps->Stop(dice->Chance(50) ? "refusal" : "max_tokens");
}

struct PlanKind {
  const char* name;
  int share;  // of 100
  void (*make)(Dice* dice, Steps* steps);
};

constexpr PlanKind kPlanKinds[] = {
    {"small", 65, Small}, {"at once", 8, AtOnce},    {"asking", 6, Asking},
    {"slow", 8, Slow},    {"failing", 3, Failing},   {"dying", 3, Dying},
    {"large", 2, Large},  {"deaf", 2, DeafToCancel}, {"refusing", 3, Refusing}};

const PlanKind& Choose(Dice* dice) {
  int drawn = dice->Between(1, 100);
  for (const PlanKind& kind : kPlanKinds) {
    if ((drawn -= kind.share) <= 0) return kind;
  }
  return kPlanKinds[0];
}

}  // namespace

TurnPlan PlanTurn(Dice* dice, const std::string& key) {
  const PlanKind& kind = Choose(dice);
  TurnPlan plan{.key = key, .kind = kind.name, .prompt = "", .texts = {}};
  Steps steps(&plan);
  kind.make(dice, &steps);
  plan.prompt = steps.Prompt();
  return plan;
}

std::string KeyOfPrompt(const std::string& prompt) {
  const size_t mark = prompt.find(kKeyMark);
  if (mark == std::string::npos) return "";
  const size_t begin = mark + sizeof(kKeyMark) - 1;
  return prompt.substr(begin, prompt.find('"', begin) - begin);
}

uint64_t HashOf(std::string_view bytes) { return std::hash<std::string_view>()(bytes); }

}  // namespace acpd::chaos
