#include "session/permission.h"

#include <algorithm>

#include "session/pack.h"

namespace acpd::session {
namespace {

struct KindRow {
  std::string_view word;
  OptionKind kind;
};

// https://agentclientprotocol.com/protocol/tool-calls#permission-options
constexpr KindRow kKinds[] = {
    {"allow_once", OptionKind::kAllowOnce},
    {"allow_always", OptionKind::kAllowAlways},
    {"reject_once", OptionKind::kRejectOnce},
    {"reject_always", OptionKind::kRejectAlways},
};

std::optional<std::string> FirstOf(OptionKind wish, OptionKind else_this,
                                   const std::vector<QuestionOption>& options) {
  const auto chosen = ChooseByKind(wish, options);
  return chosen ? chosen : ChooseByKind(else_this, options);
}

// A blob of options: id, name and kind of each, one after the other.
constexpr size_t kFieldsOfOption = 3;

// The kind as its one-digit number; what is none of ours is kUnspecified.
OptionKind UnpackKind(const std::string& digit) {
  if (digit.size() != 1 || digit[0] < '1' || digit[0] > '4') return OptionKind::kUnspecified;
  return static_cast<OptionKind>(digit[0] - '0');
}

}  // namespace

OptionKind ParseOptionKind(std::string_view acp_kind) {
  for (const KindRow& row : kKinds) {
    if (row.word == acp_kind) return row.kind;
  }
  return OptionKind::kUnspecified;
}

std::optional<std::string> ChooseByPolicy(PermissionMode mode,
                                          const std::vector<QuestionOption>& options) {
  switch (mode) {
    case PermissionMode::kAllow:
      return FirstOf(OptionKind::kAllowOnce, OptionKind::kAllowAlways, options);
    case PermissionMode::kDeny:
      return FirstOf(OptionKind::kRejectOnce, OptionKind::kRejectAlways, options);
    case PermissionMode::kAsk:
    case PermissionMode::kUnspecified:
      break;
  }
  return std::nullopt;
}

std::optional<std::string> ChooseOnTimeout(const std::vector<QuestionOption>& options) {
  return ChooseByPolicy(PermissionMode::kDeny, options);
}

std::optional<std::string> ChooseByKind(OptionKind kind,
                                        const std::vector<QuestionOption>& options) {
  if (kind == OptionKind::kUnspecified) return std::nullopt;
  for (const QuestionOption& option : options) {
    if (option.kind == kind) return option.option_id;
  }
  return std::nullopt;
}

bool IsOffered(std::string_view option_id, const std::vector<QuestionOption>& options) {
  return std::any_of(options.begin(), options.end(), [option_id](const QuestionOption& option) {
    return option.option_id == option_id;
  });
}

std::string PackOptions(const std::vector<QuestionOption>& options) {
  std::vector<std::string> fields;
  for (const QuestionOption& option : options) {
    fields.push_back(option.option_id);
    fields.push_back(option.name);
    fields.push_back(std::to_string(static_cast<int>(option.kind)));
  }
  return Pack(fields);
}

std::vector<QuestionOption> UnpackOptions(std::string_view blob) {
  const auto fields = Unpack(blob);
  if (!fields || fields->size() % kFieldsOfOption != 0) return {};
  std::vector<QuestionOption> options;
  for (size_t i = 0; i < fields->size(); i += kFieldsOfOption) {
    options.push_back({(*fields)[i], (*fields)[i + 1], UnpackKind((*fields)[i + 2])});
  }
  return options;
}

}  // namespace acpd::session
