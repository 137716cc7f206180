// The resume ladder of LIFE.md section 3.
#include <algorithm>
#include <utility>

#include "session/errors.h"
#include "session/session.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;

constexpr uint32_t kDefaultRetries = 1;
constexpr milliseconds kRetryPause{500};
// After session/load some agents go on replaying behind their answer.
constexpr milliseconds kReplayQuiet{100};
constexpr milliseconds kReplayLimit{2000};

std::string Detail(const ResumeAnswer& answer) {
  return answer.data.empty() ? answer.message : answer.message + " " + answer.data;
}

}  // namespace

bool Session::IsUsable(ResumeMethod method) const {
  if (!worker_) return false;
  switch (method) {
    case ResumeMethod::kMeta:
      return true;
    case ResumeMethod::kSessionResume:
      return worker_->initialize.resume;
    case ResumeMethod::kSessionLoad:
      return worker_->initialize.load_session;
    case ResumeMethod::kUnspecified:
      break;
  }
  return false;
}

awaitable<Session::Ready> Session::ResumeOrFallBack(TurnPtr turn) {
  const ResumePolicy& policy = turn->request.resume_policy;
  Ladder ladder = co_await ClimbLadder(policy.max_retries.value_or(kDefaultRetries));
  Ready ready;
  if (ladder.kind == Ladder::Kind::kResumed) {
    TakeSetup(ladder.setup, /*resumed=*/true);
    co_await ApplyWanted();
    fresh_resume_ = true;
    ready.origin.kind = OriginKind::kResumed;
    ready.origin.method = ladder.method;
    ready.origin.attempts = ladder.attempts;
    co_return ready;
  }
  replaying_ = false;
  const bool abandoned = turn->ended() || shut_down_;
  if (ladder.kind == Ladder::Kind::kFatal || policy.mode == ResumeMode::kRequire || abandoned) {
    co_await CloseWorker(CloseReason::kUnspecified);
    if (ladder.kind == Ladder::Kind::kFatal) {
      ready.status = ladder.fatal;
    } else if (!ladder.reason.empty()) {
      ready = Refuse(ladder);
    }
    co_return ready;
  }
  Ready moved = co_await FallBack(turn, std::move(ladder));
  co_return moved;
}

Session::Ready Session::Refuse(const Ladder& ladder) {
  Ready ready;
  const std::string what = "The session " + row_.session_id + " cannot be resumed (" +
                           ladder.reason + (ladder.detail.empty() ? "" : ": " + ladder.detail) +
                           "). Chat without MODE_REQUIRE to go on in a new session.";
  ready.status = MakeError(
      ladder.reason == "SESSION_NOT_FOUND" ? "SESSION_NOT_RESUMABLE" : ladder.reason, what);
  if (ladder.reason == "AGENT_EXITED" || ladder.reason == "RESUME_TIMEOUT" ||
      ladder.reason == "RESUME_FAILED") {
    ready.status = MakeError(absl::StatusCode::kUnavailable, ladder.reason, what);
  }
  return ready;
}

awaitable<Session::Ladder> Session::ClimbLadder(uint32_t max_retries) {
  const AgentDefinition* definition = agent();
  const std::vector<ResumeMethod> methods =
      definition ? definition->resume : std::vector<ResumeMethod>();
  Ladder ladder;
  ladder.reason = "RESUME_UNSUPPORTED";
  const absl::StatusOr<acp::SessionSetup> asked = MakeSetup();
  if (!asked.ok()) {
    ladder.kind = Ladder::Kind::kFatal;
    ladder.fatal = asked.status();
    co_return ladder;
  }
  ladder.detail = "the agent offers no way to resume a session";
  replay_seen_ = false;
  for (const ResumeMethod method : methods) {
    if (!worker_ || !worker_->alive()) {
      ladder.reason = "AGENT_EXITED";
      ladder.detail = WorkerDetail();
      co_return ladder;
    }
    if (!IsUsable(method)) continue;
    uint32_t retries = 0;
    bool next_method = false;
    while (!next_method) {
      ++ladder.attempts;
      ladder.method = method;
      if (method == ResumeMethod::kSessionLoad) {
        const bool loadable = co_await WaitUntilLoadable();
        if (!loadable) {
          ladder.reason.clear();  // nothing failed: nobody waits for it any more
          co_return ladder;
        }
      }
      const ResumeAnswer answer = co_await TryResume(method, *asked, &ladder.setup);
      const ResumeVerdict verdict = JudgeResume(
          answer, definition ? definition->resume_missing_patterns : std::vector<std::string>());
      ladder.detail = Detail(answer);
      const bool again =
          verdict == ResumeVerdict::kRetryNotFound || verdict == ResumeVerdict::kRetryFailed;
      if (again && retries < max_retries && worker_ && worker_->alive()) {
        ++retries;
        asio::steady_timer pause(core_.deps.loop, kRetryPause);
        boost::system::error_code ignored;
        co_await pause.async_wait(asio::redirect_error(use_awaitable, ignored));
        continue;
      }
      switch (verdict) {
        case ResumeVerdict::kResumed:
          ladder.kind = Ladder::Kind::kResumed;
          co_return ladder;
        case ResumeVerdict::kIgnored:
          ladder.kind = Ladder::Kind::kIgnored;
          ladder.reason = "RESUME_IGNORED";
          ladder.detail = "the agent made a new session instead of the one asked for";
          co_return ladder;
        case ResumeVerdict::kNextMethod:
          ladder.reason = "RESUME_UNSUPPORTED";
          next_method = true;
          break;
        case ResumeVerdict::kNotFound:
        case ResumeVerdict::kRetryNotFound:
          ladder.reason = "SESSION_NOT_FOUND";
          co_return ladder;
        case ResumeVerdict::kRetryFailed:
          ladder.reason = "RESUME_FAILED";
          co_return ladder;
        case ResumeVerdict::kExited:
          ladder.reason = "AGENT_EXITED";
          ladder.detail = WorkerDetail();
          co_return ladder;
        case ResumeVerdict::kTimedOut:
          ladder.reason = "RESUME_TIMEOUT";
          ladder.detail = "no answer within session_setup_timeout";
          co_return ladder;
        case ResumeVerdict::kAuthRequired:
          ladder.kind = Ladder::Kind::kFatal;
          ladder.fatal = LoginWanted(answer.message);
          co_return ladder;
      }
    }
  }
  co_return ladder;
}

