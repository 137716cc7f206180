#include "cli/option_values.h"

namespace acpd::cli {

acpd::v1::ConfigOptionValue ReadOptionValue(const std::string& word,
                                            const acpd::v1::Session& session) {
  acpd::v1::ConfigOptionValue value;
  const size_t equals = word.find('=');
  value.set_config_id(word.substr(0, equals));
  const std::string text = word.substr(equals + 1);
  bool boolean = text == "true" || text == "false";
  for (const auto& option : session.config_options()) {
    if (option.config_id() == value.config_id()) boolean = boolean && option.has_boolean();
  }
  boolean ? value.set_boolean(text == "true") : value.set_select(text);
  return value;
}

}  // namespace acpd::cli
