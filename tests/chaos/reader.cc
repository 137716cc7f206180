#include "tests/chaos/reader.h"

#include <algorithm>

namespace acpd::chaos {
namespace {

namespace api = e2e::api;

// A watch "from now" has no cursor until its first stream has begun.
constexpr uint64_t kNow = UINT64_MAX;

std::string NameOf(const Reader::Options& options, int number) {
  const char* scope = options.scope == Reader::Scope::kEverything ? "everything"
                      : options.scope == Reader::Scope::kProject  ? "project"
                                                                  : "session";
  return std::string(options.slow ? "slow " : "") + scope + " reader " + std::to_string(number);
}

api::SubscribeProgressRequest RequestFor(const Watch& watch, bool replay_only) {
  api::SubscribeProgressRequest request;
  if (!watch.session_id.empty()) {
    request.set_session_id(watch.session_id);
  } else if (!watch.project_id.empty()) {
    request.set_project_id(watch.project_id);
  } else {
    request.set_everything(true);
  }
  if (watch.cursor != kNow) request.set_after_position(watch.cursor);
  request.set_epoch(watch.epoch);
  request.set_replay_only(replay_only);
  return request;
}

}  // namespace

Reader::Reader(const Stage& stage, int number, Options options)
    : Actor(stage, number),
      options_(std::move(options)),
      name_(NameOf(options_, number)),
      client_(stage.site->Connect()) {}

void Reader::Run() {
  bool watching = false;
  while (stage_.stop->Sleep(dice_.Pause(0, options_.slow ? 2'000 : 500))) {
    if (!watching) watching = BeginWatch();
    if (!watching) continue;
    stage_.tally->Count("streams opened");
    watching = Follow(&watches_.back(), dice_.Pause(100, 6'000), false);
    const bool bored = options_.scope == Scope::kSession && dice_.Chance(10);
    if (bored && watches_.back().started) watching = false;
  }
}

bool Reader::BeginWatch() {
  Watch watch;
  watch.reader = name_;
  if (options_.from_now) watch.cursor = kNow;
  size_t slot = 0;
  if (options_.scope == Scope::kSession) {
    watch.session_id = stage_.slots->Session(&dice_, &slot);
    if (watch.session_id.empty()) return false;
  } else if (options_.scope == Scope::kProject) {
    watch.project_id = Slots::Project(dice_.Index(Slots::kProjects));
  }
  watches_.push_back(std::move(watch));
  return true;
}

void Reader::CatchUp() {
  if (watches_.empty() || !watches_.back().started) return;
  Watch& watch = watches_.back();
  watch.to_the_end = Follow(&watch, milliseconds(60'000), true);
}

bool Reader::Follow(Watch* watch, milliseconds time, bool replay_only) {
  const uint64_t life = stage_.site->Life();
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + time);
  context.set_wait_for_ready(true);
  const auto request = RequestFor(*watch, replay_only);
  const auto reader = client_->stub()->SubscribeProgress(&context, request);
  for (e2e::Event event; reader->Read(&event);) {
    if (event.resent()) continue;
    if (event.seq() == 0) {
      TakeControl(watch, event);
    } else {
      Take(watch, event);
      if (options_.on_event) options_.on_event(event);
    }
    if (options_.slow && !replay_only && dice_.Chance(5)) stage_.stop->Sleep(dice_.Pause(5, 200));
  }
  return CheckEnd(*watch, reader->Finish(), life, replay_only);
}

void Reader::Take(Watch* watch, const e2e::Event& event) {
  watch->seen.push_back(Shorten(event));
  watch->cursor = event.position();
}

void Reader::TakeControl(Watch* watch, const e2e::Event& event) {
  if (event.has_gap()) {
    stage_.tally->Violation("I2 no gap", watch->reader + " got a Gap: " + event.ShortDebugString());
  }
  if (event.has_subscription_started()) {
    const std::string& epoch = event.subscription_started().epoch();
    if (watch->started && epoch != watch->epoch) {
      stage_.tally->Violation("I2 epoch stays", watch->epoch + " became " + epoch);
    }
    watch->epoch = epoch;
    if (!watch->started) watch->start = watch->cursor == kNow ? event.position() : 0;
    if (!watch->started) watch->cursor = watch->start;
    watch->started = true;
    watch->from.push_back(watch->cursor);
  }
  if (options_.trusts_control) watch->cursor = std::max(watch->cursor, event.position());
}

bool Reader::CheckEnd(const Watch& watch, const grpc::Status& status, uint64_t life,
                      bool replay_only) {
  const grpc::StatusCode code = status.error_code();
  const bool may_be_gone = !watch.session_id.empty();
  if (status.ok() && replay_only) return true;
  if (may_be_gone && (status.ok() || code == grpc::StatusCode::NOT_FOUND)) return false;
  const bool left = code == grpc::StatusCode::DEADLINE_EXCEEDED && !replay_only;
  // gRPC ends a call CANCELLED that comes in just when the server shuts down.
  const bool cancelled = code == grpc::StatusCode::CANCELLED;
  if (cancelled) stage_.tally->Count("calls that ended CANCELLED, with acpd");
  const bool lost =
      (cancelled || code == grpc::StatusCode::UNAVAILABLE) && !stage_.site->WasUpSince(life);
  if (!left && !lost) {
    stage_.tally->Violation("I2 streams last",
                            watch.reader + " at position " + std::to_string(watch.cursor) +
                                ": status " + std::to_string(code) + ", " + status.error_message());
  }
  return !replay_only;
}

}  // namespace acpd::chaos
