#ifndef ACPD_TESTS_CHAOS_TURN_PLAN_H_
#define ACPD_TESTS_CHAOS_TURN_PLAN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/chaos/dice.h"

namespace acpd::chaos {

// One prompt for the fake agent, and what the agent will say to it.
struct TurnPlan {
  std::string key;   // no other prompt has it
  std::string kind;  // e.g. "slow"
  std::string prompt;
  std::vector<uint64_t> texts;  // the hashes of the texts, in order
};

// None makes acpd send a prompt again: before a refusal or an error stands a text.
TurnPlan PlanTurn(Dice* dice, const std::string& key);

// The key that stands in the prompt; empty: the prompt is none of ours.
std::string KeyOfPrompt(const std::string& prompt);

uint64_t HashOf(std::string_view bytes);

}  // namespace acpd::chaos

#endif  // ACPD_TESTS_CHAOS_TURN_PLAN_H_
