#ifndef ACPD_ACP_DEMO_AGENT_CONVERSATION_H_
#define ACPD_ACP_DEMO_AGENT_CONVERSATION_H_

#include <chrono>
#include <string>
#include <vector>

// What the demo agent says. Pure functions.
namespace acpd::demo {

struct Exchange {
  std::string user;
  std::string agent;  // empty while the turn runs
};
using History = std::vector<Exchange>;

struct Answer {
  enum class Kind {
    kSay,   // `text`
    kSlow,  // `chunks` pieces of text, SlowChunk(1..chunks), `pause` apart
    kAsk,   // a permission, then ChosenText of what was chosen
  };
  Kind kind = Kind::kSay;
  std::string text;
  int chunks = 0;
  std::chrono::milliseconds pause{0};
};

// The answer to the last user message of `history`:
//   remember the number N     -> OK, I will remember N.
//   what number did I say?    -> the last such N of an earlier message, else UNKNOWN
//   COUNT                     -> the number of user messages, this one included
//   SLOW n [ms]               -> n chunks, ms (100) apart
//   ASK                       -> asks for a permission
//   anything else             -> an echo
Answer AnswerTo(const History& history);

std::string SlowChunk(int number);                   // "chunk 1 "
std::string ChosenText(const std::string& outcome);  // "Chosen: allow_once"

}  // namespace acpd::demo

#endif  // ACPD_ACP_DEMO_AGENT_CONVERSATION_H_
