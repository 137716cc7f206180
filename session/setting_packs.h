#ifndef ACPD_SESSION_SETTING_PACKS_H_
#define ACPD_SESSION_SETTING_PACKS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acp/types.h"
#include "session/types.h"

// A session's settings as blobs for a store column (session/pack.h). An empty blob is a value with
// nothing in it; nullopt: malformed.
namespace acpd::session {

std::string PackSetup(const SetupSettings& setup);
std::optional<SetupSettings> UnpackSetup(std::string_view blob);

std::string PackConfigOptions(const std::vector<acp::ConfigOption>& options);
std::optional<std::vector<acp::ConfigOption>> UnpackConfigOptions(std::string_view blob);

std::string PackModes(const std::vector<acp::ModeInfo>& modes);
std::optional<std::vector<acp::ModeInfo>> UnpackModes(std::string_view blob);

std::string PackOptionValues(const std::vector<acp::OptionValue>& values);
std::optional<std::vector<acp::OptionValue>> UnpackOptionValues(std::string_view blob);

}  // namespace acpd::session

#endif  // ACPD_SESSION_SETTING_PACKS_H_
