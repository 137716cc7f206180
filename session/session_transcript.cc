// Our record of what was said in this session, for the one that stands in.
#include <functional>
#include <set>
#include <utility>

#include "session/log_reading.h"
#include "session/session.h"
#include "session/transcript.h"

namespace acpd::session {
namespace {

constexpr size_t kTalkPage = 256u << 10;
// A log is read from its end backwards, until there is enough; what lies further back than this
// many times the record's size (tool calls say much and give it little) is not looked at.
constexpr size_t kLookBack = 64;
constexpr size_t kMostTalks = 100'000;
// This session, and those before it whose record was passed on and on.
constexpr size_t kMostSessions = 16;

// What the record is made of, as it is read: all sessions together have the room of one.
struct RecordReading {
  size_t wanted = 0;  // bytes of text
  size_t found = 0, looked_at = 0;
  std::set<std::string> left_out;  // turns that go on elsewhere, or stand in a newer session's log
  std::vector<StoredTalk> talks;   // newest first

  bool Done() const {
    return found >= wanted || looked_at >= wanted * kLookBack || talks.size() > kMostTalks;
  }
};

// Newest first.
std::vector<StoredTalk> DecodeBackwards(const EventCodec& codec,
                                        const std::vector<LogRowPtr>& rows) {
  std::vector<StoredTalk> talks;
  for (const LogRowPtr& row : rows) {
    for (size_t i = row->size(); i-- > 0;) {
      StoredTalk talk = codec.DecodeTalk(row->event(i));
      if (talk.kind != StoredTalk::Kind::kNone) talks.push_back(std::move(talk));
    }
  }
  return talks;
}

// Adds what one session's log gives. A turn that was moved there stands in the log before it, too:
// that is left out.
awaitable<void> ReadTalks(Core& core, std::string session_id, RecordReading* reading) {
  SessionRange range;
  range.session_id = std::move(session_id);
  range.descending = true;
  std::set<std::string> turns;
  while (!reading->Done()) {
    const SessionRows page = co_await ReadRange(core, range, kTalkPage);
    if (page.rows.empty()) break;
    for (const LogRowPtr& row : page.rows) reading->looked_at += row->bytes.size();
    range.before_seq = page.rows.back()->first_seq;
    std::function<std::vector<StoredTalk>()> decode = [codec = core.deps.codec, rows = page.rows] {
      return DecodeBackwards(*codec, rows);
    };
    std::vector<StoredTalk> read =
        co_await OnPool<std::vector<StoredTalk>>(*core.deps.pool, std::move(decode));
    for (StoredTalk& talk : read) {
      if (reading->left_out.contains(talk.turn_id)) continue;
      reading->found += talk.text.size() + talk.title.size();
      if (!talk.turn_id.empty()) turns.insert(talk.turn_id);
      reading->talks.push_back(std::move(talk));
    }
    if (range.before_seq <= 1) break;
  }
  reading->left_out.merge(turns);
}

}  // namespace

// Turns that have not ended are not part of it: they go on in the session that stands in. Where
// this session was given a record itself, what that told is read again from where it came from: the
// record is no event, and stands in no log.
awaitable<std::string> Session::ReadTranscript() {
  const auto self = shared_from_this();
  RecordReading reading;
  reading.wanted = core_.config().limits.transcript_bytes;
  for (const TurnPtr& turn : UnfinishedTurns()) reading.left_out.insert(turn->row.turn_id);
  std::string session_id = row_.session_id;
  for (size_t i = 0; i < kMostSessions && !reading.Done(); ++i) {
    const auto found = core_.sessions.find(session_id);
    if (found == core_.sessions.end()) break;  // deleted
    const std::string before = found->second->row().transcript_of;
    co_await ReadTalks(core_, session_id, &reading);
    if (before.empty()) break;
    session_id = before;
  }
  Transcript transcript(reading.wanted);
  for (auto talk = reading.talks.rbegin(); talk != reading.talks.rend(); ++talk) {
    transcript.Add(*talk);
  }
  co_return transcript.Text();
}

}  // namespace acpd::session
