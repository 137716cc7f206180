// What callers may say, at and around each limit, and that no answer or event is larger than 3 MiB
// when all that stands in it is as large as it can be.

#include <gtest/gtest.h>

#include <functional>

#include "acpd/v1/session_service.pb.h"
#include "server/chat_request.h"
#include "server/codec.h"
#include "server/convert.h"
#include "server/convert_agent.h"
#include "server/requests.h"
#include "server/stored_request.h"
#include "session/errors.h"

namespace acpd::server {
namespace {

constexpr size_t kKiB = 1u << 10, kMiB = 1u << 20;
constexpr size_t kMaxMessageOut = 3 * kMiB;
const RequestRules kLimitRules{"key"};

using ChatSetter = std::function<void(v1::ChatRequest&, std::string)>;
struct Limit {
  const char* field;
  size_t bytes;
  ChatSetter set;
};

void ExpectLimit(const Limit& limit, const std::function<absl::Status(std::string)>& check) {
  for (const size_t size : {limit.bytes - 1, limit.bytes}) {
    const absl::Status status = check(std::string(size, 'x'));
    EXPECT_TRUE(status.ok()) << limit.field << " " << size << " " << status;
  }
  for (const size_t size : {limit.bytes + 1, 5 * kMiB}) {
    const absl::Status status = check(std::string(size, 'x'));
    EXPECT_EQ(session::ReasonOf(status), "INVALID_REQUEST") << limit.field << " " << size;
    EXPECT_NE(std::string(status.message()).find(limit.field), std::string::npos) << status;
  }
}

absl::Status ChatStatus(const ChatSetter& set, std::string text) {
  v1::ChatRequest request;
  request.set_project_id("p");
  request.set_prompt("hello");
  set(request, std::move(text));
  return ChatFrom(request, kLimitRules).status();
}

TEST(RequestLimitsTest, TextsOfAChat) {
  const Limit limits[] = {
      {"request_id", 256, [](auto& r, std::string s) { r.set_request_id(s); }},
      {"agent", 4 * kKiB, [](auto& r, std::string s) { r.set_agent(s); }},
      {"cwd", 4 * kKiB, [](auto& r, std::string s) { r.set_cwd(s); }},
      {"agent_session_id", 256, [](auto& r, std::string s) { r.set_agent_session_id(s); }},
      {"model_provider.provider", 4 * kKiB,
       [](auto& r, std::string s) { r.mutable_model_provider()->set_provider(s); }},
      {"model_provider.model", 4 * kKiB,
       [](auto& r, std::string s) { r.mutable_model_provider()->set_model(s); }},
      {"model_provider.api_key", 16 * kKiB,
       [](auto& r, std::string s) { r.mutable_model_provider()->set_api_key(s); }},
      {"model_provider.base_url", 4 * kKiB,
       [](auto& r, std::string s) { r.mutable_model_provider()->set_base_url(s); }},
      {"model_provider.api_key_ref", 4 * kKiB,
       [](auto& r, std::string s) { r.mutable_model_provider()->set_api_key_ref(s); }},
      {"system_prompt", 256 * kKiB, [](auto& r, std::string s) { r.set_system_prompt(s); }},
      {"meta_json", 64 * kKiB,
       [](auto& r, std::string s) { r.set_meta_json(R"({"a":")" + s.substr(8) + "\"}"); }},
      {"mode_id", 4 * kKiB, [](auto& r, std::string s) { r.set_mode_id(s); }},
      {"additional_directories[0]", 4 * kKiB,
       [](auto& r, std::string s) { r.add_additional_directories("/" + s.substr(1)); }},
      {"config_options[0].config_id", 4 * kKiB,
       [](auto& r, std::string s) {
         r.add_config_options()->set_config_id(s);
         r.mutable_config_options(0)->set_boolean(true);
       }},
      {"config_options[0].select", 4 * kKiB,
       [](auto& r, std::string s) {
         r.add_config_options()->set_config_id("model");
         r.mutable_config_options(0)->set_select(s);
       }},
      {"labels", 16 * kKiB - 4, [](auto& r, std::string s) { (*r.mutable_labels())["name"] = s; }},
      {"labels", 16 * kKiB - 2, [](auto& r, std::string s) { (*r.mutable_labels())[s] = "it"; }},
      {"model_provider.options", 16 * kKiB - 4,
       [](auto& r, std::string s) {
         (*r.mutable_model_provider()->mutable_options())["name"] = s;
       }},
  };
  for (const Limit& limit : limits) {
    ExpectLimit(limit, [&](std::string text) { return ChatStatus(limit.set, std::move(text)); });
  }
}

TEST(RequestLimitsTest, NumberOfLabels) {
  for (const int count : {63, 64, 65}) {
    v1::ChatRequest chat;
    chat.set_project_id("p");
    chat.set_prompt("hello");
    v1::ListSessionsRequest list;
    v1::SubscribeProgressRequest subscribe;
    subscribe.set_everything(true);
    for (int i = 0; i < count; ++i) {
      (*chat.mutable_labels())[std::to_string(i)] = "x";
      (*list.mutable_labels())[std::to_string(i)] = "x";
      (*subscribe.mutable_labels())[std::to_string(i)] = "x";
    }
    EXPECT_EQ(ChatFrom(chat, kLimitRules).ok(), count <= 64) << count;
    EXPECT_EQ(ListSessionsFrom(list).ok(), count <= 64) << count;
    EXPECT_EQ(SubscribeFrom(subscribe).ok(), count <= 64) << count;
  }
}

TEST(RequestLimitsTest, TextsOfOtherCalls) {
  ExpectLimit({"turn_id", 256, {}}, [](std::string text) {
    v1::CancelRequest request;
    request.set_turn_id(text);
    return CancelFrom(request).status();
  });
  ExpectLimit({"reason", 4 * kKiB, {}}, [](std::string text) {
    v1::CancelRequest request;
    request.set_session_id("s");
    request.set_reason(text);
    return CancelFrom(request).status();
  });
  ExpectLimit({"question_id", 256, {}}, [](std::string text) {
    v1::RespondRequest request;
    request.set_session_id("s");
    request.set_question_id(text);
    request.set_option_id("o");
    return RespondFrom(request).status();
  });
  ExpectLimit({"comment", 4 * kKiB, {}}, [](std::string text) {
    v1::RespondRequest request;
    request.set_session_id("s");
    request.set_question_id("q");
    request.set_option_id("o");
    request.set_comment(text);
    return RespondFrom(request).status();
  });
  ExpectLimit({"turn_id", 256, {}}, [](std::string text) {
    v1::GetTurnRequest request;
    request.set_turn_id(text);
    return GetTurnFrom(request).status();
  });
  ExpectLimit({"request_id", 256, {}}, [](std::string text) {
    v1::GetTurnRequest request;
    request.set_project_id("p");
    request.set_request_id(text);
    return GetTurnFrom(request).status();
  });
  ExpectLimit({"until_turn_id", 256, {}}, [](std::string text) {
    v1::SubscribeProgressRequest request;
    request.set_everything(true);
    request.set_until_turn_id(text);
    return SubscribeFrom(request).status();
  });
}

// As large as callers can make it; the prompt alone has no limit but the request's.
v1::ChatRequest LargeChat(size_t prompt) {
  v1::ChatRequest request;
  request.set_project_id(std::string(128, 'p'));
  request.set_session_id(std::string(256, 's'));
  request.set_request_id(std::string(256, 'r'));
  request.set_prompt(std::string(prompt, 'x'));
  request.set_agent(std::string(4 * kKiB, 'a'));
  request.set_cwd(std::string(4 * kKiB, '/'));
  request.set_agent_session_id(std::string(256, 'i'));
  (*request.mutable_labels())["name"] = std::string(16 * kKiB - 4, 'l');
  auto* model = request.mutable_model_provider();
  for (auto* text : {model->mutable_provider(), model->mutable_model(), model->mutable_base_url(),
                     model->mutable_api_key_ref()}) {
    text->assign(4 * kKiB, 'm');
  }
  (*model->mutable_options())["name"] = std::string(16 * kKiB - 4, 'o');
  request.set_system_prompt(std::string(256 * kKiB, 'y'));
  request.set_meta_json(R"({"a":")" + std::string(60 * kKiB, 'z') + "\"}");
  request.set_mode_id(std::string(4 * kKiB, 'm'));
  for (int i = 0; i < 64; ++i) {
    request.add_additional_directories(std::string(4 * kKiB, '/'));
    auto* option = request.add_config_options();
    option->set_config_id(std::string(4 * kKiB, 'c'));
    option->set_select(std::string(4 * kKiB, 's'));
    auto* server = request.add_mcp_servers();
    server->set_name(std::to_string(i));
    server->mutable_stdio()->set_command("/x");
    server->mutable_stdio()->add_args(std::string(4 * kKiB, 'a'));
  }
  request.add_content()->set_text(std::string(kKiB, 't'));
  return request;
}

