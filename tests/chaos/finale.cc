#include "tests/chaos/finale.h"

#include <unistd.h>

#include <filesystem>
#include <map>
#include <system_error>

namespace acpd::chaos {
namespace {

namespace api = e2e::api;

constexpr char kNothingLeft[] = "I3 nothing is left";

// All pages; a list that fails is a violation, and empty.
std::vector<api::Turn> AllTurns(const Stage& stage, e2e::Client* client,
                                const std::vector<api::TurnState>& states) {
  std::vector<api::Turn> turns;
  api::ListTurnsRequest request;
  for (const api::TurnState state : states) request.add_states(state);
  request.set_page_size(500);
  do {
    const auto called = client->Call(&e2e::Client::Stub::ListTurns, request);
    if (!called.ok()) {
      stage.tally->Violation("I6 lists answer", called.ToString());
      return {};
    }
    turns.insert(turns.end(), called.response.turns().begin(), called.response.turns().end());
    request.set_page_token(called.response.next_page_token());
  } while (!request.page_token().empty());
  return turns;
}

std::vector<api::Session> AllSessions(const Stage& stage, e2e::Client* client) {
  std::vector<api::Session> sessions;
  api::ListSessionsRequest request;
  for (int state = api::Session::STATE_STARTING; state <= api::Session::STATE_WAITING; ++state) {
    request.add_states(static_cast<api::Session::State>(state));
  }
  request.set_page_size(500);
  do {
    const auto called = client->Call(&e2e::Client::Stub::ListSessions, request);
    if (!called.ok()) {
      stage.tally->Violation("I6 lists answer", called.ToString());
      return {};
    }
    sessions.insert(sessions.end(), called.response.sessions().begin(),
                    called.response.sessions().end());
    request.set_page_token(called.response.next_page_token());
  } while (!request.page_token().empty());
  return sessions;
}

const std::vector<api::TurnState> kUnfinished = {api::TURN_STATE_QUEUED, api::TURN_STATE_STARTING,
                                                 api::TURN_STATE_RUNNING, api::TURN_STATE_WAITING,
                                                 api::TURN_STATE_CANCELLING};

// A question that was open when acpd last started stays open for a minute: it is answered here.
void AnswerQuestions(e2e::Client* client, const std::vector<api::Turn>& turns) {
  for (const api::Turn& turn : turns) {
    if (turn.state() != api::TURN_STATE_WAITING) continue;
    const auto session = client->GetSession(turn.session_id());
    for (const e2e::Event& question : session.response.open_questions()) {
      client->Respond(turn.session_id(), question.permission_requested().question_id(), "no");
    }
  }
}

void CheckListedTurn(const Stage& stage, const api::Turn& turn, const LogCheck& log) {
  const auto logged = log.turns().find(turn.turn_id());
  if (log.IsGone(turn.session_id())) return;
  if (logged == log.turns().end()) {
    stage.tally->Violation("I1 lists and log agree", "turn " + turn.turn_id() + " of session " +
                                                         turn.session_id() +
                                                         " is listed and not in the log");
  } else if (logged->second.ended == 1 &&
             (turn.state() != api::TURN_STATE_ENDED ||
              turn.result().outcome() != logged->second.result.outcome())) {
    stage.tally->Violation("I1 lists and log agree",
                           "turn " + turn.turn_id() + " is listed as " + turn.ShortDebugString());
  }
}

// Workers end when their sessions are closed; a moment later for the kernel.
void CheckProcesses(const Stage& stage) {
  const auto only_acpd = [&stage] { return stage.site->leftovers().Processes().size() <= 1; };
  if (!e2e::WaitUntil(only_acpd)) {
    const pid_t pid = stage.site->pid();
    for (const std::string& process : stage.site->leftovers().Processes()) {
      if (process.starts_with(std::to_string(pid) + " ")) continue;
      stage.tally->Violation(kNothingLeft, "all sessions are closed and there is " + process);
    }
  }
  for (const pid_t zombie : e2e::ZombiesOf(stage.site->pid())) {
    stage.tally->Violation(kNothingLeft, "acpd has the zombie " + std::to_string(zombie));
  }
}

bool IsTemporary(const std::filesystem::directory_entry& entry, bool state) {
  if (entry.is_directory()) return false;
  const std::string name = entry.path().filename();
  return !state || name.find("tmp") != std::string::npos || name.find(".new") != std::string::npos;
}

void CheckFolder(const Stage& stage, const std::string& name, bool state) {
  std::error_code error;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(stage.site->dir() / name, error)) {
    if (!IsTemporary(entry, state)) continue;
    stage.tally->Violation(kNothingLeft, "the file " + entry.path().string());
  }
}

}  // namespace

