#include "session/log_sizes.h"

#include <algorithm>

namespace acpd::session {
namespace {

constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kForgetAtOnce = 4u << 20;

}  // namespace

// An unfinished turn needs its events from the first one on.
uint64_t LogSizes::Log::protected_seq() const {
  uint64_t seq = kAll;
  for (const auto& [turn_id, queued_seq] : unfinished) seq = std::min(seq, queued_seq);
  return seq;
}

void LogSizes::SetStored(const std::string& session_id, const LogRowPlace& oldest,
                         const LogRowPlace& newest, uint64_t end) {
  Log& log = logs_[session_id];
  log.oldest = oldest;
  log.newest = newest;
  log.end = end;
  total_ += log.bytes();
}

void LogSizes::Track(const TurnRow& turn) {
  auto [place, is_new] = turn_sessions_.try_emplace(turn.turn_id, turn.session_id);
  if (!is_new) logs_[place->second].unfinished.erase(turn.turn_id);  // it may have moved
  if (turn.state == TurnState::kEnded) {
    turn_sessions_.erase(place);
    return;
  }
  place->second = turn.session_id;
  logs_[turn.session_id].unfinished[turn.turn_id] = turn.queued_seq;
}

void LogSizes::Track(const WorkerRow& worker) {
  auto [place, is_new] = worker_sessions_.try_emplace(worker.worker_id, worker.session_id);
  if (!is_new) logs_[place->second].workers.erase(worker.worker_id);
  place->second = worker.session_id;
  logs_[worker.session_id].workers.insert(worker.worker_id);
}

void LogSizes::Apply(const Record& record) {
  if (record.forget_session) {
    const std::optional<uint64_t> later = ForgetLater(record.session_id);
    later ? SetForgotten(record.session_id, *later) : Cut(record.session_id, nullptr);
  }
  for (const TurnRow& turn : record.turns) Track(turn);
  if (auto gone = worker_sessions_.find(record.removed_worker); gone != worker_sessions_.end()) {
    logs_[gone->second].workers.erase(record.removed_worker);
    worker_sessions_.erase(gone);
  }
  if (record.worker) Track(*record.worker);
}

void LogSizes::SetForgotten(const std::string& session_id, uint64_t below_seq) {
  logs_[session_id].forget_below = below_seq;
}

std::optional<uint64_t> LogSizes::ForgetLater(const std::string& session_id) const {
  auto log = logs_.find(session_id);
  if (log == logs_.end() || log->second.bytes() <= kForgetAtOnce) return std::nullopt;
  return log->second.newest.last_seq() + 1;
}

void LogSizes::Append(const LogRow& row, const LogRowPlace& place) {
  Log& log = logs_[row.session_id];
  const uint64_t before = log.bytes();
  if (!log.has_rows()) log.oldest = place;
  log.newest = place;
  log.end = place.offset + StoredBytes(row);
  total_ += log.bytes() - before;
}

void LogSizes::Cut(const std::string& session_id, const LogRowPlace* oldest) {
  Log& log = logs_[session_id];
  const uint64_t before = log.bytes();
  log.oldest = oldest == nullptr ? LogRowPlace() : *oldest;
  total_ -= before - log.bytes();
}

uint64_t LogSizes::EndOf(const std::string& session_id) const {
  auto log = logs_.find(session_id);
  return log == logs_.end() ? 0 : log->second.end;
}

uint64_t LogSizes::BytesOf(const std::string& session_id) const {
  auto log = logs_.find(session_id);
  return log == logs_.end() ? 0 : log->second.bytes();
}

std::optional<LogCut> LogSizes::Next(WallTime now) const {
  const WallTime before = now - std::chrono::microseconds(limits_.max_age).count();
  for (const auto& [session_id, log] : logs_) {
    if (log.has_rows() && log.oldest.first_seq < log.forget_below) {
      return LogCut{.session_id = session_id, .below_seq = log.forget_below, .forgotten = true};
    }
    // Of a session over its limit the newest row stays: a reader sees at least how it goes on.
    if (log.bytes() > limits_.max_session_bytes && log.oldest.first_seq < log.newest.first_seq) {
      return LogCut{.session_id = session_id,
                    .below_seq = log.newest.first_seq,
                    .bytes = log.bytes() - limits_.max_session_bytes};
    }
    if (log.may_go() && log.oldest.time < before) {
      return LogCut{.session_id = session_id, .below_seq = log.protected_seq(), .before = before};
    }
  }
  return total_ > limits_.max_total_bytes ? OverTotal() : std::nullopt;
}

// Of the dormant sessions the one that has been so for the longest time; without any, the one with
// the oldest events.
std::optional<LogCut> LogSizes::OverTotal() const {
  const std::string* dormant = nullptr;
  const std::string* oldest = nullptr;
  uint64_t dormant_since = kAll, oldest_position = kAll;
  for (const auto& [session_id, log] : logs_) {
    if (!log.may_go()) continue;
    if (log.dormant() && log.newest.first_position < dormant_since) {
      dormant = &session_id;
      dormant_since = log.newest.first_position;
    }
    if (log.oldest.first_position < oldest_position) {
      oldest = &session_id;
      oldest_position = log.oldest.first_position;
    }
  }
  const std::string* chosen = dormant != nullptr ? dormant : oldest;
  if (chosen == nullptr) return std::nullopt;
  return LogCut{.session_id = *chosen,
                .below_seq = logs_.at(*chosen).protected_seq(),
                .bytes = total_ - limits_.max_total_bytes};
}

}  // namespace acpd::session
