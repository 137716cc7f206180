#ifndef ACPD_SERVER_CONVERT_H_
#define ACPD_SERVER_CONVERT_H_

#include <string>
#include <string_view>

#include "acpd/v1/session_service.pb.h"
#include "session/session_manager.h"
#include "session/types.h"
#include "session/views.h"

// The domain's values as the messages of the API. The way back, with its checks, is
// server/requests.h. Pure functions; each fills an empty message.
namespace acpd::server {

// No answer and no event is larger than 3 MiB: clients refuse messages over 4 MiB by default.
// Fields that an agent or caller may make large are therefore cut at these sizes, with their
// `truncated` flag where there is one; what a caller says is limited besides
// (server/request_checks.h).
inline constexpr size_t kMaxEventPrompt = 64u << 10;
inline constexpr size_t kMaxRequestPrompt = 512u << 10;  // in Turn.request
inline constexpr size_t kMaxJson = 256u << 10;
inline constexpr size_t kMaxResultText = 1u << 20;
inline constexpr size_t kMaxWord = 4u << 10;        // an agent's names, ids and titles
inline constexpr size_t kMaxSentence = 16u << 10;   // messages, with what the agent said
inline constexpr size_t kMaxAgentJson = 32u << 10;  // of Agent: left out when it is longer
// Of a Session: as many as fit, the first ones.
inline constexpr size_t kMaxQueuedBytes = 512u << 10;
inline constexpr size_t kMaxQuestionBytes = 1u << 20;
inline constexpr size_t kMaxModeBytes = 256u << 10;
inline constexpr size_t kMaxOptionBytes = 256u << 10;
// What a Turn shows of its prompt in lists and on Session.
inline constexpr size_t kListedPromptCharacters = 200;

// Where a Turn is shown decides how much of it is.
enum class TurnDetail {
  kListed,  // the prompt's first characters
  kWhole,   // GetTurn: the prompt and the stored request
};
// The same for a Session; `kBasic` leaves out queued, open_questions, options, commands, usage and
// worker.
enum class SessionDetail { kBasic, kFull };

void ToProto(session::WallTime time, google::protobuf::Timestamp* out);
void ToProto(milliseconds duration, google::protobuf::Duration* out);
void ToProto(const session::Failure& failure, v1::Failure* out);
void ToProto(const session::Usage& usage, v1::Usage* out);
void ToProto(const session::SessionOrigin& origin, v1::SessionOrigin* out);
// Without `text` in events (`with_text` false).
void ToProto(const session::TurnResult& result, bool with_text, v1::TurnResult* out);
void ToProto(const session::Resolution& resolution, v1::QuestionResolved* out);
void ToProto(const session::QuestionOption& option, v1::PermissionRequested::Option* out);
void ToProto(const session::TurnView& turn, TurnDetail detail, v1::Turn* out);
void ToProto(const session::SessionView& session, SessionDetail detail, v1::Session* out);
// A field that kBasic leaves out, by its name; another name adds nothing.
void AddDetail(const session::SessionView& session, std::string_view name, v1::Session* out);
void ToProto(const session::ChatReply& reply, v1::ChatResponse* out);
void ToProto(const session::CancelReply& reply, v1::CancelResponse* out);

}  // namespace acpd::server

#endif  // ACPD_SERVER_CONVERT_H_
