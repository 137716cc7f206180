#ifndef ACPD_ACP_SETUP_META_H_
#define ACPD_ACP_SETUP_META_H_

#include "acp/lines.h"
#include "acp/setup.h"

namespace acpd::acp {

// All `_meta` that a session is set up with, in this order of precedence: trace context and system
// prompt, which have fields of their own, then the caller's. Empty: none. For the sources of acp/
// alone.
LineJson SetupMeta(const SessionSetup& setup);
// The same with `claudeCode.options.resume`, if there is one.
LineJson NewSessionMeta(const SessionSetup& setup);

}  // namespace acpd::acp

#endif  // ACPD_ACP_SETUP_META_H_
