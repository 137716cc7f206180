#include "session/sqlite.h"

#include "absl/strings/str_cat.h"

namespace acpd::session {
namespace {

absl::StatusCode CodeOf(int code) {
  switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
      return absl::StatusCode::kOk;
    case SQLITE_FULL:
      return absl::StatusCode::kResourceExhausted;
    case SQLITE_IOERR:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_NOMEM:
    case SQLITE_PROTOCOL:
      return absl::StatusCode::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::StatusCode::kDataLoss;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::Status SqliteStatus(int code, const std::string& what) {
  return absl::Status(CodeOf(code), absl::StrCat("SQLite error ", code, ": ", what));
}

bool IsTransient(const absl::Status& status) {
  return absl::IsResourceExhausted(status) || absl::IsUnavailable(status);
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::string& path, int flags) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) {
    absl::Status status = SqliteStatus(code, handle ? sqlite3_errmsg(handle) : path.c_str());
    sqlite3_close_v2(handle);
    return status;
  }
  sqlite3_extended_result_codes(handle, 1);
  return std::unique_ptr<Database>(new Database(handle));
}

Database::~Database() { sqlite3_close_v2(handle_); }

bool Database::Exec(const char* sql) {
  if (ok()) Note(sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr), sql);
  return ok();
}

int64_t Database::QueryInt(const char* sql) {
  Statement statement(*this, sql);
  const int64_t value = statement.Next() ? statement.Int(0) : 0;
  statement.Reset();
  return value;
}

absl::Status Database::TakeStatus() {
  absl::Status status = std::move(status_);
  status_ = absl::OkStatus();
  return status;
}

void Database::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

void Database::Note(int code, const char* sql) {
  if (CodeOf(code) == absl::StatusCode::kOk || !status_.ok()) return;
  status_ = SqliteStatus(code, absl::StrCat(sqlite3_errmsg(handle_), " (", sql ? sql : "", ")"));
}

Statement::Statement(Database& db, std::string_view sql) : db_(db) {
  if (!db_.ok()) return;
  const int code = sqlite3_prepare_v3(db_.handle_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &handle_, nullptr);
  db_.Note(code, std::string(sql).c_str());
}

Statement::~Statement() { sqlite3_finalize(handle_); }

void Statement::Check(int code) {
  if (code != SQLITE_OK) db_.Note(code, sqlite3_sql(handle_));
}

bool Statement::Next() {
  if (handle_ == nullptr) db_.Fail(absl::InternalError("a statement was not prepared"));
  if (!db_.ok()) return false;
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  Check(code);
  Reset();
  return false;
}

bool Statement::Finish() {
  while (Next()) {
  }
  return db_.ok();
}

// sqlite3_reset repeats the error of the step, which is noted already.
void Statement::Reset() {
  if (handle_ != nullptr) sqlite3_reset(handle_);
}

void Statement::BindInt(int index, int64_t value) {
  if (db_.ok()) Check(sqlite3_bind_int64(handle_, index, value));
}

void Statement::BindAt(int index, double value) {
  if (db_.ok()) Check(sqlite3_bind_double(handle_, index, value));
}

void Statement::BindAt(int index, std::string_view text) {
  // A null pointer would bind NULL.
  const char* data = text.data() == nullptr ? "" : text.data();
  if (db_.ok()) {
    Check(sqlite3_bind_text64(handle_, index, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
  }
}

void Statement::BindAt(int index, Blob blob) {
  const char* data = blob.bytes.data() == nullptr ? "" : blob.bytes.data();
  if (db_.ok()) Check(sqlite3_bind_blob64(handle_, index, data, blob.bytes.size(), SQLITE_STATIC));
}

void Statement::BindCopy(int index, Blob blob) {
  const char* data = blob.bytes.data() == nullptr ? "" : blob.bytes.data();
  if (db_.ok()) {
    Check(sqlite3_bind_blob64(handle_, index, data, blob.bytes.size(), SQLITE_TRANSIENT));
  }
}

void Statement::BindNull(int index) {
  if (db_.ok()) Check(sqlite3_bind_null(handle_, index));
}

std::string_view Statement::Bytes(int column) {
  const void* data = sqlite3_column_blob(handle_, column);
  const int size = sqlite3_column_bytes(handle_, column);
  return data == nullptr ? std::string_view()
                         : std::string_view(static_cast<const char*>(data), size);
}

}  // namespace acpd::session
