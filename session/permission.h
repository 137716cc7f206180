#ifndef ACPD_SESSION_PERMISSION_H_
#define ACPD_SESSION_PERMISSION_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/types.h"
#include "session/views.h"

namespace acpd::session {

OptionKind ParseOptionKind(
    std::string_view acp_kind);  // allow_once ...; kUnspecified for what we do not know

// The option that a policy takes, by kind and never by id. ALLOW: allow_once, then allow_always;
// DENY: reject_once, then reject_always. nullopt: none of them is offered, or the mode is ASK.
std::optional<std::string> ChooseByPolicy(PermissionMode mode,
                                          const std::vector<QuestionOption>& options);
// When nobody answers: an offered reject option, never an allow. nullopt: cancelled.
std::optional<std::string> ChooseOnTimeout(const std::vector<QuestionOption>& options);
// The first offered option of this kind.
std::optional<std::string> ChooseByKind(OptionKind kind,
                                        const std::vector<QuestionOption>& options);
bool IsOffered(std::string_view option_id, const std::vector<QuestionOption>& options);

// For QuestionRow::options.
std::string PackOptions(const std::vector<QuestionOption>& options);
std::vector<QuestionOption> UnpackOptions(std::string_view blob);

}  // namespace acpd::session

#endif  // ACPD_SESSION_PERMISSION_H_
