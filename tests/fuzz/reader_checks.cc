#include "tests/fuzz/reader_checks.h"

#include <initializer_list>
#include <string>

#include "acp/agent_requests.h"
#include "acp/agent_sessions.h"
#include "acp/elicitation.h"
#include "acp/json_value.h"
#include "acp/text.h"
#include "acp/types.h"
#include "tests/fuzz/fuzz.h"

namespace acpd::fuzz {
namespace {

using acp::Message;

void RequireText(std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) Require(IsCleanText(text), "readers give out UTF-8");
}

void RequireSentence(const absl::Status& status) {
  const std::string sentence(status.message());
  Require(absl::IsInvalidArgument(status) && sentence.ends_with('.') &&
              sentence.find('\n') == sentence.npos,
          "a reader refuses with a sentence");
}

void ReadSetUp(std::string_view json) {
  if (const auto read = acp::ReadInitializeResult(json); read.ok()) {
    RequireText({read->agent_name, read->agent_title, read->agent_version});
    Require(acp::JsonValue::Parse(read->capabilities_json)->IsObject() &&
                acp::JsonValue::Parse(read->auth_methods_json)->IsArray(),
            "capabilities and login methods are JSON");
    for (const std::string& id : read->auth_method_ids) RequireText({id});
  } else {
    RequireSentence(read.status());
  }
  if (const auto read = acp::ReadSetupResult(json); read.ok()) {
    RequireText({read->session_id, read->current_mode_id, read->current_model_id});
    for (const acp::ModeInfo& mode : read->modes) RequireText({mode.id, mode.name});
    for (const acp::ConfigOption& option : read->options) {
      RequireText({option.id, option.name, option.category, option.select});
    }
  } else {
    RequireSentence(read.status());
  }
}

void ReadAnswer(std::string_view json) {
  ReadSetUp(json);
  if (const auto read = acp::ReadSessionPage(json); read.ok()) {
    RequireText({read->next_cursor});
  } else {
    RequireSentence(read.status());
  }
  if (const auto read = acp::ReadPromptResult(json); read.ok()) {
    RequireText({read->stop_reason});
  } else {
    RequireSentence(read.status());
  }
}

// Readers that give out no more than texts.
template <typename Result>
void RequireRead(const absl::StatusOr<Result>& read) {
  if (!read.ok()) RequireSentence(read.status());
}

void ReadRequests(std::string_view json) {
  RequireRead(acp::ReadReadFileRequest(json));
  RequireRead(acp::ReadWriteFileRequest(json));
  RequireRead(acp::ReadCreateTerminalRequest(json));
  RequireRead(acp::ReadTerminalRequest(json));
  const auto asked = acp::ReadElicitation(json);
  RequireRead(asked);
  const std::string schema = asked.ok() ? asked->schema_json : std::string(json);
  if (const absl::Status status = acp::CheckContent(json, schema); !status.ok()) {
    RequireSentence(status);
  }
  if (const absl::Status status = acp::CheckSetupMeta(json); !status.ok()) RequireSentence(status);
}

void ReadParams(std::string_view json) {
  ReadRequests(json);
  RequireText({acp::ReadSessionId(json)});
  const std::string cancelled = acp::ReadCancelledRequestId(json);
  Require(cancelled.empty() || acp::IsRpcId(cancelled), "a cancelled request is named by its id");
  if (const auto read = acp::ReadPermissionRequest(json); read.ok()) {
    RequireText({read->session_id, read->tool_call_id, read->title, read->tool_kind});
    for (const auto& option : read->options) RequireText({option.id, option.name, option.kind});
  } else {
    RequireSentence(read.status());
  }
}

void ReadUpdate(std::string_view json) {
  RequireText({acp::ReadContextUsage(json).currency, acp::ReadCurrentMode(json),
               acp::ReadSessionTitle(json).value_or("")});
}

// What acpd writes is one line, and the message it is meant to be.
void RequireLine(const std::string& line, Message::Kind kind, std::string_view id,
                 std::string_view method = "") {
  static auto& parser = *new acp::MessageParser();
  Require(line.find('\n') == line.npos && IsCleanJsonText(line),
          "a line of ours is one clean line");
  const Message m = parser.Parse(line);
  Require(m.kind == kind && m.id == id && m.method == method, "a line of ours says what it should");
}

void Answer(const Message& request) {
  using enum Message::Kind;
  RequireLine(acp::ErrorLine(request.id, acp::kMethodNotFound, request.method), kError, request.id);
  RequireLine(acp::PermissionCancelledLine(request.id), kResult, request.id);
  RequireLine(acp::PermissionSelectedLine(request.id, request.params), kResult, request.id);
}

// What an agent said, in lines of ours and cut as events are.
void SendBack(const acp::UpdateView& update) {
  using enum Message::Kind;
  const std::string id(update.session_id);
  acp::ContentBlock block;
  block.text = update.text;
  RequireLine(acp::PromptLine(7, id, {block}), kRequest, "7", "session/prompt");
  acp::SessionSetup setup;
  setup.cwd = setup.system_prompt = setup.meta_resume_id = id;
  setup.meta_json = update.json;
  RequireLine(acp::NewSessionLine(8, setup), kRequest, "8", "session/new");
  RequireLine(acp::LoadSessionLine(9, id, setup), kRequest, "9", "session/load");
  RequireLine(acp::CancelLine(id), kNotification, "", "session/cancel");
  for (size_t max = update.text.size() / 2; max > 0; max /= 3) {
    const std::string_view front = CutText(update.text, max);
    const std::string_view back = CutTextFront(update.text, max);
    Require(front.size() <= max && back.size() <= max, "a cut is short enough");
    RequireText({front, back});
  }
}

}  // namespace

void CheckReaders(const Message& message) {
  if (!message.params.empty()) ReadParams(message.params);
  if (!message.result.empty()) ReadAnswer(message.result);
  if (!message.update.json.empty()) ReadUpdate(message.update.json);
  if (!message.error.empty()) {
    const acp::RpcError error = acp::ReadError(message.error);
    RequireText({error.message, error.data});
  }
  if (message.kind == Message::Kind::kRequest) Answer(message);
  if (message.kind == Message::Kind::kUpdate) SendBack(message.update);
}

}  // namespace acpd::fuzz
