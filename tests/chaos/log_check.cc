#include "tests/chaos/log_check.h"

namespace acpd::chaos {
namespace {

namespace api = e2e::api;

std::string Place(const e2e::Event& event) {
  return "session " + event.session_id() + ", seq " + std::to_string(event.seq()) + ", position " +
         std::to_string(event.position());
}

std::string OutcomeName(const LoggedTurn& turn) {
  std::string name = api::TurnResult::Outcome_Name(turn.result.outcome());
  if (turn.result.has_error()) name += " " + turn.result.error().reason();
  return name;
}

// The agent answered the prompt, so that all it had said before is there.
bool WasAnswered(const LoggedTurn& turn) {
  const auto outcome = turn.result.outcome();
  return outcome == api::TurnResult::OUTCOME_COMPLETED ||
         outcome == api::TurnResult::OUTCOME_TRUNCATED ||
         outcome == api::TurnResult::OUTCOME_REFUSED ||
         turn.result.error().reason() == "AGENT_ERROR";
}

}  // namespace

LogCheck::LogCheck(const Record* record, Tally* tally) : record_(record), tally_(tally) {
  for (const std::string& session_id : record->Deleted()) gone_.insert(HashOf(session_id));
}

void LogCheck::Wrong(const std::string& invariant, const std::string& what,
                     const e2e::Event& event) {
  tally_->Violation(invariant, what + ": " + Place(event));
}

void LogCheck::Take(const e2e::Event& event) {
  events_.push_back(Shorten(event));
  const uint64_t session = HashOf(event.session_id());
  projects_[session] = event.project_id();
  TakeNumbers(event);
  if (event.has_session_replaced()) {
    const std::string& successor = event.session_replaced().new_session_id();
    successors_[session] = successor;
    for (const std::string& id : event.session_replaced().moved_turn_ids()) {
      turns_[id].session_id = successor;
    }
  }
  if (event.turn_id().empty()) {
    if (event.has_session_update()) tally_->Count("updates outside of a turn");
  } else {
    TakeTurn(event, &turns_[event.turn_id()]);
  }
}

void LogCheck::TakeNumbers(const e2e::Event& event) {
  if (event.position() <= last_position_) {
    Wrong("I2 positions grow", "behind " + std::to_string(last_position_), event);
  }
  last_position_ = event.position();
  uint64_t& newest = newest_[event.session_id()];
  if (event.seq() != newest + 1 && !IsGone(event.session_id())) {
    Wrong("I2 seq has no hole and no repeat", "behind seq " + std::to_string(newest), event);
  }
  newest = event.seq();
}

void LogCheck::TakeTurn(const e2e::Event& event, LoggedTurn* turn) {
  if (event.has_turn_queued()) {
    turn->key = KeyOfPrompt(event.turn_queued().prompt());
    turn->session_id = event.session_id();
    const std::string& request_id = event.turn_queued().request_id();
    if (turn->request_id.empty() && !request_id.empty()) {
      turn->request_id = event.project_id() + "/" + request_id;
      by_request_id_[turn->request_id].push_back(event.turn_id());
    }
  } else if (turn->key.empty() && IsGone(event.session_id())) {
    turn->session_id = event.session_id();  // what a deletion leaves
  } else if (turn->key.empty()) {
    Wrong("I1 a turn is queued first", "turn " + event.turn_id() + " before its TurnQueued", event);
  }
  if (turn->ended > 0) {
    Wrong("I1 nothing of a turn behind its end", "turn " + event.turn_id(), event);
  }
  if (event.has_turn_started()) TakeStart(event, turn);
  if (event.has_session_update()) TakeText(event);
  if (event.has_turn_ended()) {
    ++turn->ended;
    turn->result = event.turn_ended().result();
    if (running_[event.session_id()] == event.turn_id()) running_.erase(event.session_id());
  }
}

void LogCheck::TakeStart(const e2e::Event& event, LoggedTurn* turn) {
  if (++turn->started > 1) {
    Wrong("I1 a prompt is sent once", "turn " + event.turn_id() + " started again", event);
  }
  std::string& running = running_[event.session_id()];
  if (!running.empty()) {
    Wrong("I1 one turn at a time", "turn " + event.turn_id() + " started while " + running + " ran",
          event);
  }
  running = event.turn_id();
}

// The texts of a turn must be those of its plan, in order: a wrong one is told once a turn.
void LogCheck::TakeText(const e2e::Event& event) {
  const api::SessionUpdate& update = event.session_update();
  if (update.kind() != "agent_message_chunk" || update.replayed()) return;
  LoggedTurn& turn = turns_[event.turn_id()];
  const auto plan = record_->plans().find(turn.key);
  if (plan == record_->plans().end() || turn.text_trouble) return;
  const auto& texts = plan->second.texts;
  tally_->Count("texts of agents checked");
  if (turn.texts < texts.size() && texts[turn.texts] == HashOf(update.text())) {
    ++turn.texts;
    return;
  }
  turn.text_trouble = true;
  Wrong("I2 every update once and in order",
        "turn " + event.turn_id() + " (" + turn.key + ", " + plan->second.kind + ") has \"" +
            update.text().substr(0, 60) + "\" where its text " + std::to_string(turn.texts + 1) +
            " of " + std::to_string(texts.size()) + " was to come",
        event);
}

void LogCheck::Finish() {
  for (const auto& [turn_id, turn] : turns_) FinishTurn(turn_id, turn);
  FinishAccepted();
  FinishRequestIds();
  tally_->Count("events checked", events_.size());
  tally_->Count("sessions replaced by a fallback", successors_.size());
}

void LogCheck::FinishTurn(const std::string& turn_id, const LoggedTurn& turn) {
  tally_->Count("accepted turns");
  if (turn.ended != 1) {
    if (turn.ended == 0 && IsGone(turn.session_id)) return;
    tally_->Violation("I1 exactly one TurnEnded",
                      "turn " + turn_id + " (" + turn.key + ") of session " + turn.session_id +
                          " ended " + std::to_string(turn.ended) + " times");
    return;
  }
  tally_->Count("turns ended: " + OutcomeName(turn));
  const auto plan = record_->plans().find(turn.key);
  if (plan == record_->plans().end()) {
    if (!IsGone(turn.session_id)) {
      tally_->Violation("I1 only what was asked for runs", "turn " + turn_id + ": " + turn.key);
    }
    return;
  }
  const size_t all = plan->second.texts.size();
  if (WasAnswered(turn) && !turn.text_trouble && turn.texts != all && !IsGone(turn.session_id)) {
    tally_->Violation("I2 every update once and in order",
                      "turn " + turn_id + " (" + turn.key + ", " + plan->second.kind +
                          ", session " + turn.session_id + ") ended " + OutcomeName(turn) +
                          " with " + std::to_string(turn.texts) + " of its " + std::to_string(all) +
                          " texts");
  }
}

void LogCheck::FinishAccepted() {
  for (const auto& [turn_id, session_id] : record_->accepted().All()) {
    if (turns_.contains(turn_id) || IsGone(session_id)) continue;
    tally_->Violation("I1 what was accepted is kept",
                      "turn " + turn_id + " of session " + session_id + " is not in the log");
  }
  for (const std::string& session_id : record_->Sessions()) {
    if (newest_.contains(session_id) || IsGone(session_id)) continue;
    tally_->Violation("I1 what was accepted is kept", "session " + session_id + " has no log");
  }
}

// Only a turn whose prompt was never sent frees its request_id.
void LogCheck::FinishRequestIds() {
  for (const auto& [request_id, turn_ids] : by_request_id_) {
    for (size_t i = 0; i + 1 < turn_ids.size(); ++i) {
      const LoggedTurn& turn = turns_[turn_ids[i]];
      if (!turn.result.prompt_sent() || IsGone(turn.session_id)) continue;
      tally_->Violation("I1 request_id",
                        request_id + " made turn " + turn_ids[i] + " and then " + turn_ids[i + 1]);
    }
  }
}

}  // namespace acpd::chaos
