// What the agent asks of its client, as events.
#include <algorithm>

#include "server/convert.h"
#include "tests/server/service_codec_harness.h"

namespace acpd::server {
namespace {

TEST_F(CodecTest, QuestionEvents) {
  session::PermissionRequestedEvent asked;
  asked.question_id = "q";
  asked.tool_call_json = std::string(kMaxJson + 1, 'x');
  asked.tool_call_id = "c";
  asked.title = "rm -rf";
  asked.tool_kind = "execute";
  asked.options = {{"o1", "Allow", session::OptionKind::kAllowOnce},
                   {"o2", "No", session::OptionKind::kRejectOnce}};
  asked.expire_time = 3'000'000;
  const auto decoded = Encoded(asked).permission_requested();
  EXPECT_EQ(decoded.tool_call_json().size(), kMaxJson);
  EXPECT_TRUE(decoded.tool_call_truncated());
  EXPECT_EQ(decoded.options_size(), 2);
  EXPECT_EQ(decoded.options(1).kind(), v1::PERMISSION_OPTION_KIND_REJECT_ONCE);
  EXPECT_EQ(decoded.expire_time().seconds(), 3);

  session::QuestionResolvedEvent resolved{
      {"q", session::QuestionOutcome::kSelected, "o1", session::ResolvedBy::kPolicy, "p", "c"}};
  const auto answer = Encoded(resolved).question_resolved();
  EXPECT_EQ(answer.option_id(), "o1");
  EXPECT_EQ(answer.by(), v1::QuestionResolved::BY_POLICY);
  EXPECT_EQ(answer.comment(), "c");
}

TEST_F(CodecTest, ElicitationEvents) {
  session::ElicitationRequestedEvent form;
  form.question_id = "q";
  form.message = "which one?";
  form.schema_json = R"({"type":"object"})";
  form.tool_call_id = "c";
  form.expire_time = 3'000'000;
  const auto asked = Encoded(form).elicitation_requested();
  EXPECT_EQ(asked.question_id(), "q");
  EXPECT_EQ(asked.message(), "which one?");
  EXPECT_EQ(asked.mode(), v1::ElicitationRequested::MODE_FORM);
  EXPECT_EQ(asked.requested_schema_json(), R"({"type":"object"})");
  EXPECT_EQ(asked.tool_call_id(), "c");
  EXPECT_EQ(asked.url(), "");
  EXPECT_EQ(asked.expire_time().seconds(), 3);
  session::ElicitationRequestedEvent page;
  page.url_mode = true;
  page.url = "https://example.org/" + std::string(8000, 'x');
  const auto visited = Encoded(page).elicitation_requested();
  EXPECT_EQ(visited.mode(), v1::ElicitationRequested::MODE_URL);
  EXPECT_EQ(visited.url(), page.url) << "whole";
  EXPECT_FALSE(visited.has_expire_time());
  session::QuestionResolvedEvent resolved{
      {"q", session::QuestionOutcome::kDeclined, "", session::ResolvedBy::kCaller, "p", ""}};
  EXPECT_EQ(Encoded(resolved).question_resolved().outcome(),
            v1::QuestionResolved::OUTCOME_DECLINED);
}

TEST_F(CodecTest, TerminalEvents) {
  session::TerminalOutputEvent first;
  first.terminal_id = "t";
  first.command = "make all";
  first.data = std::string_view("\xff\0x", 3);
  auto output = Encoded(first).terminal_output();
  EXPECT_EQ(output.terminal_id(), "t");
  EXPECT_EQ(output.command(), "make all");
  EXPECT_EQ(output.data(), std::string("\xff\0x", 3)) << "bytes as they are";
  EXPECT_FALSE(output.truncated() || output.exited() || output.has_exit_code());
  session::TerminalOutputEvent last;
  last.exited = true;
  last.exit_code = 0;
  output = Encoded(last).terminal_output();
  EXPECT_TRUE(output.exited() && output.has_exit_code()) << "0 is an exit code too";
  last.exit_code.reset();
  last.signal = "SIGKILL";
  last.truncated = true;
  output = Encoded(last).terminal_output();
  EXPECT_EQ(output.signal(), "SIGKILL");
  EXPECT_TRUE(output.truncated());
  EXPECT_FALSE(output.has_exit_code());
}

// At, under and over the limit.
TEST_F(CodecTest, CutsTerminalOutputAtTheFront) {
  constexpr size_t kMax = 1u << 20;
  for (const size_t size : {kMax - 1, kMax, kMax + 1}) {
    std::string data(size, 'x');
    data.front() = 'a';
    data.back() = 'z';
    session::TerminalOutputEvent event;
    event.data = data;
    const auto output = Encoded(event).terminal_output();
    EXPECT_EQ(output.data().size(), std::min(size, kMax));
    EXPECT_EQ(output.data().back(), 'z');
    EXPECT_EQ(output.truncated(), size > kMax);
  }
}

TEST_F(CodecTest, FileEvents) {
  session::FileAccessEvent event;
  event.write = true;
  event.path = "/srv/a";
  event.bytes = 7;
  auto access = Encoded(event).file_access();
  EXPECT_TRUE(access.write());
  EXPECT_EQ(access.path(), "/srv/a");
  EXPECT_EQ(access.bytes(), 7u);
  EXPECT_FALSE(access.has_error());
  event.error.reason = "INVALID_REQUEST";
  event.error.message = "outside";
  access = Encoded(event).file_access();
  EXPECT_EQ(access.error().message(), "outside");
}

TEST_F(CodecTest, QuestionsHaveTheirFilesAndTheAgentsWords) {
  session::PermissionRequestedEvent asked;
  asked.options = {{"o", "Allow", session::OptionKind::kUnspecified, "allow_for_today"}};
  for (const size_t count : {63, 64, 65}) {
    asked.paths.assign(count, "/srv/a");
    const auto decoded = Encoded(asked).permission_requested();
    EXPECT_EQ(decoded.paths_size(), static_cast<int>(std::min<size_t>(count, 64)));
    EXPECT_EQ(decoded.paths(0), "/srv/a");
    EXPECT_EQ(decoded.options(0).raw_kind(), "allow_for_today");
  }
}

}  // namespace
}  // namespace acpd::server
