#ifndef ACPD_SERVER_CONFIG_KEYS_H_
#define ACPD_SERVER_CONFIG_KEYS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "server/daemon_config.h"
#include "server/json_position.h"

// The keys of the config file, as tables: one for the top, one for an agent, one for each group. A
// new key is a new row (and a row in its test); what reads them all is server/config_values.h.
namespace acpd::server {

enum class KeyType {
  kBool,
  kText,      // with ${env:} and ${file:} replaced, not empty
  kPath,      // absolute
  kTemplate,  // kText whose other templates stay for each start of an agent
  kTextList,
  kPathList,
  kTemplateList,
  kCount,
  kSize,
  kDuration,
  kCustom,
};

// A function for values that fit no type; `path` is the key with what stands above it, for
// messages.
template <class T>
using ReadCustom = absl::Status (*)(const JsonNode& node, const std::string& path, T* out);

template <class T>
struct Key {
  std::string_view name;
  KeyType type;
  std::variant<bool T::*, std::string T::*, std::vector<std::string> T::*, size_t T::*,
               std::chrono::milliseconds T::*, ReadCustom<T>>
      target;
  int64_t min = 0, max = 0;  // of kCount, kSize (bytes) and kDuration (ms)
};

const std::vector<Key<DaemonConfig>>& TopKeys();
const std::vector<Key<DaemonConfig>>& ShutdownKeys();
const std::vector<Key<DaemonConfig>>& LogKeys();
const std::vector<Key<session::Limits>>& LimitsKeys();
const std::vector<Key<session::Retention>>& RetentionKeys();
const std::vector<Key<session::AgentDefinition>>& AgentKeys();
const std::vector<Key<session::AgentCapabilities>>& CapabilityKeys();

}  // namespace acpd::server

#endif  // ACPD_SERVER_CONFIG_KEYS_H_
