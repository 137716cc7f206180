#include "session/store_meta.h"

#include <algorithm>
#include <fstream>

#include "absl/strings/escaping.h"
#include "session/names.h"

namespace acpd::session {
namespace {

constexpr size_t kEpochBytes = 6;
constexpr size_t kStoreIdBytes = 6;  // short: it is part of socket paths, which have 107 bytes
constexpr size_t kKeyBytes = 32;

std::string RandomHex(size_t bytes) { return absl::BytesToHexString(RandomBytes(bytes)); }

void MakeMeta(Database& db, const std::string& boot_id) {
  Statement insert(db,
                   "INSERT INTO meta(id, epoch, store_id, generation, fingerprint_key, clean_stop, "
                   "boot_id, kept_position) VALUES(1, ?, ?, 0, ?, 1, ?, 0)");
  const std::string key = RandomBytes(kKeyBytes);
  insert.Run(RandomHex(kEpochBytes), RandomHex(kStoreIdBytes), Blob{key}, boot_id);
}

uint64_t NewestPosition(Database& db) {
  const int64_t stored = db.QueryInt(
      "SELECT first_position + count - 1 FROM events ORDER BY first_position DESC LIMIT 1");
  const int64_t kept = db.QueryInt("SELECT kept_position FROM meta");
  return static_cast<uint64_t>(std::max(stored, kept));
}

void EndEpoch(Database& db, StoreMeta& meta) {
  Statement keep(db, "INSERT INTO epochs(epoch, end_position) VALUES(?, ?)");
  keep.Run(meta.epoch, meta.newest_position);
  meta.epoch = RandomHex(kEpochBytes);
  Statement update(db, "UPDATE meta SET epoch = ?");
  update.Run(meta.epoch);
}

}  // namespace

std::string BootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

absl::StatusOr<StoreMeta> OpenMeta(Database& db, const std::string& boot_id) {
  StoreMeta meta;
  db.Exec("PRAGMA synchronous = FULL");
  db.Exec("BEGIN IMMEDIATE");
  if (db.QueryInt("SELECT count(*) FROM meta") == 0) MakeMeta(db, boot_id);
  bool host_went_down = false;
  {
    Statement row(
        db, "SELECT epoch, store_id, fingerprint_key, generation, clean_stop, boot_id FROM meta");
    if (row.Next()) {
      meta.epoch = row.Text(0);
      meta.store_id = row.Text(1);
      meta.fingerprint_key = row.Text(2);
      meta.generation = row.UInt(3);
      host_went_down = row.Int(4) == 0 && row.Text(5) != boot_id;
    }
  }
  meta.newest_position = NewestPosition(db);
  if (host_went_down) EndEpoch(db, meta);
  db.Exec("COMMIT");
  if (absl::Status status = db.TakeStatus(); !status.ok()) return status;
  return meta;
}

absl::StatusOr<uint64_t> RaiseGeneration(Database& db, const std::string& boot_id) {
  db.Exec("PRAGMA synchronous = FULL");
  db.Exec("BEGIN IMMEDIATE");
  {
    Statement raise(db, "UPDATE meta SET generation = generation + 1, clean_stop = 0, boot_id = ?");
    raise.Run(boot_id);
  }
  const int64_t generation = db.QueryInt("SELECT generation FROM meta");
  db.Exec("COMMIT");
  if (absl::Status status = db.TakeStatus(); !status.ok()) return status;
  return static_cast<uint64_t>(generation);
}

absl::Status MarkCleanStop(Database& db) {
  db.Exec("PRAGMA synchronous = FULL");
  db.Exec("UPDATE meta SET clean_stop = 1");
  return db.TakeStatus();
}

}  // namespace acpd::session
