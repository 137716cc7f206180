// What the agent asks of its client: questions, terminals, files.
#include "acpd/v1/session_service.pb.h"
#include "server/codec.h"
#include "server/convert_parts.h"

namespace acpd::server {
namespace {

constexpr size_t kMaxPaths = 64;
// A page that is visited by half its URL is another one: those that ask with more are refused
// before this.
constexpr size_t kMaxUrl = 64u << 10;
constexpr size_t kMaxTerminalData = 1u << 20;

}  // namespace

void Codec::Encode(const session::EventHeader& header,
                   const session::PermissionRequestedEvent& event, std::string& out) {
  auto* asked = Begin(header).mutable_permission_requested();
  const auto json = CutText(event.tool_call_json, kMaxJson);
  asked->set_question_id(event.question_id);
  Assign(json, asked->mutable_tool_call_json());
  asked->set_tool_call_truncated(event.tool_call_truncated ||
                                 json.size() < event.tool_call_json.size());
  AssignWord(event.tool_call_id, asked->mutable_tool_call_id());
  AssignSentence(event.title, asked->mutable_title());
  AssignWord(event.tool_kind, asked->mutable_tool_kind());
  for (const auto& option : event.options) ToProto(option, asked->add_options());
  for (size_t i = 0; i < event.paths.size() && i < kMaxPaths; ++i)
    asked->add_paths(Word(event.paths[i]));
  if (event.expire_time != 0) ToProto(event.expire_time, asked->mutable_expire_time());
  Finish(out);
}

void Codec::Encode(const session::EventHeader& header, const session::QuestionResolvedEvent& event,
                   std::string& out) {
  ToProto(event.resolution, Begin(header).mutable_question_resolved());
  Finish(out);
}

void Codec::Encode(const session::EventHeader& header,
                   const session::ElicitationRequestedEvent& event, std::string& out) {
  using Asked = v1::ElicitationRequested;
  auto* asked = Begin(header).mutable_elicitation_requested();
  asked->set_question_id(event.question_id);
  AssignSentence(event.message, asked->mutable_message());
  asked->set_mode(event.url_mode ? Asked::MODE_URL : Asked::MODE_FORM);
  asked->set_requested_schema_json(Cut(event.schema_json, kMaxJson));
  asked->set_url(Cut(event.url, kMaxUrl));
  AssignWord(event.tool_call_id, asked->mutable_tool_call_id());
  if (event.expire_time != 0) ToProto(event.expire_time, asked->mutable_expire_time());
  Finish(out);
}

void Codec::Encode(const session::EventHeader& header, const session::TerminalOutputEvent& event,
                   std::string& out) {
  auto* output = Begin(header).mutable_terminal_output();
  std::string_view data = event.data;
  if (data.size() > kMaxTerminalData) data.remove_prefix(data.size() - kMaxTerminalData);
  AssignWord(event.terminal_id, output->mutable_terminal_id());
  AssignSentence(event.command, output->mutable_command());
  Assign(data, output->mutable_data());
  output->set_truncated(event.truncated || data.size() < event.data.size());
  output->set_exited(event.exited);
  if (event.exit_code) output->set_exit_code(*event.exit_code);
  AssignWord(event.signal, output->mutable_signal());
  Finish(out);
}

void Codec::Encode(const session::EventHeader& header, const session::FileAccessEvent& event,
                   std::string& out) {
  auto* access = Begin(header).mutable_file_access();
  access->set_write(event.write);
  AssignWord(event.path, access->mutable_path());
  access->set_bytes(event.bytes);
  if (!event.error.reason.empty()) ToProto(event.error, access->mutable_error());
  Finish(out);
}

}  // namespace acpd::server
