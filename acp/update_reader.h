#ifndef ACPD_ACP_UPDATE_READER_H_
#define ACPD_ACP_UPDATE_READER_H_

#include <simdjson.h>

#include <string_view>

#include "acp/message.h"

namespace acpd::acp {

// Reads the `params` of a message in one go: their JSON, and what a session/update has in them.
// `document` is the one that `params` is part of. `update->json` stays empty when there is no
// `update` object. False only for text that is no JSON.
bool ReadParams(simdjson::ondemand::document& document, simdjson::ondemand::value& params,
                std::string_view* json, UpdateView* update);

}  // namespace acpd::acp

#endif  // ACPD_ACP_UPDATE_READER_H_
