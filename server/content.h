#ifndef ACPD_SERVER_CONTENT_H_
#define ACPD_SERVER_CONTENT_H_

#include <cstddef>
#include <vector>

#include "acp/content.h"
#include "acpd/v1/session_service.pb.h"
#include "server/request_checks.h"

// ChatRequest.content: what a prompt has beside its text. Pure functions.
namespace acpd::server {

using ContentBlocks = google::protobuf::RepeatedPtrField<v1::ContentBlock>;

// Whether each block has what it needs; its first fault is named with its place in the list. What
// the agent takes is not known here.
void CheckContent(const ContentBlocks& blocks, Checks& checks);
std::vector<acp::ContentBlock> ContentFrom(const ContentBlocks& blocks);

// What prompt and content take on their way to the agent, as one line of JSON; never less.
size_t PromptLineBytes(const v1::ChatRequest& request, const acp::TraceContext& trace);

}  // namespace acpd::server

#endif  // ACPD_SERVER_CONTENT_H_
