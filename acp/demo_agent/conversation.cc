#include "acp/demo_agent/conversation.h"

#include <cstdio>
#include <optional>

namespace acpd::demo {
namespace {

constexpr char kRemember[] = "remember the number ";

// The digits behind the last "remember the number " of `text`.
std::optional<std::string> NumberIn(const std::string& text) {
  const size_t at = text.rfind(kRemember);
  if (at == std::string::npos) return std::nullopt;
  const size_t first = at + sizeof kRemember - 1;
  const size_t last = text.find_first_not_of("0123456789", first);
  const std::string digits = text.substr(first, last == std::string::npos ? last : last - first);
  if (digits.empty()) return std::nullopt;
  return digits;
}

std::string NumberSaidBefore(const History& history) {
  for (size_t i = history.size() - 1; i-- > 0;) {
    if (auto number = NumberIn(history[i].user)) return *number;
  }
  return "UNKNOWN";
}

}  // namespace

Answer AnswerTo(const History& history) {
  const std::string& prompt = history.back().user;
  Answer answer;
  long chunks = 0, pause_ms = 100;
  if (std::sscanf(prompt.c_str(), "SLOW %6ld %6ld", &chunks, &pause_ms) >= 1) {
    answer.kind = Answer::Kind::kSlow;
    answer.chunks = static_cast<int>(chunks);
    answer.pause = std::chrono::milliseconds(pause_ms);
  } else if (prompt == "ASK") {
    answer.kind = Answer::Kind::kAsk;
  } else if (prompt == "COUNT") {
    answer.text = std::to_string(history.size());
  } else if (prompt.find("what number did I say") != std::string::npos) {
    answer.text = NumberSaidBefore(history);
  } else if (auto number = NumberIn(prompt)) {
    answer.text = "OK, I will remember " + *number + ".";
  } else {
    answer.text = prompt;
  }
  return answer;
}

std::string SlowChunk(int number) { return "chunk " + std::to_string(number) + " "; }

std::string ChosenText(const std::string& outcome) { return "Chosen: " + outcome; }

}  // namespace acpd::demo
