#include "server/option_request.h"

#include "server/strings.h"

namespace acpd::server {
namespace {

using Change = v1::SetSessionOptionRequest;

void CheckChange(const Change& request, Checks& checks) {
  switch (request.option_case()) {
    case Change::kModeId:
      checks.Require(!request.mode_id().empty(), "INVALID_REQUEST", "mode_id is empty.");
      return checks.Text("mode_id", request.mode_id());
    case Change::kConfig:
      return CheckOptionValue("config", request.config(), checks);
    case Change::kTitle:
      return checks.Text("title", request.title());
    case Change::kLabels:
      return checks.Map("labels", request.labels().labels());
    case Change::OPTION_NOT_SET:
      return checks.Require(false, "INVALID_REQUEST",
                            "say what to change: mode_id, config, title or labels.");
  }
}

}  // namespace

void CheckOptionValue(const std::string& field, const v1::ConfigOptionValue& value,
                      Checks& checks) {
  checks.Require(!value.config_id().empty(), "INVALID_REQUEST", Cat(field, ".config_id is empty."));
  checks.Text(Cat(field, ".config_id"), value.config_id());
  checks.Require(value.value_case() != v1::ConfigOptionValue::VALUE_NOT_SET, "INVALID_REQUEST",
                 Cat(field, " has no value; set select or boolean."));
  checks.Text(Cat(field, ".select"), value.select());
}

acp::OptionValue OptionValueFrom(const v1::ConfigOptionValue& value) {
  acp::OptionValue option;
  option.config_id = value.config_id();
  option.is_boolean = value.has_boolean();
  option.boolean = value.boolean();
  option.select = value.select();
  return option;
}

absl::StatusOr<session::SessionChange> SessionChangeFrom(const Change& request,
                                                         const acp::TraceContext& trace) {
  Checks checks;
  checks.Session(request.session_id());
  CheckChange(request, checks);
  if (!checks.status().ok()) return checks.status();
  session::SessionChange change;
  if (request.has_mode_id()) change.mode_id = request.mode_id();
  if (request.has_config()) change.option = OptionValueFrom(request.config());
  if (request.has_title()) change.title = request.title();
  if (request.has_labels()) {
    const auto& labels = request.labels().labels();
    change.labels.emplace(labels.begin(), labels.end());
  }
  change.trace = trace;
  return change;
}

}  // namespace acpd::server
