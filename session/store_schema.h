#ifndef ACPD_SESSION_STORE_SCHEMA_H_
#define ACPD_SESSION_STORE_SCHEMA_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "session/sqlite.h"

// The tables of the store and how older files become newer ones.
namespace acpd::session {

// What `PRAGMA user_version` says after all migrations.
int NewestSchemaVersion();

// The store's file in `state_dir`.
std::string DatabasePath(const std::string& state_dir);

// The one writing connection: makes the file (0600) and its tables where missing, and migrates.
// FAILED_PRECONDITION with a sentence that says what to do when the file is damaged or was made by
// a newer acpd.
absl::StatusOr<std::unique_ptr<Database>> OpenForWriting(const std::string& path);
// A connection of the checkpointer, which writes the file but no rows.
absl::StatusOr<std::unique_ptr<Database>> OpenForCheckpoints(const std::string& path);
absl::StatusOr<std::unique_ptr<Database>> OpenForReading(const std::string& path);

// Turns DATA_LOSS into the FAILED_PRECONDITION above; others pass.
absl::Status ExplainDamage(const absl::Status& status, const std::string& path);

}  // namespace acpd::session

#endif  // ACPD_SESSION_STORE_SCHEMA_H_
