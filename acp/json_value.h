#ifndef ACPD_ACP_JSON_VALUE_H_
#define ACPD_ACP_JSON_VALUE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace acpd::acp {

class JsonObject;

// A JSON value as it stands in a text that somebody else owns: for the messages that are read
// rarely and whose parts are passed on verbatim. The getters say nullopt for a value of another
// type, so that a wrong type counts as absent. Not thread-safe.
class JsonValue {
 public:
  // Deeper texts are refused; lines are checked against the (configurable, lower) limit before.
  static constexpr size_t kMaxDepth = 1024;

  JsonValue() = default;  // absent
  // Checks the whole text; nullopt when it is no JSON, not UTF-8 or too deep.
  static std::optional<JsonValue> Parse(std::string_view text);

  std::string_view raw() const { return raw_; }  // empty: absent
  bool IsNull() const { return raw_ == "null"; }
  bool IsObject() const { return raw_.starts_with('{'); }
  bool IsArray() const { return raw_.starts_with('['); }

  std::optional<std::string> String() const;
  std::optional<bool> Bool() const;
  std::optional<int64_t> Int() const;
  std::optional<uint64_t> Uint() const;
  std::optional<double> Double() const;
  JsonObject Members() const;            // no object: none
  std::vector<JsonValue> Items() const;  // no array: none

 private:
  friend class JsonObject;
  explicit JsonValue(std::string_view raw) : raw_(raw) {}

  std::string_view raw_;
};

// The members of one object. Of two with one name the last one counts, as in JavaScript.
class JsonObject {
 public:
  // Absent when there is none.
  JsonValue Get(std::string_view name) const;
  // All, in their order.
  const std::vector<std::pair<std::string, JsonValue>>& all() const { return members_; }
  bool Has(std::string_view name) const { return !Get(name).raw().empty(); }
  std::string StringOr(std::string_view name, std::string fallback = "") const {
    return Get(name).String().value_or(std::move(fallback));
  }

 private:
  friend class JsonValue;
  std::vector<std::pair<std::string, JsonValue>> members_;
};

// True for what JSON-RPC allows as an id: a number, a string or null.
bool IsRpcId(std::string_view token);

}  // namespace acpd::acp

#endif  // ACPD_ACP_JSON_VALUE_H_
