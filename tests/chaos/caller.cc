#include "tests/chaos/caller.h"

namespace acpd::chaos {
namespace {

constexpr milliseconds kCallTime{8'000};

std::string Entry(const e2e::Metadata& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : found->second;
}

std::string Entry(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata,
                  const std::string& key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : std::string(found->second.data(), found->second.size());
}

api::WaitFor DrawWait(Dice* dice) {
  const int drawn = dice->Between(1, 100);
  if (drawn <= 65) return api::WAIT_FOR_ACCEPTED;
  if (drawn <= 75) return api::WAIT_FOR_STARTED;
  if (drawn <= 90) return api::WAIT_FOR_FINISHED;
  return api::WAIT_FOR_UNSPECIFIED;
}

std::string Told(const grpc::Status& status, const std::string& reason) {
  return "status " + std::to_string(status.error_code()) + " " + reason + ": " +
         status.error_message();
}

// gRPC ends a call CANCELLED that comes in just when the server shuts down.
bool IsLostCode(grpc::StatusCode code) {
  return code == grpc::StatusCode::UNAVAILABLE || code == grpc::StatusCode::CANCELLED;
}

}  // namespace

Caller::Caller(const Stage& stage, int number)
    : Actor(stage, number), name_("c" + std::to_string(number)), client_(stage.site->Connect()) {}

void Caller::Run() {
  while (stage_.stop->Sleep(dice_.Pause(100, 500))) {
    size_t slot = 0;
    std::string session_id;
    if (!stage_.slots->Take(&dice_, &slot, &session_id)) continue;
    ChatOnce(slot, session_id);
    if (session_id.empty()) stage_.slots->Release(slot);
  }
}

void Caller::ChatOnce(size_t slot, const std::string& session_id) {
  const api::ChatRequest request = MakeRequest(slot, session_id);
  std::string turn_id;
  if (!Settle(request, slot, &turn_id) || request.request_id().empty()) return;
  if (dice_.Chance(10)) AskAgain(request, slot, turn_id);
  if (dice_.Chance(3)) ReuseRequestId(request);
}

std::string Caller::NextKey() { return name_ + "-" + std::to_string(++chats_); }

api::ChatRequest Caller::MakeRequest(size_t slot, const std::string& session_id) {
  const TurnPlan plan = PlanTurn(&dice_, NextKey());
  stage_.record->Add(plan);
  stage_.tally->Count("chats asked for: " + plan.kind);
  api::ChatRequest request =
      e2e::ChatOf(Slots::Project(slot), session_id, plan.prompt, DrawWait(&dice_));
  if (dice_.Chance(65)) request.set_request_id("r-" + plan.key);
  if (dice_.Chance(5)) request.set_busy_policy(api::BUSY_POLICY_INTERRUPT);
  if (dice_.Chance(3)) request.set_busy_policy(api::BUSY_POLICY_REJECT);
  if (dice_.Chance(20)) request.mutable_resume_policy()->set_mode(api::ResumePolicy::MODE_REQUIRE);
  return request;
}

bool Caller::Settle(const api::ChatRequest& request, size_t slot, std::string* turn_id) {
  constexpr int kTries = 60;  // acpd may take seconds to stop
  for (int i = 0; i < kTries; ++i) {
    const Outcome outcome = Try(request);
    if (outcome.answered && *turn_id == outcome.turn_id && !outcome.deduplicated) {
      stage_.tally->Violation("I1 request_id", "turn " + outcome.turn_id +
                                                   " was found by its request_id and is not called "
                                                   "deduplicated");
    }
    if (!outcome.turn_id.empty()) {
      *turn_id = outcome.turn_id;
      stage_.record->Answered(outcome.turn_id, outcome.session_id);
      stage_.slots->Set(slot, outcome.session_id);
    }
    if (outcome.reason == "SESSION_NOT_FOUND") stage_.slots->Forget(slot, request.session_id());
    if (outcome.answered) return true;
    if (!IsLost(outcome)) return false;
    stage_.tally->Count("answers lost");
    if (request.request_id().empty()) return false;
    stage_.tally->Count("requests sent again after a lost answer");
    stage_.stop->Sleep(dice_.Pause(10, 300));
  }
  stage_.tally->Count("requests given up");
  return false;
}

bool Caller::IsLost(const Outcome& outcome) {
  return !outcome.left && IsLostCode(outcome.status.error_code()) &&
         (outcome.reason.empty() || outcome.reason == "SHUTTING_DOWN");
}

Caller::Outcome Caller::Try(const api::ChatRequest& request) {
  const uint64_t life = stage_.site->Life();
  const Outcome outcome = dice_.Chance(15) ? TryStream(request) : TryChat(request);
  if (!outcome.status.ok()) {
    stage_.tally->Count("calls of Chat that failed: " +
                        std::to_string(outcome.status.error_code()) + " " + outcome.reason);
  }
  CheckStatus(outcome, life);
  return outcome;
}

Caller::Outcome Caller::TryChat(const api::ChatRequest& request) {
  const auto called = client_->Chat(request, kCallTime);
  Outcome outcome;
  outcome.status = called.status;
  outcome.reason = called.reason();
  outcome.turn_id = Entry(called.initial, "acpd-turn-id");
  outcome.session_id = Entry(called.initial, "acpd-session-id");
  if (!called.ok()) return outcome;
  outcome.answered = true;
  outcome.turn_id = called.response.turn_id();
  outcome.session_id = called.response.session_id();
  outcome.deduplicated = called.response.deduplicated();
  return outcome;
}

// Some leave in the middle.
Caller::Outcome Caller::TryStream(const api::ChatRequest& request) {
  api::ChatStreamRequest stream;
  *stream.mutable_chat() = request;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallTime);
  context.set_wait_for_ready(true);
  int patience = dice_.Chance(25) ? dice_.Between(1, 6) : -1;
  const auto reader = client_->stub()->ChatStream(&context, stream);
  Outcome outcome;
  bool ended = false;
  for (e2e::Event event; reader->Read(&event);) {
    if (event.has_chat_accepted()) {
      const api::ChatResponse& accepted = event.chat_accepted().response();
      outcome.answered = true;
      outcome.turn_id = accepted.turn_id();
      outcome.session_id = accepted.session_id();
      outcome.deduplicated = accepted.deduplicated();
    }
    if (event.has_turn_ended() && event.turn_id() == outcome.turn_id) ended = true;
    if (patience > 0 && --patience == 0) {
      outcome.left = true;
      context.TryCancel();
    }
  }
  outcome.status = reader->Finish();
  outcome.reason = Entry(context.GetServerTrailingMetadata(), "acpd-reason");
  if (outcome.turn_id.empty()) {
    outcome.turn_id = Entry(context.GetServerInitialMetadata(), "acpd-turn-id");
    outcome.session_id = Entry(context.GetServerInitialMetadata(), "acpd-session-id");
  }
  stage_.record->accepted()->Add(outcome.turn_id, outcome.session_id);
  if (outcome.status.ok() && !ended) {
    stage_.tally->Violation("I1 ChatStream", "the stream of turn " + outcome.turn_id +
                                                 " ended with OK before TurnEnded");
  }
  return outcome;
}

void Caller::CheckStatus(const Outcome& outcome, uint64_t life) {
  const grpc::StatusCode code = outcome.status.error_code();
  const bool cancelled = code == grpc::StatusCode::CANCELLED && !outcome.left;
  const bool strange = code == grpc::StatusCode::INTERNAL || code == grpc::StatusCode::UNKNOWN ||
                       (cancelled && stage_.site->WasUpSince(life));
  if (cancelled) stage_.tally->Count("calls that ended CANCELLED, with acpd");
  if (strange) {
    stage_.tally->Violation("I6 Chat answers", Told(outcome.status, outcome.reason));
  }
  // A Chat answers before its deadline with the state reached; a stream may well last longer.
  const bool late = code == grpc::StatusCode::DEADLINE_EXCEEDED && !outcome.answered;
  if (late && stage_.site->WasUpSince(life)) {
    stage_.tally->Violation("I6 Chat answers",
                            "no answer in time though acpd was up, turn " + outcome.turn_id);
  }
}

// The same request once more must find its turn. (One that ended before its prompt was sent may
// have freed the id; the checker looks at those.)
void Caller::AskAgain(const api::ChatRequest& request, size_t slot, const std::string& turn_id) {
  std::string again = turn_id;
  if (!Settle(request, slot, &again)) return;
  stage_.tally->Count(again == turn_id ? "requests asked again: the same turn"
                                       : "requests asked again: another turn");
}

void Caller::ReuseRequestId(api::ChatRequest request) {
  const TurnPlan plan = PlanTurn(&dice_, NextKey());
  stage_.record->Add(plan);
  request.set_prompt(plan.prompt);
  const Outcome outcome = Try(request);
  stage_.tally->Count("request_ids used for other content: " +
                      (outcome.answered ? "a new turn" : outcome.reason));
}

}  // namespace acpd::chaos