void Drain(const Stage& stage, e2e::Client* client) {
  constexpr milliseconds kDrainTime{120'000};
  const auto begin = std::chrono::steady_clock::now();
  const auto idle = [&] {
    const std::vector<api::Turn> unfinished = AllTurns(stage, client, kUnfinished);
    AnswerQuestions(client, unfinished);
    return unfinished.empty();
  };
  if (!e2e::WaitUntil(idle, kDrainTime)) {
    for (const api::Turn& turn : AllTurns(stage, client, kUnfinished)) {
      stage.tally->Violation("I1 every turn ends", "turn " + turn.turn_id() + " of session " +
                                                       turn.session_id() + " is still " +
                                                       api::TurnState_Name(turn.state()));
    }
  }
  stage.tally->Took("until every turn had ended", std::chrono::duration_cast<milliseconds>(
                                                      std::chrono::steady_clock::now() - begin));
}

void ReplayAll(const Stage& stage, e2e::Client* client, LogCheck* log) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(120));
  api::SubscribeProgressRequest request;
  request.set_everything(true);
  request.set_after_position(0);
  request.set_replay_only(true);
  const auto reader = client->stub()->SubscribeProgress(&context, request);
  for (e2e::Event event; reader->Read(&event);) {
    if (event.seq() != 0 && !event.resent()) log->Take(event);
  }
  const grpc::Status status = reader->Finish();
  if (!status.ok()) stage.tally->Violation("I2 the log replays", status.error_message());
}

void CheckLists(const Stage& stage, e2e::Client* client, const LogCheck& log) {
  const std::vector<api::Turn> turns = AllTurns(stage, client, {});
  std::map<std::string, int> listed;
  for (const api::Turn& turn : turns) {
    if (++listed[turn.turn_id()] > 1) {
      stage.tally->Violation("I1 lists and log agree", turn.turn_id() + " is listed twice");
    }
    CheckListedTurn(stage, turn, log);
  }
  for (const auto& [turn_id, turn] : log.turns()) {
    if (listed.contains(turn_id) || log.IsGone(turn.session_id)) continue;
    stage.tally->Violation("I1 lists and log agree", "turn " + turn_id + " is not listed");
  }
  for (const api::Session& session : AllSessions(stage, client)) {
    const auto newest = log.newest().find(session.session_id());
    const uint64_t logged = newest == log.newest().end() ? 0 : newest->second;
    if (session.newest_seq() == logged) continue;
    // Idle sessions are closed by themselves, with an event, while this goes on.
    stage.tally->Count("sessions that went on after the replay");
    if (session.newest_seq() < logged) {
      stage.tally->Violation("I2 lists and log agree", "session " + session.session_id() +
                                                           " has newest_seq " +
                                                           std::to_string(session.newest_seq()) +
                                                           ", its log " + std::to_string(logged));
    }
  }
}

void CloseAll(const Stage& stage, e2e::Client* client, uint64_t descriptors) {
  constexpr uint64_t kSlack = 8;
  for (const api::Session& session : AllSessions(stage, client)) {
    if (session.state() == api::Session::STATE_REPLACED) continue;
    api::CloseSessionRequest request;
    request.set_session_id(session.session_id());
    request.set_force(true);
    const auto called = client->Call(&e2e::Client::Stub::CloseSession, request);
    if (!called.ok()) stage.tally->Violation("I6 closes answer", called.ToString());
  }
  CheckProcesses(stage);
  const auto few = [&] { return OpenDescriptors(stage.site->pid()) <= descriptors + kSlack; };
  if (!e2e::WaitUntil(few)) {
    stage.tally->Violation(kNothingLeft,
                           "acpd has " + std::to_string(OpenDescriptors(stage.site->pid())) +
                               " descriptors, at its first start " + std::to_string(descriptors));
  }
}

void CheckLeftovers(const Stage& stage) {
  for (const std::string& process : stage.site->leftovers().WaitForNone()) {
    stage.tally->Violation(kNothingLeft, "acpd has stopped and there is " + process);
  }
  stage.site->leftovers().Kill();
  for (const pid_t zombie : e2e::ZombiesOf(::getpid())) {
    stage.tally->Violation(kNothingLeft, "the zombie " + std::to_string(zombie));
  }
  CheckFolder(stage, "run", false);
  CheckFolder(stage, "state", true);
}

}  // namespace acpd::chaos
