#include "server/subscription_start.h"

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <memory>

#include "session/errors.h"

namespace acpd::server {
namespace {

using Start = SubscribeParams::Start;
using SessionScope = session::LogScope::Kind;
using PositionAndBytes = std::pair<uint64_t, std::string>;

// Awaits a callback that comes on another thread, once.
template <class Result>
awaitable<Result> Await(std::function<void(std::function<void(Result)> done)> begin) {
  return asio::async_initiate<const asio::use_awaitable_t<>, void(Result)>(
      [](auto handler, std::function<void(std::function<void(Result)>)> start) {
        auto shared = std::make_shared<decltype(handler)>(std::move(handler));
        start([shared](Result result) {
          asio::post(
              asio::get_associated_executor(*shared),
              [shared, result = std::move(result)]() mutable { (*shared)(std::move(result)); });
        });
      },
      use_awaitable, std::move(begin));
}

awaitable<uint64_t> Locate(session::EventLog* log, std::string session_id, uint64_t seq) {
  return Await<uint64_t>([log, session_id, seq](std::function<void(uint64_t)> done) {
    log->Locate(session_id, seq, std::move(done));
  });
}

awaitable<PositionAndBytes> ReadEvent(session::EventLog* log, std::string session_id,
                                      uint64_t seq) {
  return Await<PositionAndBytes>([log, session_id,
                                  seq](std::function<void(PositionAndBytes)> done) {
    log->ReadEvent(session_id, seq, [done = std::move(done)](uint64_t position, std::string bytes) {
      done({position, std::move(bytes)});
    });
  });
}

// What the plan takes for unfinished may have been published a moment ago: then its end lies before
// a cursor that was taken now, and the stream would wait for it for ever.
awaitable<bool> HasEnded(const StartSources* sources, std::string turn_id) {
  return Await<bool>([sources, turn_id](std::function<void(bool)> done) {
    sources->turn_ended(turn_id, std::move(done));
  });
}

// A stream that starts now has no use for what replaced sessions were.
session::LogScope SuccessorOf(session::LogScope scope, uint64_t now, session::EventLog* log) {
  while (scope.kind == SessionScope::kSession) {
    session::EventLog::Page page;
    uint64_t ticket = 0;
    if (!log->Next(
            scope, now, 1, true, &page, [](session::EventLog::Page) {}, &ticket)) {
      log->Forget(ticket);
      break;
    }
    if (!page.rows.empty() || page.replaced_by.empty()) break;
    scope.id = page.replaced_by;
  }
  return scope;
}

absl::Status CursorAhead() {
  return session::MakeError(
      "CURSOR_AHEAD",
      "the cursor lies behind the end of the log; is it of another daemon? Take "
      "the position of the last event you have, with its epoch.");
}

// A cursor names the log it was taken from: the session's own, also when it was replaced since.
session::LogScope ScopeOf(const SubscribeParams& params, const session::SubscriptionPlan& plan,
                          uint64_t now, session::EventLog* log) {
  const session::LogScope& asked = params.query.scope;
  if (params.start == Start::kNow) return SuccessorOf(plan.scope, now, log);
  const bool own_log = asked.kind == SessionScope::kSession && log->Bounds(asked).newest_seq != 0;
  return own_log ? asked : plan.scope;
}

// The cursor's log ended with its epoch; what it names may be there no more, or be something else.
void AddEpochGap(const session::LogScope& scope, bool found, StreamStart& start) {
  const bool of_session = scope.kind == SessionScope::kSession;
  v1::Gap gap;
  gap.set_reason(v1::Gap::REASON_EPOCH_CHANGED);
  gap.set_next_position(found ? start.cursor + 1 : start.bounds.oldest_position);
  gap.set_next_seq(!of_session ? 0 : found ? start.next_seq : start.bounds.oldest_seq);
  if (!found) start.next_seq = 0;  // that the beginning is missing has been said
  start.gap = gap;
}

}  // namespace

awaitable<absl::StatusOr<StreamStart>> FindStart(StartSources sources, session::CallPtr call,
                                                 SubscribeParams params) {
  session::EventLog* const log = sources.log;
  // Taken before the plan, so that a question opened in between is either in the plan or behind the
  // cursor.
  const uint64_t now = log->newest_position();
  const auto plan = co_await sources.plan(call, params.query);
  if (!plan.ok()) co_return plan.status();

  StreamStart start;
  const std::string& until = params.query.until_turn_id;
  start.until_turn_ended = plan->until_turn_ended;
  if (!until.empty() && !start.until_turn_ended)
    start.until_turn_ended = co_await HasEnded(&sources, until);
  start.scope = ScopeOf(params, *plan, now, log);
  start.bounds = log->Bounds(start.scope);
  start.past_end = log->newest_position();
  if (params.start == Start::kNow) {
    start.cursor = now;
    for (const auto& [session_id, seq] : plan->open_questions) {
      PositionAndBytes event = co_await ReadEvent(log, session_id, seq);
      if (!event.second.empty() && event.first <= now)
        start.open_questions.push_back(std::move(event));
    }
    co_return start;
  }

  bool found = true, ahead = params.after > start.past_end;
  start.cursor = params.after;
  if (params.start == Start::kAfterSeq && params.after != 0) {
    start.cursor = co_await Locate(log, start.scope.id, params.after);
    found = start.cursor != 0;
    ahead = !found && params.after > start.bounds.newest_seq;
  }
  bool other_epoch = !params.epoch.empty() && params.epoch != sources.epoch;
  const std::optional<uint64_t> epoch_end = log->EpochEnd(params.epoch);
  // Up to its end an earlier epoch's log is this one; what stands behind it now was never read.
  const bool past_epoch = other_epoch && epoch_end && (ahead || start.cursor > *epoch_end);
  if (other_epoch && epoch_end && found && !past_epoch) other_epoch = false;
  if (past_epoch) {
    start.cursor = *epoch_end;
    found = true;
    ahead = false;
  }
  if (ahead && !other_epoch) co_return CursorAhead();
  if (ahead) found = false;
  if (!found) start.cursor = 0;
  const bool next_is_known = params.start == Start::kAfterSeq || params.after == 0;
  if (next_is_known && !past_epoch) start.next_seq = params.after + 1;
  if (other_epoch) AddEpochGap(start.scope, found, start);
  co_return start;
}

}  // namespace acpd::server
