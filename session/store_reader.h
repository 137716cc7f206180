#ifndef ACPD_SESSION_STORE_READER_H_
#define ACPD_SESSION_STORE_READER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "session/event_log.h"
#include "session/sqlite.h"
#include "session/store.h"

namespace acpd::session {

// What is committed, read over a connection that cannot write. Each call is a read transaction of
// its own. One thread at a time.
class StoreReader {
 public:
  static absl::StatusOr<std::unique_ptr<StoreReader>> Open(const std::string& path);
  explicit StoreReader(std::unique_ptr<Database> db);

  // The rows of `scope` that hold events behind `after`, none that begins behind `through`: at most
  // `max_bytes`, but at least one if there is one. And what retention took behind `after`.
  struct LogPage {
    std::vector<LogRowPtr> rows;
    std::vector<LostEvents> lost;
  };
  absl::StatusOr<LogPage> Page(const LogScope& scope, uint64_t after, uint64_t through,
                               size_t max_bytes);
  // The rows of `range`, whose bounds are both set, in its order: at most `max_bytes`, but at least
  // one if there is one.
  absl::StatusOr<std::vector<LogRowPtr>> SessionRowsOf(const SessionRange& range, size_t max_bytes);
  struct Event {
    uint64_t position = 0;  // 0: not stored
    std::string bytes;
  };
  Event ReadEvent(const std::string& session_id, uint64_t seq);
  uint64_t Locate(const std::string& session_id, uint64_t seq);

  std::optional<FoundTurn> FindTurn(const TurnQuery& query);
  std::vector<FoundTurn> ListTurns(const TurnListQuery& query);
  std::optional<QuestionRow> FindQuestion(const std::string& session_id,
                                          const std::string& question_id);

 private:
  std::vector<LostEvents> LostBehind(const LogScope& scope, uint64_t after);
  uint64_t ForgottenBelow(const std::string& session_id);
  std::map<std::string, uint64_t> AllForgotten();
  uint64_t SeekSeq(const std::string& session_id, uint64_t after);
  std::optional<uint64_t> SeqAtPosition(const std::string& session_id, uint64_t position);
  uint64_t RowBeginOf(const std::string& session_id, uint64_t seq);
  void AddPositions(std::vector<FoundTurn>& turns);

  std::unique_ptr<Database> db_;
  Statement begin_, end_;
  Statement page_of_all_, page_of_project_, page_of_session_, cuts_;
  Statement forwards_, backwards_;
  Statement forgotten_below_, all_forgotten_;
  Statement row_at_position_, row_at_seq_, event_at_seq_, first_row_, last_row_;
  Statement turn_by_id_, turn_by_request_, question_;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_STORE_READER_H_