awaitable<ResumeAnswer> Session::TryResume(ResumeMethod method, acp::SessionSetup setup_asked,
                                           acp::SetupResult* setup) {
  const std::shared_ptr<AgentWorker> worker = worker_;
  ResumeAnswer judged;
  judged.method = method;
  judged.requested_id = row_.agent_session_id;
  if (!worker) {
    judged.kind = ResumeAnswer::Kind::kExited;
    co_return judged;
  }
  const std::string asked_id = row_.agent_session_id;
  std::function<std::string(uint64_t)> make_line = [method, &asked_id, &setup_asked](uint64_t id) {
    if (method == ResumeMethod::kMeta) return acp::NewSessionLine(id, setup_asked);
    return method == ResumeMethod::kSessionResume
               ? acp::ResumeSessionLine(id, asked_id, setup_asked)
               : acp::LoadSessionLine(id, asked_id, setup_asked);
  };
  if (method == ResumeMethod::kMeta) setup_asked.meta_resume_id = asked_id;
  if (method == ResumeMethod::kSessionLoad) {
    replaying_ = true;
    replay_seen_ = false;
    replay_known_ = row_.ready_once;
  }
  const AgentAnswer answer = co_await AskSetup(std::move(make_line));
  if (answer.kind != AgentAnswer::Kind::kResult) replaying_ = false;
  switch (answer.kind) {
    case AgentAnswer::Kind::kResult: {
      absl::StatusOr<acp::SetupResult> result = acp::ReadSetupResult(answer.result);
      if (!result.ok()) {
        judged.kind = ResumeAnswer::Kind::kError;
        judged.message = std::string(result.status().message());
        break;
      }
      judged.kind = ResumeAnswer::Kind::kResult;
      judged.returned_id = result->session_id;
      *setup = std::move(*result);
      break;
    }
    case AgentAnswer::Kind::kError:
      judged.kind = ResumeAnswer::Kind::kError;
      judged.code = answer.error.code;
      judged.message = answer.error.message;
      judged.data = answer.error.data;
      break;
    case AgentAnswer::Kind::kTimedOut:
      judged.kind = ResumeAnswer::Kind::kTimedOut;
      break;
    case AgentAnswer::Kind::kExited:
    case AgentAnswer::Kind::kLost:
      judged.kind = ResumeAnswer::Kind::kExited;
      break;
  }
  co_return judged;
}

// Some agents destroy a session that is loaded in the minute in which they made it.
awaitable<bool> Session::WaitUntilLoadable() {
  const AgentDefinition* definition = agent();
  if (!definition || !definition->loads_in_later_minute) co_return true;
  constexpr WallTime kMinute = 60'000'000;
  const WallTime made_in = row_.agent_session_time / kMinute;
  if (core_.now() / kMinute == made_in) {
    OnNotice(
        Severity::kInfo, "RESUME_WAITS",
        "The agent loses a session that it loads in the minute in which it was made: the resume "
        "waits for the next one.");
    recorder_.Flush();
  }
  while (core_.now() / kMinute == made_in && worker_ && worker_->alive()) {
    if (shut_down_ || (current_ && current_->ended())) co_return false;
    const std::chrono::microseconds left((made_in + 1) * kMinute - core_.now());
    const SteadyTime next_look =
        steady_clock::now() +
        std::min<std::chrono::microseconds>(left + milliseconds(50), milliseconds(1000));
    co_await changed_.Wait(next_look);
  }
  co_return true;
}

awaitable<void> Session::WaitForReplayEnd(TurnPtr turn) {
  if (!replaying_) co_return;
  const SteadyTime entered = steady_clock::now();
  while (worker_ && worker_->alive() && !turn->ended()) {
    const SteadyTime quiet_at = std::max(entered, last_update_) + kReplayQuiet;
    const SteadyTime until = std::min(quiet_at, entered + kReplayLimit);
    if (steady_clock::now() >= until) break;
    asio::steady_timer pause(core_.deps.loop, until);
    boost::system::error_code ignored;
    co_await pause.async_wait(asio::redirect_error(use_awaitable, ignored));
  }
}

}  // namespace acpd::session
