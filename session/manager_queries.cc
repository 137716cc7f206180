// Get, List and the place where a subscription reads: answers of committed state.
#include <algorithm>
#include <utility>

#include "session/delivery.h"
#include "session/errors.h"
#include "session/manager_errors.h"
#include "session/manager_impl.h"

namespace acpd::session {
namespace {

// How often the store's health is looked at while an answer waits for a commit.
constexpr milliseconds kStoreLook{2000};

bool Matches(const SessionView& view, const ListSessionsQuery& query) {
  if (!query.project_id.empty() && view.project_id != query.project_id) return false;
  if (query.states.empty()) {
    if (view.state == SessionState::kReplaced) return false;
  } else if (std::find(query.states.begin(), query.states.end(), view.state) ==
             query.states.end()) {
    return false;
  }
  for (const auto& [name, value] : query.labels) {
    const auto it = view.labels.find(name);
    if (it == view.labels.end() || it->second != value) return false;
  }
  return true;
}

// Such a stream would wait for ever.
absl::Status OutsideScope() {
  return MakeError("SCOPE_MISMATCH",
                   "The turn of until_turn_id does not belong to the session or project of the "
                   "stream; subscribe to its own.");
}

}  // namespace

awaitable<std::optional<FoundTurn>> SessionManager::Impl::LookUpTurn(TurnQuery query) {
  const auto delivery = std::make_shared<Delivery<std::optional<FoundTurn>>>(core.deps.loop);
  core.deps.store->FindTurn(std::move(query), DeliverTo(delivery));
  const SteadyTime never = SteadyTime::max();
  co_await Arrive(delivery, never);
  co_return std::move(*delivery->value);
}

awaitable<bool> SessionManager::Impl::SettleAnswer(CallPtr call, SessionPtr session) {
  const SteadyTime deadline = CommitDeadline(call);
  for (;;) {
    const SteadyTime look = std::min(deadline, std::chrono::steady_clock::now() + kStoreLook);
    const bool settled = co_await session->recorder().Settled(look);
    const bool refused = !settled && std::chrono::steady_clock::now() < look;
    if (settled || refused || look == deadline || !core.deps.store->health().ok())
      co_return settled;
  }
}

absl::Status SessionManager::Impl::StoreTrouble() const {
  const absl::Status health = core.deps.store->health();
  return health.ok() ? StoreLate() : health;
}

awaitable<absl::StatusOr<SessionView>> SessionManager::Impl::SettledView(CallPtr call,
                                                                         SessionPtr session) {
  SessionView view = session->View();
  const SteadyTime deadline = CommitDeadline(call);
  const bool settled = co_await SettleAnswer(call, session);
  if (!settled) co_return OfSession(StoreTrouble(), view.session_id);
  for (const uint64_t seq : view.open_question_seqs) {
    const auto delivery = std::make_shared<Delivery<std::string>>(core.deps.loop);
    const std::function<void(std::string)> deliver = DeliverTo(delivery);
    core.deps.log->ReadEvent(view.session_id, seq,
                             [deliver](uint64_t, std::string bytes) { deliver(std::move(bytes)); });
    const bool arrived = co_await Arrive(delivery, deadline);
    if (!arrived) co_return OfSession(StoreLate(), view.session_id);
    view.open_question_events.push_back(std::move(*delivery->value));
  }
  co_return view;
}

awaitable<absl::StatusOr<TurnView>> SessionManager::Impl::GetTurn(CallPtr call, TurnQuery query,
                                                                  WaitFor wait_for) {
  TurnPtr turn;
  if (!query.turn_id.empty()) {
    const auto it = core.turns.find(query.turn_id);
    if (it != core.turns.end()) turn = it->second;
  } else {
    const auto it = core.requests.find({query.project_id, query.request_id});
    if (it != core.requests.end()) turn = it->second;
  }
  if (!turn) {
    const std::optional<FoundTurn> found = co_await LookUpTurn(std::move(query));
    if (!found || found->row.setup_only) co_return NoSuchTurn();
    co_return ViewOf(*found);
  }
  if (turn->row.setup_only) co_return NoSuchTurn();
  if (wait_for != WaitFor::kUnspecified) {
    const bool waited = co_await WaitForTurn(call, turn, wait_for);
    if (!waited) {
      co_return ShuttingDownWith("the turn is kept: ask GetTurn again when acpd is back.",
                                 turn->row.session_id, turn->row.turn_id);
    }
  }
  TurnView view = turn->View();
  const auto it = core.sessions.find(turn->row.session_id);
  if (it != core.sessions.end()) {
    const SessionPtr session = it->second;
    const bool settled = co_await session->recorder().Settled(CommitDeadline(call));
    if (!settled) {
      absl::Status late = StoreLate();
      AttachIds(late, view.session_id, view.turn_id);
      co_return late;
    }
  }
  view.after_position = turn->after_position;
  co_return view;
}

awaitable<absl::StatusOr<TurnPage>> SessionManager::Impl::ListTurns(CallPtr call,
                                                                    TurnListQuery query) {
  if (!query.session_id.empty()) {
    const absl::StatusOr<SessionPtr> session = FindSession(query.session_id);
    if (!session.ok()) co_return session.status();
  }
  TurnPage page;
  page.as_of_position = core.deps.log->newest_position();
  const uint32_t limit = query.limit;
  query.limit = limit + 1;
  const auto delivery = std::make_shared<Delivery<std::vector<FoundTurn>>>(core.deps.loop);
  core.deps.store->ListTurns(std::move(query), DeliverTo(delivery));
  const bool arrived = co_await Arrive(delivery, call->deadline);
  if (!arrived) co_return StoreLate();
  for (const FoundTurn& found : *delivery->value) {
    if (page.turns.size() == limit) {
      page.more = true;
      break;
    }
    page.turns.push_back(ViewOf(found));
  }
  co_return page;
}

awaitable<absl::StatusOr<SessionView>> SessionManager::Impl::GetSession(CallPtr call,
                                                                        std::string session_id) {
  const absl::StatusOr<SessionPtr> session = FindSession(session_id);
  if (!session.ok()) co_return session.status();
  absl::StatusOr<SessionView> view = co_await SettledView(call, *session);
  co_return view;
}

awaitable<absl::StatusOr<SessionPage>> SessionManager::Impl::ListSessions(CallPtr call,
                                                                          ListSessionsQuery query) {
  SessionPage page;
  page.as_of_position = core.deps.log->newest_position();
  std::vector<SessionPtr> matching;
  for (const auto& [id, session] : core.sessions) {
    const SessionRow& row = session->row();
    if (!session->known()) continue;
    const bool behind = query.before_time == 0 || row.create_time < query.before_time ||
                        (row.create_time == query.before_time && id < query.before_session_id);
    if (behind && Matches(session->View(), query)) matching.push_back(session);
  }
  std::sort(matching.begin(), matching.end(), [](const SessionPtr& a, const SessionPtr& b) {
    return std::tie(a->row().create_time, a->row().session_id) >
           std::tie(b->row().create_time, b->row().session_id);
  });
  page.more = matching.size() > query.limit;
  if (page.more) matching.resize(query.limit);
  for (const SessionPtr& session : matching) {
    absl::StatusOr<SessionView> view = co_await SettledView(call, session);
    if (!view.ok()) co_return view.status();
    page.sessions.push_back(std::move(*view));
  }
  co_return page;
}

// Whether the turn's end comes in this scope, wherever it moves.
bool SessionManager::Impl::InScope(const TurnRow& turn, const LogScope& scope) const {
  if (scope.kind == LogScope::Kind::kEverything) return true;
  if (scope.kind == LogScope::Kind::kProject) return turn.project_id == scope.id;
  const absl::StatusOr<SessionPtr> asked = FollowSession(scope.id, "");
  const absl::StatusOr<SessionPtr> home = FollowSession(turn.session_id, "");
  return turn.session_id == scope.id || (asked.ok() && home.ok() && *asked == *home);
}

awaitable<absl::StatusOr<SubscriptionPlan>> SessionManager::Impl::PlanSubscription(
    CallPtr, SubscriptionQuery query) {
  SubscriptionPlan plan;
  plan.scope = query.scope;
  if (query.scope.kind == LogScope::Kind::kSession) {
    const auto it = core.sessions.find(query.scope.id);
    if (it == core.sessions.end() ||
        (!it->second->row().ready_once && it->second->UnfinishedTurns().empty() &&
         it->second->row().replaced_by.empty())) {
      co_return NoSuchSession(query.scope.id);
    }
  }
  for (const auto& [id, session] : core.sessions) {
    if (plan.scope.kind == LogScope::Kind::kProject && session->row().project_id != plan.scope.id)
      continue;
    if (plan.scope.kind == LogScope::Kind::kSession) {
      const absl::StatusOr<SessionPtr> current = FollowSession(plan.scope.id, "");
      if (!current.ok() || *current != session) continue;
    }
    for (const uint64_t seq : session->OpenQuestionSeqs())
      plan.open_questions.emplace_back(id, seq);
  }
  for (const std::string& turn_id : {query.until_turn_id, query.turn_id}) {
    if (turn_id.empty()) continue;
    std::optional<TurnRow> row;
    const auto it = core.turns.find(turn_id);
    const bool in_memory = it != core.turns.end();
    if (in_memory) {
      row = it->second->row;
    } else {
      TurnQuery by_id;
      by_id.turn_id = turn_id;
      const std::optional<FoundTurn> found = co_await LookUpTurn(std::move(by_id));
      if (found) row = found->row;
    }
    if (!row || row->setup_only) co_return NoSuchTurn();
    if (turn_id != query.until_turn_id) continue;
    if (!InScope(*row, query.scope)) co_return OutsideScope();
    plan.until_turn_ended = !in_memory;
  }
  co_return plan;
}

}  // namespace acpd::session
