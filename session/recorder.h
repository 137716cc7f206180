#ifndef ACPD_SESSION_RECORDER_H_
#define ACPD_SESSION_RECORDER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acp/signal.h"
#include "session/events.h"
#include "session/store.h"

namespace acpd::session {

struct Core;

// Gathers what one session changes into the next Record and hands it to the store. While a chunk of
// the agent's output is being handled nothing is flushed, so that the events, the changes they
// cause and the consumed offset stand in one transaction. Loop thread only. Owned by its session.
class Recorder {
 public:
  using Done = std::function<void(const CommitResult&)>;

  Recorder(Core& core, std::string session_id, std::string project_id, uint64_t newest_seq);
  // Goes on where the recorder of an earlier owner of the same id stopped.
  void Continue(Recorder& before);
  // The owner is kept alive until what was handed over is committed.
  void SetOwner(std::weak_ptr<void> owner) { owner_ = std::move(owner); }
  // Called when the store has refused a record, and all that built on it are gone: what is recorded
  // from then on follows the last committed one. `again`: nothing was committed since the last
  // call, so that it is no use to hand over the same at once. Not when the store was closed.
  using OnRefused = std::function<void(const absl::Status& why, bool again)>;
  void SetOnRefused(OnRefused on_refused) { on_refused_ = std::move(on_refused); }

  // Appends an event to the session's log; returns its seq.
  template <typename Event>
  uint64_t Append(std::string_view turn_id, const Event& event) {
    const EventHeader header = NextHeader(turn_id);
    EncodeInto(header, event);
    return header.seq;
  }
  // The record that is being gathered: rows are added to it directly.
  Record& pending() { return pending_; }
  // Runs when what is pending now has been committed (or refused).
  void WhenCommitted(Done done) { pending_done_.push_back(std::move(done)); }

  void BeginChunk() { in_chunk_ = true; }
  void EndChunk() { in_chunk_ = false; }
  bool in_chunk() const { return in_chunk_; }
  // Hands the pending record over, unless it is empty or a chunk is being handled.
  void Flush();
  // Takes the pending record and its callbacks, to be committed in a group with another session's.
  std::pair<Record, Done> Take();
  // Waits until everything recorded so far is committed. False: the deadline came first, or the
  // store refused it.
  awaitable<bool> Settled(SteadyTime deadline);

  const std::string& project_id() const { return project_id_; }
  uint64_t newest_seq() const { return newest_seq_; }

 private:
  EventHeader NextHeader(std::string_view turn_id);
  template <typename Event>
  void EncodeInto(const EventHeader& header, const Event& event);
  bool Dirty() const;
  void Finished(uint64_t number, const CommitResult& result, std::vector<Done>& done);
  void Refused(const CommitResult& result);
  void DropPending();

  Core& core_;
  std::weak_ptr<void> owner_;
  std::string session_id_, project_id_;
  uint64_t newest_seq_;
  uint64_t number_ = 0;  // of the last record handed over
  uint64_t committed_ = 0;
  bool in_chunk_ = false;
  Record pending_;
  std::vector<Done> pending_done_;
  Signal committed_signal_;
  OnRefused on_refused_;
  absl::Status refused_;         // not OK while records that built on a refused one are under way
  uint64_t refusals_ = 0;        // since the start
  bool refused_before_ = false;  // on_refused_ was called, and nothing was committed since
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_RECORDER_H_
