#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <vector>

#include "session/resume_answers.h"

namespace acpd::session {
namespace {

using enum ResumeMethod;
using Patterns = std::vector<std::string>;

constexpr char kAsked[] = "00000000-0000-4000-8000-000000000000";

ResumeAnswer Result(ResumeMethod method, const std::string& returned) {
  ResumeAnswer answer;
  answer.kind = ResumeAnswer::Kind::kResult;
  answer.method = method;
  answer.requested_id = kAsked;
  answer.returned_id = returned;
  return answer;
}

ResumeAnswer Error(ResumeMethod method, int64_t code, const std::string& message,
                   const std::string& data = "") {
  ResumeAnswer answer = Result(method, "");
  answer.kind = ResumeAnswer::Kind::kError;
  answer.code = code;
  answer.message = message;
  answer.data = data;
  return answer;
}

ResumeVerdict Judge(const ResumeAnswer& answer, const Patterns& patterns = {}) {
  return JudgeResume(answer, patterns);
}

TEST(ResumeResults, MetaCountsOnlyWithTheIdAskedFor) {
  EXPECT_EQ(Judge(Result(kMeta, kAsked)), ResumeVerdict::kResumed);
  EXPECT_EQ(Judge(Result(kMeta, "another")), ResumeVerdict::kIgnored);
  EXPECT_EQ(Judge(Result(kMeta, "")), ResumeVerdict::kRetryFailed) << "no session at all";
}

TEST(ResumeResults, NativeMethodsCountWithAnyResult) {
  for (const ResumeMethod method : {kSessionResume, kSessionLoad}) {
    EXPECT_EQ(Judge(Result(method, kAsked)), ResumeVerdict::kResumed);
    EXPECT_EQ(Judge(Result(method, "")), ResumeVerdict::kResumed);
    EXPECT_EQ(Judge(Result(method, "another")), ResumeVerdict::kResumed);
  }
}

TEST(ResumeResults, ExitAndSilence) {
  ResumeAnswer answer = Result(kSessionLoad, "");
  answer.kind = ResumeAnswer::Kind::kExited;
  EXPECT_EQ(Judge(answer), ResumeVerdict::kExited);
  answer.kind = ResumeAnswer::Kind::kTimedOut;
  EXPECT_EQ(Judge(answer), ResumeVerdict::kTimedOut);
}

// What real agents answered when they were asked for a session that does not exist, word for word.
struct RealRow {
  const char* name;
  std::vector<ResumeMethod> methods;
  int64_t code;
  const char* message;
  const char* data;
  ResumeVerdict verdict;
};

const RealRow kRealRows[] = {
    {"ClaudeCodeAcpMetaAndResume",
     {kMeta, kSessionResume},
     -32603,
     "Internal error",
     R"({"details":"Query closed before response received"})",
     ResumeVerdict::kRetryNotFound},
    {"ClaudeCodeAcpLoad",
     {kSessionLoad},
     -32603,
     "Internal error",
     R"({"details":"Session not found"})",
     ResumeVerdict::kNotFound},
    {"ClaudeAgentAcpZed",
     {kMeta, kSessionResume, kSessionLoad},
     -32002,
     "Resource not found: 00000000-0000-4000-8000-000000000000",
     R"({"uri":"00000000-0000-4000-8000-000000000000"})",
     ResumeVerdict::kNotFound},
    {"ClaudeAgentAcp",
     {kMeta, kSessionResume, kSessionLoad},
     -32002,
     "Resource not found",
     R"({"sessionId":"00000000-0000-4000-8000-000000000000"})",
     ResumeVerdict::kNotFound},
    {"ClaudeAgentAcpIdIsNoUuid",
     {kMeta, kSessionResume, kSessionLoad},
     -32603,
     "Internal error",
     R"({"details":"Claude Code returned an error result: Error: --resume requires a valid session ID or session title when used with --print. Usage: claude -p --resume <session-id|title>. Provided value \"no-such-session\" is not a UUID and does not match any session title."})",
     ResumeVerdict::kNotFound},
    {"GeminiResume",
     {kSessionResume},
     -32601,
     R"("Method not found": session/resume)",
     R"({"method":"session/resume"})",
     ResumeVerdict::kNextMethod},
    {"GeminiLoadNoSessionsYet",
     {kSessionLoad},
     -32603,
     "Internal error",
     R"({"details":"No previous sessions found for this project."})",
     ResumeVerdict::kNotFound},
    {"GeminiLoadOthersExist",
     {kSessionLoad},
     -32603,
     "Internal error",
     R"({"details":"Invalid session identifier \"00000000-0000-4000-8000-000000000000\".\n  Searched for sessions in /workspace-home/.gemini/tmp/ws/chats.\n  Use --list-sessions to see available sessions, then use --resume {number}, --resume {uuid}, or --resume latest."})",
     ResumeVerdict::kNotFound},
    {"CodexAcpZed",
     {kSessionResume, kSessionLoad},
     -32002,
     "Resource not found",
     "",
     ResumeVerdict::kNotFound},
    {"CodexAcp",
     {kSessionResume, kSessionLoad},
     -32603,
     "Internal error",
     R"({"details":"no rollout found for thread id 00000000-0000-4000-8000-000000000000"})",
     ResumeVerdict::kNotFound},
    {"CodexAcpIdIsNoUuid",
     {kSessionResume, kSessionLoad},
     -32603,
     "Internal error",
     R"({"details":"invalid session id: invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found `n` at 1"})",
     ResumeVerdict::kNotFound},
    {"OpenCode",
     {kSessionResume, kSessionLoad},
     -32603,
     "Internal error: OpenCode service failure",
     R"({"service":"session"})",
     ResumeVerdict::kRetryNotFound},
    // Not missing, but in use by another process: the old one is not gone yet.
    {"CodexAcpActiveWriter",
     {kSessionResume},
     -32600,
     "Invalid request: This Codex session is in use by another Codex client (pid 7). Close the "
     "session there or quit that client, then try again.",
     R"({"reason":"thread_active_writer","threadId":"t","details":"thread t already has an active writer"})",
     ResumeVerdict::kRetryFailed},
    {"NoCredentials",
     {kMeta, kSessionResume, kSessionLoad},
     -32000,
     "Authentication required",
     "",
     ResumeVerdict::kAuthRequired},
    {"GeminiNoCredentials",
     {kSessionLoad},
     -32000,
     "Gemini API key is missing or not configured.",
     "",
     ResumeVerdict::kAuthRequired},
};

