#include "server/shown_request.h"

#include "server/convert_parts.h"
#include "server/mcp_servers.h"

namespace acpd::server {
namespace {

void LeaveOutBytes(v1::ContentBlock* block) {
  if (block->has_image()) block->mutable_image()->clear_data();
  if (block->has_audio()) block->mutable_audio()->clear_data();
  if (block->resource().has_blob()) block->mutable_resource()->mutable_blob()->clear();
}

size_t BytesOf(const std::string& text) { return text.size(); }
size_t BytesOf(const google::protobuf::Message& message) { return message.ByteSizeLong(); }

// The first entries that fit behind what was kept before them.
template <class Repeated>
void KeepFitting(Repeated* list, size_t& bytes) {
  int kept = 0;
  for (; kept < list->size(); ++kept) {
    const size_t size = BytesOf(list->Get(kept));
    if (bytes + size > kMaxRequestRest) break;
    bytes += size;
  }
  list->DeleteSubrange(kept, list->size() - kept);
}

void KeepFitting(std::string* text, size_t& bytes) {
  text->resize(CutText(*text, kMaxRequestRest - bytes).size());
  bytes += text->size();
}

}  // namespace

void MakeShown(v1::ChatRequest* request) {
  request->DiscardUnknownFields();
  request->clear_meta_json();
  HideValues(request->mutable_mcp_servers());
  for (auto& block : *request->mutable_content()) LeaveOutBytes(&block);
  std::string* prompt = request->mutable_prompt();
  prompt->resize(CutText(*prompt, kMaxRequestPrompt).size());
  size_t bytes = 0;
  KeepFitting(request->mutable_mode_id(), bytes);
  KeepFitting(request->mutable_config_options(), bytes);
  KeepFitting(request->mutable_mcp_servers(), bytes);
  KeepFitting(request->mutable_additional_directories(), bytes);
  KeepFitting(request->mutable_content(), bytes);
  KeepFitting(request->mutable_system_prompt(), bytes);
}

}  // namespace acpd::server