session::Failure LargeFailure() {
  return {"AGENT_ERROR", std::string(5 * kMiB, 'm'), 1, std::string(5 * kMiB, 'd'), false, {}};
}

session::TurnView LargeTurn(size_t prompt) {
  const v1::ChatRequest request = LargeChat(prompt);
  EXPECT_TRUE(ChatFrom(request, kLimitRules).ok());
  session::TurnView turn;
  turn.state = session::TurnState::kEnded;
  turn.prompt = request.prompt();
  turn.stored_request = EncodeRequest(request);
  turn.request_id = request.request_id();
  turn.session_id = request.session_id();
  turn.project_id = request.project_id();
  turn.origin.kind = session::OriginKind::kFallback;
  turn.origin.detail = std::string(5 * kMiB, 'd');
  turn.result.error = LargeFailure();
  turn.result.stop_reason = std::string(5 * kMiB, 's');
  turn.result.text = turn.result.final_text = std::string(5 * kMiB, 't');
  turn.result.cancel_reason = std::string(4 * kKiB, 'c');
  turn.result.usage.currency = std::string(5 * kMiB, 'u');
  return turn;
}

TEST(AnswerLimitsTest, ATurnStaysBelow3MiB) {
  for (const size_t prompt :
       {256 * kKiB, 256 * kKiB + 1, 512 * kKiB, 512 * kKiB + 1, 5 * kMiB, 31 * kMiB}) {
    v1::Turn turn;
    ToProto(LargeTurn(prompt), TurnDetail::kWhole, &turn);
    EXPECT_LT(turn.ByteSizeLong(), kMaxMessageOut) << prompt;
    EXPECT_EQ(turn.request().prompt().size(), std::min(prompt, 512 * kKiB));
    EXPECT_EQ(turn.prompt().size(), prompt <= 256 * kKiB ? prompt : 64 * kKiB);
    v1::ChatResponse answer;
    ToProto(session::ChatReply{LargeTurn(prompt), false, std::string(5 * kMiB, 'i'), "epoch"},
            &answer);
    EXPECT_LT(answer.ByteSizeLong(), kMaxMessageOut) << prompt;
  }
}

