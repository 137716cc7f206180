#include "acp/demo_agent/sessions.h"

#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "acp/demo_agent/messages.h"

namespace acpd::demo {
namespace {

// Ids come from outside and become file names: all but letters, digits and '-' is written in hex.
std::string FileName(const std::string& id) {
  std::string name;
  for (const unsigned char c : id) {
    if (std::isalnum(c) || c == '-') {
      name += static_cast<char>(c);
    } else {
      char hex[4];
      std::snprintf(hex, sizeof hex, "%%%02x", c);
      name += hex;
    }
  }
  return name + ".json";
}

std::optional<History> ReadHistory(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  const json stored = json::parse(file, nullptr, false);
  if (!stored.is_array()) return std::nullopt;
  History history;
  for (const json& exchange : stored) {
    history.push_back({StringOf(exchange, "user"), StringOf(exchange, "agent")});
  }
  return history;
}

}  // namespace

void Sessions::Create(const std::string& id) {
  open_[id] = {};
  Save(id);
}

bool Sessions::Open(const std::string& id) {
  if (open_.contains(id)) return true;
  if (folder_.empty()) return false;
  auto history = ReadHistory(PathOf(id));
  if (!history) return false;
  open_[id] = std::move(*history);
  return true;
}

History* Sessions::Find(const std::string& id) {
  const auto found = open_.find(id);
  return found == open_.end() ? nullptr : &found->second;
}

bool Sessions::Save(const std::string& id) {
  if (folder_.empty()) return true;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  json stored = json::array();
  for (const Exchange& exchange : open_.at(id)) {
    stored.push_back({{"user", exchange.user}, {"agent", exchange.agent}});
  }
  const std::string path = PathOf(id);
  const std::string draft = path + "." + std::to_string(::getpid());
  std::ofstream file(draft, std::ios::trunc);
  file << Line(stored);
  file.close();
  return file && std::rename(draft.c_str(), path.c_str()) == 0;
}

void Sessions::Delete(const std::string& id) {
  Close(id);
  std::error_code error;
  if (!folder_.empty()) std::filesystem::remove(PathOf(id), error);
}

std::string Sessions::PathOf(const std::string& id) const { return folder_ + "/" + FileName(id); }

}  // namespace acpd::demo
