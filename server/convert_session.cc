#include "server/convert_parts.h"

namespace acpd::server {
namespace {

void AddQueued(const session::SessionView& session, v1::Session* out) {
  size_t bytes = 0;
  for (const auto& turn : session.queued) {
    ToProto(turn, TurnDetail::kListed, out->add_queued());
    if (!Fits(out->mutable_queued(), kMaxQueuedBytes, bytes)) return;
  }
}

void AddQuestions(const session::SessionView& session, v1::Session* out) {
  size_t bytes = 0;
  for (const auto& event : session.open_question_events) {
    const bool parsed = out->add_open_questions()->ParseFromString(event);
    if (!parsed) out->mutable_open_questions()->RemoveLast();
    if (parsed && !Fits(out->mutable_open_questions(), kMaxQuestionBytes, bytes)) return;
  }
}

void AddModes(const session::SessionView& session, v1::Session* out) {
  size_t bytes = 0;
  for (const auto& mode : session.available_modes) {
    auto* added = out->add_available_modes();
    added->set_mode_id(Word(mode.mode_id));
    added->set_name(Word(mode.name));
    added->set_description(Word(mode.description));
    if (!Fits(out->mutable_available_modes(), kMaxModeBytes, bytes)) return;
  }
}

void SetOption(const acp::ConfigOption& option, v1::ConfigOption* out) {
  out->set_config_id(Word(option.id));
  out->set_name(Word(option.name));
  out->set_description(Word(option.description));
  out->set_category(Word(option.category));
  if (option.is_boolean) {
    out->set_boolean(option.boolean);
  } else {
    out->set_select(Word(option.select));
  }
}

void SetChoice(const acp::ConfigOption::Choice& choice, v1::ConfigOption::Choice* out) {
  out->set_value(Word(choice.value));
  out->set_name(Word(choice.name));
  out->set_description(Word(choice.description));
  out->set_group(Word(choice.group));
}

// The last one with as many of its choices as fit.
void AddOptions(const session::SessionView& session, v1::Session* out) {
  size_t bytes = 0;
  for (const auto& option : session.config_options) {
    v1::ConfigOption* added = out->add_config_options();
    SetOption(option, added);
    if (!Fits(out->mutable_config_options(), kMaxOptionBytes, bytes)) return;
    for (const auto& choice : option.choices) {
      SetChoice(choice, added->add_choices());
      if (!Fits(added->mutable_choices(), kMaxOptionBytes, bytes)) return;
    }
  }
}

void AddCommands(const session::SessionView& session, v1::Session* out) {
  if (session.available_commands_json.size() <= kMaxJson)
    out->set_available_commands_json(session.available_commands_json);
}

void AddUsage(const session::SessionView& session, v1::Session* out) {
  if (session.usage != session::Usage()) ToProto(session.usage, out->mutable_usage());
}

void AddWorker(const session::SessionView& session, v1::Session* out) {
  if (!session.worker) return;
  out->mutable_worker()->set_worker_id(session.worker->worker_id);
  out->mutable_worker()->set_pid(session.worker->pid);
  ToProto(session.worker->start_time, out->mutable_worker()->mutable_start_time());
}

// The fields that SESSION_VIEW_BASIC leaves out.
struct DetailField {
  std::string_view name;
  void (*add)(const session::SessionView&, v1::Session*);
};
constexpr DetailField kDetailFields[] = {
    {"queued", AddQueued},
    {"open_questions", AddQuestions},
    {"available_modes", AddModes},
    {"config_options", AddOptions},
    {"available_commands_json", AddCommands},
    {"usage", AddUsage},
    {"worker", AddWorker},
};

}  // namespace

void ToProto(const session::SessionView& session, SessionDetail detail, v1::Session* out) {
  out->set_session_id(session.session_id);
  out->set_project_id(session.project_id);
  out->set_state(Cast<v1::Session::State>(session.state));
  out->set_agent(session.agent);
  out->set_agent_session_id(Word(session.agent_session_id));
  out->set_cwd(session.cwd);
  if (session.origin.kind != session::OriginKind::kUnspecified)
    ToProto(session.origin, out->mutable_origin());
  out->set_replaced_by(session.replaced_by);
  out->set_title(Word(session.title));
  if (session.create_time != 0) ToProto(session.create_time, out->mutable_create_time());
  if (session.last_active_time != 0)
    ToProto(session.last_active_time, out->mutable_last_active_time());
  out->set_newest_seq(session.newest_seq);
  if (session.running) ToProto(*session.running, TurnDetail::kListed, out->mutable_running());
  out->set_mode_id(Word(session.mode_id));
  for (const auto& [name, value] : session.labels) (*out->mutable_labels())[name] = value;
  out->set_permission_mode(Cast<v1::PermissionMode>(session.permission_mode));
  if (!session.last_error.reason.empty()) ToProto(session.last_error, out->mutable_last_error());
  out->set_model(Word(session.model));
  if (detail == SessionDetail::kBasic) return;
  for (const DetailField& field : kDetailFields) field.add(session, out);
}

void AddDetail(const session::SessionView& session, std::string_view name, v1::Session* out) {
  for (const DetailField& field : kDetailFields) {
    if (field.name == name) field.add(session, out);
  }
}

}  // namespace acpd::server
