#ifndef ACPD_ACP_SIMDJSON_RAW_H_
#define ACPD_ACP_SIMDJSON_RAW_H_

#include <simdjson.h>

#include <string_view>

namespace acpd::acp {

// JSON's white space, off both ends.
inline std::string_view TrimJsonSpace(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// `value` as it stands in the text. simdjson includes the white space up to the next token: it
// goes. False only for text that is no JSON, which a check of the grammar keeps away.
inline bool RawJson(simdjson::ondemand::value& value, std::string_view* raw) {
  namespace ondemand = simdjson::ondemand;
  ondemand::json_type type;
  if (value.type().get(type)) return false;
  if (type == ondemand::json_type::object) {
    ondemand::object object;
    if (value.get_object().get(object) || object.raw_json().get(*raw)) return false;
  } else if (type == ondemand::json_type::array) {
    ondemand::array array;
    if (value.get_array().get(array) || array.raw_json().get(*raw)) return false;
  } else {
    *raw = value.raw_json_token();
  }
  *raw = TrimJsonSpace(*raw);
  return true;
}

// The name of a member, unescaped; most have no escape and are taken as they stand. Empty for one
// that is no text (half a surrogate pair). Once for each field.
inline std::string_view MemberName(simdjson::ondemand::field& field) {
  const char* const start = field.key().raw();
  const char* end = start;
  while (*end != '"' && *end != '\\') ++end;
  if (*end == '"') return std::string_view(start, static_cast<size_t>(end - start));
  std::string_view name;
  return field.unescaped_key().get(name) ? std::string_view() : name;
}

}  // namespace acpd::acp

#endif  // ACPD_ACP_SIMDJSON_RAW_H_