TEST(AnswerLimitsTest, APromptIsCutAtACharacter) {
  session::TurnView turn;
  v1::ChatRequest request;
  for (size_t i = 0; i < 512 * kKiB; ++i) request.mutable_prompt()->append("\u20ac");
  turn.prompt = request.prompt();
  turn.stored_request = EncodeRequest(request);
  v1::Turn out;
  ToProto(turn, TurnDetail::kWhole, &out);
  EXPECT_EQ(out.request().prompt().size(), 512 * kKiB / 3 * 3);
  EXPECT_EQ(out.request().prompt(), request.prompt().substr(0, out.request().prompt().size()));
}

TEST(AnswerLimitsTest, FieldsThatNobodyKnowsAreNotKept) {
  v1::ChatRequest request;
  request.set_prompt("hello");
  request.GetReflection()->MutableUnknownFields(&request)->AddLengthDelimited(
      900, std::string(5 * kMiB, 'x'));
  EXPECT_LT(EncodeRequest(request).size(), kKiB);
  request.mutable_model_provider()->set_api_key("secret");
  session::TurnView turn;
  turn.stored_request = EncodeRequest(request);
  v1::Turn out;
  ToProto(turn, TurnDetail::kWhole, &out);
  EXPECT_EQ(out.request().GetReflection()->GetUnknownFields(out.request()).field_count(), 0);
}

