#ifndef ACPD_ACP_FIELD_READER_H_
#define ACPD_ACP_FIELD_READER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "acp/json_value.h"

// How the readers of what agents send go about it: for the sources of acp/ alone.
namespace acpd::acp {

// The members of an object that an agent sent. Reads on after a field that is not as it has to be:
// status() is about the first one. The text must outlive it. Not thread-safe.
class FieldReader {
 public:
  // `what` names the object in sentences ("answer to initialize").
  FieldReader(std::string_view json, std::string_view what);

  JsonValue Get(std::string_view name) const { return object_.Get(name); }
  const JsonObject& object() const { return object_; }

  // Required ones.
  std::string String(std::string_view name);
  JsonValue Object(std::string_view name);
  JsonValue Array(std::string_view name);
  // Those that may be absent or null, but not of another type.
  std::string StringOrNull(std::string_view name);
  std::optional<uint64_t> CountOrNull(std::string_view name);

  void Refuse(std::string_view name, std::string_view wanted);
  const absl::Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }

 private:
  std::string what_;
  JsonObject object_;
  absl::Status status_;
};

// For what is optional as a whole: no object is one without members.
JsonObject AnyObject(std::string_view json);

}  // namespace acpd::acp

#endif  // ACPD_ACP_FIELD_READER_H_
