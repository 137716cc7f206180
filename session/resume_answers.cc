#include "session/resume_answers.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "acp/types.h"

namespace acpd::session {
namespace {

// What an agent says when it does not have the session: one of these in its error's message or
// data, in any case.
constexpr std::string_view kMissingTexts[] = {
    "no conversation found",       "session not found", "resource not found", "no rollout found",
    "no previous sessions found",  "thread not found",
    "invalid session id",  // and "invalid session identifier"
    "requires a valid session id",
};

// Signs of a missing session that a broken start gives just as well.
constexpr std::string_view kWeakTexts[] = {
    "query closed before response received",
    "enoent",
};
// data.service of opencode, the white space of the JSON left out.
constexpr std::string_view kWeakData = "\"service\":\"session\"";

struct CodeRow {
  int64_t code;
  ResumeVerdict verdict;
};

// Read after the missing texts and before the weak ones: a code of these says more than a weak
// sign.
constexpr CodeRow kCodes[] = {
    {acp::kResourceNotFound, ResumeVerdict::kNotFound},
    {acp::kMethodNotFound, ResumeVerdict::kNextMethod},
    {acp::kAuthRequired, ResumeVerdict::kAuthRequired},
};

// Lower case, the escapes of JSON strings undone as far as they matter here, one space for each run
// of white space.
std::string Normalise(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      c = text[++i];
      if (c == 'n' || c == 't' || c == 'r') c = ' ';
    }
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
    if (c == ' ' && !out.empty() && out.back() == ' ') continue;
    out.push_back(absl::ascii_tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

std::string WithoutSpaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Takes the word at the front off: a quoted text with its quotes, else what comes before the next
// space.
std::string_view TakeWord(std::string_view& text) {
  size_t end = std::string_view::npos;
  if (!text.empty() && (text[0] == '"' || text[0] == '\'' || text[0] == '`')) {
    end = text.find(text[0], 1);
    if (end != std::string_view::npos) ++end;
  } else {
    end = text.find(' ');
  }
  end = std::min(end, text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

// Quoted, or with a digit, `-` or `_` in it: so that "session command not found" speaks of no
// session.
bool LooksLikeId(std::string_view word) {
  if (word.empty()) return false;
  if (word[0] == '"' || word[0] == '\'' || word[0] == '`') return true;
  return std::any_of(word.begin(), word.end(),
                     [](char c) { return (c >= '0' && c <= '9') || c == '-' || c == '_'; });
}

// `session "..." not found`, with or without quotes, "id" or "with id" before it.
bool NamesMissingSession(std::string_view text) {
  constexpr std::string_view kSession = "session ";
  for (size_t at = text.find(kSession); at != std::string_view::npos;
       at = text.find(kSession, at + 1)) {
    std::string_view rest = text.substr(at + kSession.size());
    for (const std::string_view filler : {"with id ", "id "}) {
      if (rest.starts_with(filler)) rest.remove_prefix(filler.size());
    }
    if (LooksLikeId(TakeWord(rest)) && rest.starts_with(" not found")) return true;
  }
  return false;
}

bool SaysMissing(std::string_view text) {
  return NamesMissingSession(text) ||
         std::any_of(std::begin(kMissingTexts), std::end(kMissingTexts),
                     [text](std::string_view part) { return Contains(text, part); });
}

// The agent's own patterns. They may be as wide as "not found", so they say nothing of an error
// whose code is clear.
bool MatchesOwnPattern(int64_t code, std::string_view text,
                       const std::vector<std::string>& patterns) {
  if (code == acp::kMethodNotFound || code == acp::kAuthRequired) return false;
  return std::any_of(patterns.begin(), patterns.end(), [text](const std::string& pattern) {
    return !pattern.empty() && Contains(text, Normalise(pattern));
  });
}

bool IsWeakSign(const ResumeAnswer& answer) {
  const std::string data = Normalise(answer.data);
  const std::string text = Normalise(answer.message) + "\n" + data;
  return Contains(WithoutSpaces(data), kWeakData) ||
         std::any_of(std::begin(kWeakTexts), std::end(kWeakTexts),
                     [&](std::string_view part) { return Contains(text, part); });
}

// A session/new with a resume id answers with the id of the session that it made or took up.
ResumeVerdict JudgeMetaResult(const ResumeAnswer& answer) {
  if (answer.returned_id == answer.requested_id) return ResumeVerdict::kResumed;
  // Without an id there is not even a new session to use.
  return answer.returned_id.empty() ? ResumeVerdict::kRetryFailed : ResumeVerdict::kIgnored;
}

ResumeVerdict JudgeError(const ResumeAnswer& answer,
                         const std::vector<std::string>& missing_patterns) {
  if (SaysSessionNotFound(answer.code, answer.message, answer.data, missing_patterns)) {
    return ResumeVerdict::kNotFound;
  }
  for (const CodeRow& row : kCodes) {
    if (row.code == answer.code) return row.verdict;
  }
  if (IsWeakSign(answer)) return ResumeVerdict::kRetryNotFound;
  // The method is there, but it does not take our parameters, and will not take them the second
  // time either: the agent cannot load by this method, which is as good as not having it.
  if (answer.code == acp::kInvalidParams) return ResumeVerdict::kNextMethod;
  return ResumeVerdict::kRetryFailed;
}

}  // namespace

ResumeVerdict JudgeResume(const ResumeAnswer& answer,
                          const std::vector<std::string>& missing_patterns) {
  switch (answer.kind) {
    case ResumeAnswer::Kind::kResult:
      // The native methods need not repeat the id: any success counts.
      return answer.method == ResumeMethod::kMeta ? JudgeMetaResult(answer)
                                                  : ResumeVerdict::kResumed;
    case ResumeAnswer::Kind::kError:
      return JudgeError(answer, missing_patterns);
    case ResumeAnswer::Kind::kExited:
      return ResumeVerdict::kExited;
    case ResumeAnswer::Kind::kTimedOut:
      return ResumeVerdict::kTimedOut;
  }
  return ResumeVerdict::kRetryFailed;
}

bool SaysSessionNotFound(int64_t code, std::string_view message, std::string_view data,
                         const std::vector<std::string>& missing_patterns) {
  if (code == acp::kResourceNotFound) return true;
  // A newline keeps a pattern from matching across the two.
  const std::string text = Normalise(message) + "\n" + Normalise(data);
  return SaysMissing(text) || MatchesOwnPattern(code, text, missing_patterns);
}

}  // namespace acpd::session
