#ifndef ACPD_SESSION_STORE_ROWS_H_
#define ACPD_SESSION_STORE_ROWS_H_

#include <string>
#include <string_view>

#include "session/sqlite.h"
#include "session/store.h"

// The rows of store.h as columns of their tables. Each row type has one list of columns, used for
// the SQL, for binding and for reading alike.
namespace acpd::session {

// "INSERT INTO table(...) VALUES(...) ON CONFLICT(key) DO UPDATE SET ..." over the row's columns in
// their order.
template <class Row>
std::string UpsertSql();
// The row's columns, for SELECT.
template <class Row>
std::string ColumnsSql();
// Turns as lists show them: the prompt's first 1,024 characters, and no stored request.
std::string TurnListColumnsSql();

// Runs an UpsertSql statement.
template <class Row>
bool Upsert(Statement& statement, const Row& row);
// Reads a row whose columns begin at column 0. A blob that cannot be read fails the database with
// DATA_LOSS.
template <class Row>
Row ReadRow(Statement& statement);

}  // namespace acpd::session

#endif  // ACPD_SESSION_STORE_ROWS_H_