class RealAgents : public testing::TestWithParam<RealRow> {};

TEST_P(RealAgents, AreUnderstood) {
  const RealRow& row = GetParam();
  for (const ResumeMethod method : row.methods) {
    EXPECT_EQ(Judge(Error(method, row.code, row.message, row.data)), row.verdict);
  }
  EXPECT_EQ(SaysSessionNotFound(row.code, row.message, row.data, {}),
            row.verdict == ResumeVerdict::kNotFound);
}

INSTANTIATE_TEST_SUITE_P(Rows, RealAgents, testing::ValuesIn(kRealRows),
                         [](const auto& info) { return std::string(info.param.name); });

// Four of the seven take no notice of the resume id in `_meta`: a fresh session with an id of its
// own.
TEST(RealAgentsResults, GeminiCodexAndOpenCodeIgnoreMeta) {
  EXPECT_EQ(Judge(Result(kMeta, "096dd1f4-d080-4f78-bd8a-3f228c7a13e5")), ResumeVerdict::kIgnored);
  EXPECT_EQ(Judge(Result(kMeta, "ses_dd29a3e77ffeWC9wA1BspAG4hP")), ResumeVerdict::kIgnored);
}

// Prompts to a session id that the process does not know.
TEST(RealAgentsPrompts, SaySessionNotFound) {
  EXPECT_TRUE(
      SaysSessionNotFound(-32603, "Internal error", R"({"details":"Session not found"})", {}));
  EXPECT_TRUE(SaysSessionNotFound(-32002, "Resource not found", "", {}));
  EXPECT_TRUE(SaysSessionNotFound(-32602, "Session not found: 0000", "", {}));
  EXPECT_TRUE(SaysSessionNotFound(-32002, "Session 00000000-0000-4000-8000-000000000000 not found",
                                  "", {}));
  EXPECT_TRUE(SaysSessionNotFound(-32602, "Invalid params: session not found: 0000", "", {}));
  EXPECT_FALSE(SaysSessionNotFound(-32603, "Internal error: API Error: 400", "", {}));
  EXPECT_FALSE(SaysSessionNotFound(-32603, "Internal error",
                                   R"({"details":"Query closed before response received"})", {}))
      << "a weak sign is not enough to send a prompt again";
}

struct TextRow {
  const char* text;
  ResumeVerdict verdict;
};

class Texts : public testing::TestWithParam<TextRow> {};

