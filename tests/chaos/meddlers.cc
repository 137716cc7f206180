#include "tests/chaos/meddlers.h"

namespace acpd::chaos {
namespace {

namespace api = e2e::api;

constexpr milliseconds kMeddlersCallTime{15'000};

milliseconds Since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
}

// Leaves the request without a scope when there is nothing to cancel yet.
api::CancelRequest DrawCancel(const Stage& stage, Dice* dice) {
  api::CancelRequest request;
  size_t slot = 0;
  const int drawn = dice->Between(1, 100);
  if (drawn <= 60) {
    request.set_session_id(stage.slots->Session(dice, &slot));
    request.set_include_queued(dice->Chance(25));
  } else if (drawn <= 97) {
    request.set_turn_id(stage.record->RecentTurn(dice));
  } else {
    request.set_project_id(Slots::Project(dice->Index(Slots::kProjects)));
  }
  if (dice->Chance(20)) request.mutable_grace();  // 0: kill at once
  return request;
}

std::string CallOutcome(const grpc::Status& status, const std::string& reason) {
  return status.ok() ? "OK" : std::to_string(status.error_code()) + " " + reason;
}

}  // namespace

Canceller::Canceller(const Stage& stage, int number)
    : Actor(stage, number), client_(stage.site->Connect()) {}

void Canceller::Run() {
  while (stage_.stop->Sleep(dice_.Pause(200, 800))) CancelOnce();
}

void Canceller::CancelOnce() {
  const api::CancelRequest request = DrawCancel(stage_, &dice_);
  if (request.session_id().empty() && request.turn_id().empty() && request.project_id().empty()) {
    return;
  }
  const uint64_t life = stage_.site->Life();
  const auto begin = std::chrono::steady_clock::now();
  const auto called = client_->Cancel(request, kMeddlersCallTime);
  stage_.tally->Count("cancels: " +
                      (called.ok() ? api::CancelResponse::Outcome_Name(called.response.outcome())
                                   : CallOutcome(called.status, called.reason())));
  if (!stage_.site->WasUpSince(life)) return;
  stage_.tally->Took("Cancel", Since(begin));
  // Its session may have been deleted.
  if (!called.ok() && called.code() != grpc::StatusCode::NOT_FOUND) {
    stage_.tally->Violation("I6 Cancel answers", "acpd was up: " + called.ToString() + "; " +
                                                     request.ShortDebugString());
  }
}

Closer::Closer(const Stage& stage, int number)
    : Actor(stage, number), client_(stage.site->Connect()) {}

void Closer::Run() {
  while (stage_.stop->Sleep(dice_.Pause(1'000, 3'000))) {
    size_t slot = 0;
    const std::string session_id = stage_.slots->Session(&dice_, &slot);
    if (session_id.empty()) continue;
    if (dice_.Chance(7)) {
      Delete(slot, session_id);
    } else {
      Close(session_id);
    }
  }
}

void Closer::Close(const std::string& session_id) {
  api::CloseSessionRequest request;
  request.set_session_id(session_id);
  request.set_force(dice_.Chance(60));
  const auto called = client_->Call(&e2e::Client::Stub::CloseSession, request, kMeddlersCallTime);
  stage_.tally->Count("closes: " + CallOutcome(called.status, called.reason()));
}

void Closer::Delete(size_t slot, const std::string& session_id) {
  stage_.record->Deleting(session_id);
  api::DeleteSessionRequest request;
  request.set_session_id(session_id);
  request.set_force(dice_.Chance(80));
  const auto called = client_->Call(&e2e::Client::Stub::DeleteSession, request, kMeddlersCallTime);
  stage_.tally->Count("deletes: " + CallOutcome(called.status, called.reason()));
  if (called.ok()) stage_.slots->Forget(slot, session_id);
}

}  // namespace acpd::chaos
