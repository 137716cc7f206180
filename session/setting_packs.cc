#include "session/setting_packs.h"

#include <utility>

#include "session/pack.h"

namespace acpd::session {
namespace {

using acp::ConfigOption;
using acp::McpServer;
using acp::OptionValue;
using Items = std::vector<std::string>;

std::string PackFlag(bool flag) { return flag ? "1" : ""; }
bool IsSet(const std::string& packed) { return !packed.empty(); }

// The items of a blob that has to have `count` of them.
std::optional<Items> UnpackCount(std::string_view blob, size_t count) {
  std::optional<Items> items = Unpack(blob);
  if (items && items->size() != count) return std::nullopt;
  return items;
}

template <class T, class PackOne>
std::string PackEach(const std::vector<T>& values, PackOne pack_one) {
  Items items;
  items.reserve(values.size());
  for (const T& value : values) items.push_back(pack_one(value));
  return Pack(items);
}

template <class T>
std::optional<std::vector<T>> UnpackEach(std::string_view blob,
                                         std::optional<T> (*unpack_one)(std::string_view)) {
  const std::optional<Items> items = Unpack(blob);
  if (!items) return std::nullopt;
  std::vector<T> values;
  for (const std::string& item : *items) {
    std::optional<T> value = unpack_one(item);
    if (!value) return std::nullopt;
    values.push_back(*std::move(value));
  }
  return values;
}

// Pairs keep their order, and a name may stand twice in them.
std::string PackPairs(const McpServer::Pairs& pairs) {
  Items items;
  for (const auto& [name, value] : pairs) {
    items.push_back(name);
    items.push_back(value);
  }
  return Pack(items);
}

std::optional<McpServer::Pairs> UnpackPairs(std::string_view blob) {
  std::optional<Items> items = Unpack(blob);
  if (!items || items->size() % 2 != 0) return std::nullopt;
  McpServer::Pairs pairs;
  for (size_t i = 0; i < items->size(); i += 2) {
    pairs.emplace_back(std::move((*items)[i]), std::move((*items)[i + 1]));
  }
  return pairs;
}

std::string PackServer(const McpServer& server) {
  return Pack({std::to_string(static_cast<int>(server.kind)), server.name, server.command,
               Pack(server.args), PackPairs(server.env), server.url, PackPairs(server.headers)});
}

std::optional<McpServer::Kind> KindOf(const std::string& packed) {
  for (const auto kind : {McpServer::Kind::kStdio, McpServer::Kind::kHttp, McpServer::Kind::kSse}) {
    if (packed == std::to_string(static_cast<int>(kind))) return kind;
  }
  return std::nullopt;
}

std::optional<McpServer> UnpackServer(std::string_view blob) {
  const std::optional<Items> items = UnpackCount(blob, 7);
  if (!items) return std::nullopt;
  const std::optional<McpServer::Kind> kind = KindOf((*items)[0]);
  std::optional<Items> args = Unpack((*items)[3]);
  std::optional<McpServer::Pairs> env = UnpackPairs((*items)[4]);
  std::optional<McpServer::Pairs> headers = UnpackPairs((*items)[6]);
  if (!kind || !args || !env || !headers) return std::nullopt;
  return McpServer{*kind,           (*items)[1], (*items)[2],        *std::move(args),
                   *std::move(env), (*items)[5], *std::move(headers)};
}

std::string PackChoice(const ConfigOption::Choice& choice) {
  return Pack({choice.value, choice.name, choice.description, choice.group});
}

std::optional<ConfigOption::Choice> UnpackChoice(std::string_view blob) {
  const std::optional<Items> items = UnpackCount(blob, 4);
  if (!items) return std::nullopt;
  return ConfigOption::Choice{(*items)[0], (*items)[1], (*items)[2], (*items)[3]};
}

std::string PackOption(const ConfigOption& option) {
  return Pack({option.id, option.name, option.description, option.category,
               PackFlag(option.is_boolean), PackFlag(option.boolean), option.select,
               PackEach(option.choices, PackChoice), PackFlag(option.legacy_model)});
}

std::optional<ConfigOption> UnpackOption(std::string_view blob) {
  const std::optional<Items> items = UnpackCount(blob, 9);
  if (!items) return std::nullopt;
  auto choices = UnpackEach<ConfigOption::Choice>((*items)[7], UnpackChoice);
  if (!choices) return std::nullopt;
  return ConfigOption{.id = (*items)[0],
                      .name = (*items)[1],
                      .description = (*items)[2],
                      .category = (*items)[3],
                      .is_boolean = IsSet((*items)[4]),
                      .boolean = IsSet((*items)[5]),
                      .select = (*items)[6],
                      .choices = *std::move(choices),
                      .legacy_model = IsSet((*items)[8])};
}

std::string PackOptionValue(const OptionValue& value) {
  return Pack({value.config_id, PackFlag(value.is_boolean), PackFlag(value.boolean), value.select});
}

std::optional<OptionValue> UnpackOptionValue(std::string_view blob) {
  const std::optional<Items> items = UnpackCount(blob, 4);
  if (!items) return std::nullopt;
  return OptionValue{(*items)[0], IsSet((*items)[1]), IsSet((*items)[2]), (*items)[3]};
}

}  // namespace

std::string PackSetup(const SetupSettings& setup) {
  if (setup == SetupSettings()) return "";
  return Pack({PackEach(setup.mcp_servers, PackServer), setup.system_prompt, setup.meta_json,
               Pack(setup.additional_directories)});
}

std::optional<SetupSettings> UnpackSetup(std::string_view blob) {
  if (blob.empty()) return SetupSettings();
  const std::optional<Items> items = UnpackCount(blob, 4);
  if (!items) return std::nullopt;
  auto servers = UnpackEach<McpServer>((*items)[0], UnpackServer);
  std::optional<Items> directories = Unpack((*items)[3]);
  if (!servers || !directories) return std::nullopt;
  return SetupSettings{*std::move(servers), (*items)[1], (*items)[2], *std::move(directories)};
}

std::string PackConfigOptions(const std::vector<ConfigOption>& options) {
  return PackEach(options, PackOption);
}

std::optional<std::vector<ConfigOption>> UnpackConfigOptions(std::string_view blob) {
  return UnpackEach<ConfigOption>(blob, UnpackOption);
}

// Id, name and description of each, one behind the other.
std::string PackModes(const std::vector<acp::ModeInfo>& modes) {
  Items items;
  for (const acp::ModeInfo& mode : modes) {
    items.insert(items.end(), {mode.id, mode.name, mode.description});
  }
  return Pack(items);
}

std::optional<std::vector<acp::ModeInfo>> UnpackModes(std::string_view blob) {
  std::optional<Items> items = Unpack(blob);
  if (!items || items->size() % 3 != 0) return std::nullopt;
  std::vector<acp::ModeInfo> modes;
  for (size_t i = 0; i < items->size(); i += 3) {
    modes.push_back(
        {std::move((*items)[i]), std::move((*items)[i + 1]), std::move((*items)[i + 2])});
  }
  return modes;
}

std::string PackOptionValues(const std::vector<OptionValue>& values) {
  return PackEach(values, PackOptionValue);
}

std::optional<std::vector<OptionValue>> UnpackOptionValues(std::string_view blob) {
  return UnpackEach<OptionValue>(blob, UnpackOptionValue);
}

}  // namespace acpd::session
