#include "session/recorder.h"

#include <memory>
#include <utility>

#include "session/core.h"

namespace acpd::session {

Recorder::Recorder(Core& core, std::string session_id, std::string project_id, uint64_t newest_seq)
    : core_(core),
      session_id_(std::move(session_id)),
      project_id_(std::move(project_id)),
      newest_seq_(newest_seq),
      committed_signal_(core.deps.loop) {}

void Recorder::Continue(Recorder& before) {
  before.Flush();
  newest_seq_ = before.newest_seq_;
  number_ = committed_ = before.number_;
}

EventHeader Recorder::NextHeader(std::string_view turn_id) {
  EventHeader header;
  header.seq = ++newest_seq_;
  header.project_id = project_id_;
  header.session_id = session_id_;
  header.turn_id = turn_id;
  header.time = core_.now();
  return header;
}

template <typename Event>
void Recorder::EncodeInto(const EventHeader& header, const Event& event) {
  EventBatch& batch = pending_.events;
  if (batch.empty()) batch.first_seq = header.seq;
  core_.deps.codec->Encode(header, event, batch.bytes);
  batch.ends.push_back(static_cast<uint32_t>(batch.bytes.size()));
}

template void Recorder::EncodeInto(const EventHeader&, const SessionUpdateEvent&);
template void Recorder::EncodeInto(const EventHeader&, const TurnQueuedEvent&);
template void Recorder::EncodeInto(const EventHeader&, const TurnStartedEvent&);
template void Recorder::EncodeInto(const EventHeader&, const TurnEndedEvent&);
template void Recorder::EncodeInto(const EventHeader&, const PermissionRequestedEvent&);
template void Recorder::EncodeInto(const EventHeader&, const ElicitationRequestedEvent&);
template void Recorder::EncodeInto(const EventHeader&, const TerminalOutputEvent&);
template void Recorder::EncodeInto(const EventHeader&, const FileAccessEvent&);
template void Recorder::EncodeInto(const EventHeader&, const QuestionResolvedEvent&);
template void Recorder::EncodeInto(const EventHeader&, const SessionReadyEvent&);
template void Recorder::EncodeInto(const EventHeader&, const SessionReplacedEvent&);
template void Recorder::EncodeInto(const EventHeader&, const SessionClosedEvent&);
template void Recorder::EncodeInto(const EventHeader&, const WorkerExitedEvent&);
template void Recorder::EncodeInto(const EventHeader&, const NoticeEvent&);
template void Recorder::EncodeInto(const EventHeader&, const SessionCreatedEvent&);
template void Recorder::EncodeInto(const EventHeader&, const SessionChangedEvent&);
template void Recorder::EncodeInto(const EventHeader&, const SessionDeletedEvent&);

bool Recorder::Dirty() const {
  const Record& r = pending_;
  return r.session || !r.turns.empty() || !r.questions.empty() || r.worker ||
         !r.removed_worker.empty() || !r.agent_requests.empty() || !r.answered_requests.empty() ||
         !r.terminals.empty() || !r.released_terminals.empty() || !r.outbox.empty() ||
         r.stdin_done != 0 || !r.link_worker.empty() || !r.events.empty() || r.forget_session ||
         !pending_done_.empty();
}

std::pair<Record, Recorder::Done> Recorder::Take() {
  Record record = std::move(pending_);
  pending_ = Record();
  record.session_id = session_id_;
  record.generation = core_.deps.store->generation();
  record.number = ++number_;
  auto done = std::make_shared<std::vector<Done>>(std::move(pending_done_));
  pending_done_.clear();
  return {std::move(record), [this, keep = owner_.lock(), number = number_, done](
                                 const CommitResult& result) { Finished(number, result, *done); }};
}

void Recorder::Flush() {
  if (in_chunk_ || !refused_.ok() || !Dirty()) return;
  auto [record, done] = Take();
  std::vector<Record> group;
  group.push_back(std::move(record));
  core_.deps.store->Commit(std::move(group), std::move(done));
}

void Recorder::Finished(uint64_t number, const CommitResult& result, std::vector<Done>& done) {
  committed_ = number;
  for (Done& callback : done) callback(result);
  if (result.status.ok()) {
    refused_before_ = false;
  } else {
    Refused(result);
  }
  committed_signal_.Notify();
  core_.room.Notify();
}

// What was gathered since builds on what was refused, and so do the records under way: the store
// refuses them too.
void Recorder::Refused(const CommitResult& result) {
  ++refusals_;  // each time: who has begun to wait since the first one waits in vain, too
  if (refused_.ok()) refused_ = result.status;
  DropPending();
  // Another acpd has the store, or it was closed first: there is nothing to go on with.
  if (absl::IsAborted(result.status) || absl::IsUnavailable(result.status)) return;
  if (committed_ < number_) return;
  for (const CommitResult::Standing& standing : result.standings) {
    if (standing.session_id != session_id_) continue;
    number_ = committed_ = standing.committed_number;
    newest_seq_ = standing.committed_seq;
    const absl::Status why = std::exchange(refused_, absl::OkStatus());
    const bool again = std::exchange(refused_before_, true);
    if (on_refused_) on_refused_(why, again);
    return;
  }
}

void Recorder::DropPending() {
  pending_ = Record();
  const std::vector<Done> dropped = std::exchange(pending_done_, {});
  for (const Done& callback : dropped) callback({refused_, 0});
}

awaitable<bool> Recorder::Settled(SteadyTime deadline) {
  // After the last refusal, when the store is closed or another's, nothing comes any more.
  if (!refused_.ok() && committed_ == number_) co_return false;
  Flush();
  // What is gathered in a chunk becomes the next record.
  const uint64_t wanted = number_ + (Dirty() ? 1 : 0);
  const uint64_t refusals = refusals_;
  while (committed_ < wanted && refusals_ == refusals) {
    const bool notified = co_await committed_signal_.Wait(deadline);
    if (!notified) co_return false;
  }
  co_return refused_.ok() && refusals_ == refusals;
}

}  // namespace acpd::session
