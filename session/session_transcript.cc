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

// What one session's log gives, newest first, until `wanted` bytes of text are found.
awaitable<void> ReadTalks(Core& core, std::string session_id, std::set<std::string> unfinished,
                          size_t wanted, std::vector<StoredTalk>* talks) {
  SessionRange range;
  range.session_id = std::move(session_id);
  range.descending = true;
  size_t found = 0;
  for (size_t looked_at = 0; found < wanted && looked_at < wanted * kLookBack;) {
    const SessionRows page = co_await ReadRange(core, range, kTalkPage);
    if (page.rows.empty()) break;
    for (const LogRowPtr& row : page.rows) looked_at += row->bytes.size();
    range.before_seq = page.rows.back()->first_seq;
    std::function<std::vector<StoredTalk>()> decode = [codec = core.deps.codec, rows = page.rows] {
      return DecodeBackwards(*codec, rows);
    };
    std::vector<StoredTalk> read =
        co_await OnPool<std::vector<StoredTalk>>(*core.deps.pool, std::move(decode));
    for (StoredTalk& talk : read) {
      if (unfinished.contains(talk.turn_id)) continue;
      found += talk.text.size() + talk.title.size();
      talks->push_back(std::move(talk));
    }
    if (range.before_seq <= 1) break;
  }
}

}  // namespace

// Turns that have not ended are not part of it: they go on in the session that stands in. Where
// this session stands in for another one itself, what was passed on to it is passed on again.
awaitable<std::string> Session::ReadTranscript() {
  const auto self = shared_from_this();
  std::set<std::string> unfinished;
  for (const TurnPtr& turn : UnfinishedTurns()) unfinished.insert(turn->row.turn_id);
  const size_t wanted = core_.config().limits.transcript_bytes;
  std::vector<StoredTalk> talks;  // newest first
  SessionRow row = row_;
  for (;;) {
    const std::string session_id = row.session_id;
    co_await ReadTalks(core_, session_id, unfinished, wanted, &talks);
    const auto before = core_.sessions.find(row.origin.requested_session_id);
    if (!row.origin.transcript_injected || before == core_.sessions.end()) break;
    row = before->second->row();
    if (talks.size() > kMostTalks) break;
  }
  Transcript transcript(wanted);
  for (auto talk = talks.rbegin(); talk != talks.rend(); ++talk) transcript.Add(*talk);
  co_return transcript.Text();
}

}  // namespace acpd::session