session::SessionView LargeSession() {
  session::SessionView view;
  const std::string large(kMiB, 'x');
  view.agent_session_id = view.title = view.mode_id = view.model = large;
  view.cwd = view.agent = large.substr(0, 4 * kKiB);
  view.origin.kind = session::OriginKind::kFallback;
  view.origin.detail = large;
  view.last_error = LargeFailure();
  view.labels = {{"name", large.substr(0, 16 * kKiB - 4)}};
  session::TurnView turn;
  turn.prompt = large.substr(0, kKiB);
  turn.request_id = turn.session_id = std::string(256, 'r');
  view.running = turn;
  view.queued.resize(10'000, turn);
  v1::ProgressEvent question;
  question.mutable_permission_requested()->set_tool_call_json(large.substr(0, kMaxJson));
  view.open_question_events.resize(100, question.SerializeAsString());
  const std::string word = large.substr(0, 5 * kKiB);
  view.available_modes.resize(1000, {word, word, word});
  acp::ConfigOption option;
  option.id = option.name = option.description = option.category = option.select = word;
  option.choices.resize(10, {word, word, word, word});
  view.config_options.resize(10, option);
  view.available_commands_json = large.substr(0, kMaxJson);
  return view;
}

TEST(AnswerLimitsTest, ASessionStaysBelow3MiB) {
  v1::Session full, basic;
  ToProto(LargeSession(), SessionDetail::kFull, &full);
  ToProto(LargeSession(), SessionDetail::kBasic, &basic);
  EXPECT_LT(full.ByteSizeLong(), kMaxMessageOut);
  EXPECT_LT(basic.ByteSizeLong(), 512 * kKiB);
  EXPECT_EQ(full.open_questions_size(), 3) << "whole ones";
  EXPECT_GT(full.queued_size(), 500);
  EXPECT_GT(full.available_modes_size(), 10);
  session::SessionView small;
  small.queued.resize(32);
  small.available_modes.resize(9);
  full.Clear();
  ToProto(small, SessionDetail::kFull, &full);
  EXPECT_EQ(full.queued_size(), 32);
  EXPECT_EQ(full.available_modes_size(), 9);
}

TEST(AnswerLimitsTest, AnAgentStaysSmall) {
  for (const size_t size : {32 * kKiB, 32 * kKiB + 1}) {
    session::AgentView agent;
    agent.version = std::string(kMiB, 'v');
    agent.capabilities_json = agent.auth_methods_json = std::string(size, ' ');
    v1::Agent out;
    ToProto(agent, &out);
    EXPECT_EQ(out.version().size(), 4 * kKiB);
    const size_t shown = size <= 32 * kKiB ? size : 0;  // half of it would be no JSON
    EXPECT_EQ(out.capabilities_json().size(), shown);
    EXPECT_EQ(out.auth_methods_json().size(), shown);
  }
}

class EventLimitsTest : public ::testing::Test {
 protected:
  template <class Event>
  void ExpectFits(const Event& event) {
    std::string bytes;
    codec_.Encode({7, "project", "session", "turn", 1}, event, bytes);
    v1::ProgressEvent decoded;
    ASSERT_TRUE(decoded.ParseFromString(bytes));
    EXPECT_LT(bytes.size(), kMaxMessageOut) << decoded.event_case();
  }
  Codec codec_;
};

TEST_F(EventLimitsTest, EveryEventStaysBelow3MiB) {
  const std::string large(5 * kMiB, 'x');
  session::TurnQueuedEvent queued;
  queued.prompt = queued.model = large;
  queued.request_id = std::string(256, 'r');
  queued.mcp_server_names.resize(64, large);
  ExpectFits(queued);
  ExpectFits(session::TurnEndedEvent{LargeTurn(1).result, std::string(256, 'r')});
  session::SessionUpdateEvent update;
  const std::string json(2'800'000, 'j');  // with more it comes in parts
  update.json = json;
  update.kind = update.message_id = update.tool_call_id = update.tool_status = update.title = large;
  ExpectFits(update);
  session::PermissionRequestedEvent asked;
  asked.tool_call_json = asked.title = asked.tool_call_id = asked.tool_kind = large;
  asked.paths.resize(1000, large.substr(0, 5 * kKiB));
  ExpectFits(asked);
  session::ElicitationRequestedEvent elicited;
  elicited.message = elicited.schema_json = elicited.url = elicited.tool_call_id = large;
  ExpectFits(elicited);
  session::TerminalOutputEvent terminal;
  terminal.terminal_id = terminal.command = terminal.signal = large;
  terminal.data = large;
  ExpectFits(terminal);
  session::FileAccessEvent access;
  access.path = large;
  access.error = LargeFailure();
  ExpectFits(access);
  session::SessionReadyEvent ready;
  ready.agent_session_id = ready.origin.detail = large;
  ExpectFits(ready);
  session::SessionReplacedEvent replaced;
  replaced.detail = large;
  ExpectFits(replaced);
  ExpectFits(session::NoticeEvent{session::Severity::kInfo, "CODE", large});
  ExpectFits(session::SessionCreatedEvent{LargeSession()});
  ExpectFits(session::SessionChangedEvent{
      LargeSession(),
      {"title", "config_options", "available_modes", "available_commands_json"},
      ""});
}

}  // namespace
}  // namespace acpd::server
