// How agents' answers to a resume are judged.
// Input: one byte for the kind of answer, one for the method, one that chooses the code; then the
// id asked for, the id returned, the message, the data and the patterns, each ended by NUL.

#include <algorithm>
#include <string>
#include <vector>

#include "session/resume_answers.h"
#include "tests/fuzz/fuzz.h"

namespace acpd::fuzz {
namespace {

using session::JudgeResume;
using session::ResumeAnswer;
using session::ResumeMethod;
using Kind = ResumeAnswer::Kind;
using Verdict = session::ResumeVerdict;
using Patterns = std::vector<std::string>;

constexpr int64_t kNotFoundCode = -32002;
constexpr int64_t kMethodCode = -32601;
constexpr int64_t kAuthCode = -32000;
constexpr int64_t kParamsCode = -32602;
constexpr int64_t kCodes[] = {-32603,      kNotFoundCode, kMethodCode, kAuthCode,
                              kParamsCode, -32700,        -32600,      0,
                              1,           404,           INT64_MAX,   INT64_MIN};

constexpr std::string_view kMissing[] = {"no conversation found",      "session not found",
                                         "resource not found",         "no rollout found",
                                         "no previous sessions found", "invalid session id",
                                         "requires a valid session id"};

std::string Mapped(std::string text, int (*map)(int)) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x80) c = static_cast<char>(map(c));
  }
  return text;
}

std::string Widened(const std::string& text) {
  std::string wide;
  for (const char c : text) wide.append(c == ' ' ? " \t " : std::string(1, c));
  return wide;
}

bool SaysSo(const std::string& text) {
  const std::string lower = Mapped(text, tolower);
  return std::any_of(std::begin(kMissing), std::end(kMissing),
                     [&](std::string_view words) { return lower.find(words) != lower.npos; });
}

void CheckResult(const ResumeAnswer& answer, Verdict verdict) {
  if (answer.method != ResumeMethod::kMeta) {
    Require(verdict == Verdict::kResumed, "any success of a native method has resumed");
  } else if (answer.returned_id == answer.requested_id) {
    Require(verdict == Verdict::kResumed, "the id asked for has resumed");
  } else {
    Require(verdict == (answer.returned_id.empty() ? Verdict::kRetryFailed : Verdict::kIgnored),
            "another id is another session");
  }
}

// The rows of LIFE.md's table that a code alone decides, unless the words say "no such session".
void CheckCode(const ResumeAnswer& answer, Verdict verdict) {
  const bool not_found = verdict == Verdict::kNotFound;
  if (answer.code == kNotFoundCode) Require(not_found, "-32002 is SESSION_NOT_FOUND");
  if (answer.code == kMethodCode) {
    Require(not_found || verdict == Verdict::kNextMethod, "-32601 goes to the next method");
  }
  if (answer.code == kAuthCode) {
    Require(not_found || verdict == Verdict::kAuthRequired, "-32000 wants a login");
  }
  if (verdict == Verdict::kAuthRequired) Require(answer.code == kAuthCode, "a login is for -32000");
  if (verdict == Verdict::kNextMethod) {
    Require(answer.code == kMethodCode || answer.code == kParamsCode,
            "the next method is for -32601 and -32602");
  }
}

void CheckPatterns(const ResumeAnswer& answer, Verdict verdict, const Patterns& patterns) {
  const Verdict without = JudgeResume(answer, {});
  Require(verdict == without || verdict == Verdict::kNotFound, "a pattern means only one thing");
  if (answer.code == kMethodCode || answer.code == kAuthCode) {
    Require(verdict == without, "a pattern says nothing of a clear code");
  }
  Patterns loud = patterns;
  for (std::string& pattern : loud) pattern = Mapped(pattern, tolower);
  const bool plain = std::all_of(patterns.begin(), patterns.end(), [](const std::string& pattern) {
    return pattern.find('\\') == pattern.npos;
  });
  if (plain) Require(JudgeResume(answer, loud) == verdict, "the case of a pattern does not matter");
}

// Escapes are undone, so words with a backslash change with their case.
void CheckWords(const ResumeAnswer& answer, Verdict verdict, const Patterns& patterns) {
  if ((answer.message + answer.data).find('\\') != std::string::npos) return;
  if (SaysSo(answer.message) || SaysSo(answer.data)) {
    Require(verdict == Verdict::kNotFound, "the table's words are SESSION_NOT_FOUND");
  }
  ResumeAnswer other = answer;
  other.message = Mapped(answer.message, toupper);
  other.data = Mapped(answer.data, toupper);
  Require(JudgeResume(other, patterns) == verdict, "the case of the words does not matter");
  other.message = Widened(answer.message);
  other.data = Widened(answer.data);
  Require(JudgeResume(other, patterns) == verdict, "white space does not matter");
}

void CheckError(const ResumeAnswer& answer, Verdict verdict, const Patterns& patterns) {
  const bool missing =
      session::SaysSessionNotFound(answer.code, answer.message, answer.data, patterns);
  Require(missing == (verdict == Verdict::kNotFound), "a prompt's error is judged the same way");
  Require(verdict != Verdict::kResumed && verdict != Verdict::kIgnored &&
              verdict != Verdict::kExited && verdict != Verdict::kTimedOut,
          "an error is no success and no silence");
  CheckCode(answer, verdict);
  CheckPatterns(answer, verdict, patterns);
  CheckWords(answer, verdict, patterns);
}

void CheckVerdict(const ResumeAnswer& answer, const Patterns& patterns) {
  const Verdict verdict = JudgeResume(answer, patterns);
  Require(verdict == JudgeResume(answer, patterns), "the same answer has the same verdict");
  switch (answer.kind) {
    case Kind::kResult:
      return CheckResult(answer, verdict);
    case Kind::kError:
      return CheckError(answer, verdict, patterns);
    case Kind::kExited:
      return Require(verdict == Verdict::kExited, "an exit is AGENT_EXITED");
    case Kind::kTimedOut:
      return Require(verdict == Verdict::kTimedOut, "silence is RESUME_TIMEOUT");
  }
}

}  // namespace
}  // namespace acpd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace acpd::fuzz;
  Input input(data, size);
  ResumeAnswer answer;
  // Most answers are errors, which have the most rows.
  const uint8_t kind = input.Byte() % 8;
  answer.kind = kind < 3 ? static_cast<Kind>(kind == 0 ? 0 : kind + 1) : Kind::kError;
  answer.method = static_cast<ResumeMethod>(input.Byte() % 4);
  answer.code = kCodes[input.Byte() % std::size(kCodes)];
  answer.requested_id = input.Field();
  answer.returned_id = input.Field();
  answer.message = input.Field();
  answer.data = input.Field();
  Patterns patterns;
  while (!input.Rest().empty() && patterns.size() < 8) patterns.emplace_back(input.Field());
  CheckVerdict(answer, patterns);
  return 0;
}
