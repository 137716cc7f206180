#ifndef ACPD_SESSION_SQLITE_H_
#define ACPD_SESSION_SQLITE_H_

#include <sqlite3.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// A thin RAII layer over the SQLite C API. It knows no table. Errors stick to the database: once a
// call failed, the following ones do nothing until TakeStatus(), so a transaction is written
// straight down and asked once, at its end.
namespace acpd::session {

// FULL: RESOURCE_EXHAUSTED. What may pass by itself (IOERR, BUSY, LOCKED, READONLY, CANTOPEN, NOMEM
// ...): UNAVAILABLE. A damaged file: DATA_LOSS. All else: INTERNAL.
absl::Status SqliteStatus(int code, const std::string& what);
// True for the first two kinds: the same transaction can be tried again.
bool IsTransient(const absl::Status& status);

// One connection. One thread at a time.
class Database {
 public:
  // `flags`: SQLITE_OPEN_READWRITE, _READONLY, _CREATE.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path, int flags);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  bool Exec(const char* sql);
  // The first column of the first row; 0 without one.
  int64_t QueryInt(const char* sql);
  bool in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

  bool ok() const { return status_.ok(); }
  // The first error since the last call, which it forgets.
  absl::Status TakeStatus();
  void Fail(absl::Status status);
  sqlite3* handle() { return handle_; }

 private:
  friend class Statement;
  explicit Database(sqlite3* handle) : handle_(handle) {}
  void Note(int code, const char* sql);

  sqlite3* const handle_;
  absl::Status status_;
};

struct Blob {
  std::string_view bytes;
};

// One prepared statement. Bound text and blobs are not copied: they must outlive the run (see
// BindCopy). Lives shorter than its database.
class Statement {
 public:
  Statement(Database& db, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Binds ?1, ?2 ... anew.
  template <class... T>
  Statement& Bind(const T&... values) {
    Reset();
    int index = 0;
    (BindAt(++index, values), ...);
    return *this;
  }
  template <class... T>
  bool Run(const T&... values) {
    Bind(values...);
    return Finish();
  }
  // Steps to the next row; false at the end and on an error. At the end the statement is reset.
  bool Next();
  // Steps to the end, without rows.
  bool Finish();
  // Ends the statement's read transaction, if it was left before its end.
  void Reset();

  template <std::integral T>
  void BindAt(int index, T value) {
    BindInt(index, static_cast<int64_t>(value));
  }
  void BindAt(int index, double value);
  void BindAt(int index, std::string_view text);
  void BindAt(int index, Blob blob);
  void BindNull(int index);
  void BindCopy(int index, Blob blob);

  // Columns of the row stepped to, from 0. The views hold until the next step.
  int64_t Int(int column) { return sqlite3_column_int64(handle_, column); }
  uint64_t UInt(int column) { return static_cast<uint64_t>(Int(column)); }
  double Double(int column) { return sqlite3_column_double(handle_, column); }
  bool IsNull(int column) { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }
  std::string_view Bytes(int column);
  std::string Text(int column) { return std::string(Bytes(column)); }

  Database& db() { return db_; }

 private:
  void BindInt(int index, int64_t value);
  void Check(int code);

  Database& db_;
  sqlite3_stmt* handle_ = nullptr;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_SQLITE_H_