TEST_P(Texts, CountInMessageAndDataInAnyCase) {
  const TextRow& row = GetParam();
  std::string upper = row.text;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string quoted;
  for (const char c : std::string(row.text))
    quoted += c == '"' ? std::string("\\\"") : std::string(1, c);
  EXPECT_EQ(Judge(Error(kSessionLoad, -32603, row.text)), row.verdict);
  EXPECT_EQ(Judge(Error(kSessionLoad, -32603, upper)), row.verdict);
  for (const std::string key : {"details", "message"}) {
    const std::string data = "{\"" + key + "\":\"oh: " + quoted + ".\"}";
    EXPECT_EQ(Judge(Error(kSessionLoad, -32603, "Internal error", data)), row.verdict) << data;
  }
  EXPECT_EQ(Judge(Error(kSessionLoad, -32603, "Internal error", "\"" + quoted + "\"")), row.verdict)
      << "data that is a string";
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Texts,
    testing::Values(TextRow{"No conversation found with session ID: 1", ResumeVerdict::kNotFound},
                    TextRow{"session not found", ResumeVerdict::kNotFound},
                    TextRow{"session \"my talk\" not found", ResumeVerdict::kNotFound},
                    TextRow{"session 'x' not found", ResumeVerdict::kNotFound},
                    TextRow{"session ses_1 not found", ResumeVerdict::kNotFound},
                    TextRow{"no session with id abc-1 not found", ResumeVerdict::kNotFound},
                    TextRow{"session id abc-1 not found", ResumeVerdict::kNotFound},
                    TextRow{"resource not found", ResumeVerdict::kNotFound},
                    TextRow{"no rollout found", ResumeVerdict::kNotFound},
                    TextRow{"thread not found", ResumeVerdict::kNotFound},
                    TextRow{"no previous sessions found", ResumeVerdict::kNotFound},
                    TextRow{"invalid session id", ResumeVerdict::kNotFound},
                    TextRow{"invalid session identifier", ResumeVerdict::kNotFound},
                    TextRow{"requires a valid session id", ResumeVerdict::kNotFound},
                    TextRow{"Query closed before response received", ResumeVerdict::kRetryNotFound},
                    TextRow{"ENOENT: no such file or directory", ResumeVerdict::kRetryNotFound},
                    TextRow{"session command not found", ResumeVerdict::kRetryFailed},
                    TextRow{"session setup: file \"x\" not found", ResumeVerdict::kRetryFailed},
                    TextRow{"the pipe no entry", ResumeVerdict::kRetryFailed},
                    TextRow{"model not found", ResumeVerdict::kRetryFailed},
                    TextRow{"", ResumeVerdict::kRetryFailed}));

TEST(ResumeErrors, DataServiceCountsWithWhiteSpaceAndNotInOtherPlaces) {
  EXPECT_EQ(Judge(Error(kSessionLoad, -32603, "", R"({ "service" : "session" })")),
            ResumeVerdict::kRetryNotFound);
  EXPECT_EQ(Judge(Error(kSessionLoad, -32603, "", R"({"service":"sessions"})")),
            ResumeVerdict::kRetryFailed);
}

TEST(ResumeErrors, CodesWithoutATelltaleText) {
  EXPECT_EQ(Judge(Error(kSessionLoad, -32002, "x")), ResumeVerdict::kNotFound);
  EXPECT_EQ(Judge(Error(kSessionLoad, -32601, "x")), ResumeVerdict::kNextMethod);
  EXPECT_EQ(Judge(Error(kSessionLoad, -32602, "x")), ResumeVerdict::kNextMethod);
  EXPECT_EQ(Judge(Error(kSessionLoad, -32000, "x")), ResumeVerdict::kAuthRequired);
  for (const int64_t code : {-32600, -32603, -32700, -32800, -32001, -31999, 0, 1, 401, 500}) {
    EXPECT_EQ(Judge(Error(kSessionLoad, code, "x")), ResumeVerdict::kRetryFailed) << code;
  }
}

TEST(ResumeErrors, MissingTextGoesBeforeTheCode) {
  for (const int64_t code : {-32000, -32600, -32601, -32602, -32603, 404}) {
    EXPECT_EQ(Judge(Error(kSessionLoad, code, "Session not found")), ResumeVerdict::kNotFound)
        << code;
  }
}

TEST(ResumeErrors, ClearCodeGoesBeforeAWeakSign) {
  EXPECT_EQ(Judge(Error(kMeta, -32000, "ENOENT: credentials.json")), ResumeVerdict::kAuthRequired);
  EXPECT_EQ(Judge(Error(kMeta, -32601, "ENOENT")), ResumeVerdict::kNextMethod);
  EXPECT_EQ(Judge(Error(kMeta, -32602, "ENOENT")), ResumeVerdict::kRetryNotFound);
}

TEST(ResumeErrors, AgentsOwnPatternsExtendTheTable) {
  const ResumeAnswer answer =
      Error(kSessionLoad, -32603, "Kein Gespräch", R"({"x":"Thread  GONE"})");
  EXPECT_EQ(Judge(answer), ResumeVerdict::kRetryFailed);
  EXPECT_EQ(Judge(answer, {"nothing", "thread gone"}), ResumeVerdict::kNotFound);
  EXPECT_EQ(Judge(answer, {"KEIN GESPR"}), ResumeVerdict::kNotFound);
  EXPECT_EQ(Judge(answer, {""}), ResumeVerdict::kRetryFailed) << "an empty pattern matches nothing";
  EXPECT_TRUE(SaysSessionNotFound(answer.code, answer.message, answer.data, {"thread gone"}));
}

TEST(ResumeErrors, WideOwnPatternDoesNotHideALoginOrAMissingMethod) {
  EXPECT_EQ(Judge(Error(kSessionLoad, -32601, "Method not found"), {"not found"}),
            ResumeVerdict::kNextMethod);
  EXPECT_EQ(Judge(Error(kSessionLoad, -32000, "Key not found"), {"not found"}),
            ResumeVerdict::kAuthRequired);
  EXPECT_EQ(Judge(Error(kSessionLoad, -32602, "Key not found"), {"not found"}),
            ResumeVerdict::kNotFound);
}

}  // namespace
}  // namespace acpd::session
