#include "acp/content.h"

#include "absl/strings/escaping.h"
#include "acp/lines.h"

namespace acpd::acp {
namespace {

void SetUnlessEmpty(const char* name, const std::string& text, LineJson& block) {
  if (!text.empty()) block[name] = text;
}

LineJson MediaJson(const ContentBlock& block) {
  LineJson json = {{"type", NameOf(block.kind)},
                   {"data", absl::Base64Escape(block.data)},
                   {"mimeType", block.mime_type}};
  if (block.kind == ContentBlock::Kind::kImage) SetUnlessEmpty("uri", block.uri, json);
  return json;
}

LineJson LinkJson(const ContentBlock& block) {
  LineJson json = {{"type", "resource_link"},
                   {"uri", block.uri},
                   {"name", block.name.empty() ? block.uri : block.name}};
  SetUnlessEmpty("mimeType", block.mime_type, json);
  SetUnlessEmpty("title", block.title, json);
  SetUnlessEmpty("description", block.description, json);
  if (block.size > 0) json["size"] = block.size;
  return json;
}

LineJson ResourceJson(const ContentBlock& block) {
  LineJson contents = {{"uri", block.uri}};
  if (block.has_blob) {
    contents["blob"] = absl::Base64Escape(block.data);
  } else {
    contents["text"] = block.text;
  }
  SetUnlessEmpty("mimeType", block.mime_type, contents);
  return {{"type", "resource"}, {"resource", std::move(contents)}};
}

LineJson BlockJson(const ContentBlock& block) {
  switch (block.kind) {
    case ContentBlock::Kind::kText:
      return {{"type", "text"}, {"text", block.text}};
    case ContentBlock::Kind::kImage:
    case ContentBlock::Kind::kAudio:
      return MediaJson(block);
    case ContentBlock::Kind::kResourceLink:
      return LinkJson(block);
    case ContentBlock::Kind::kResource:
      return ResourceJson(block);
  }
  return {};
}

}  // namespace

std::string_view NameOf(ContentBlock::Kind kind) {
  switch (kind) {
    case ContentBlock::Kind::kText:
      return "text";
    case ContentBlock::Kind::kImage:
      return "image";
    case ContentBlock::Kind::kAudio:
      return "audio";
    case ContentBlock::Kind::kResourceLink:
      return "resource_link";
    case ContentBlock::Kind::kResource:
      return "resource";
  }
  return "";
}

std::string_view MissingCapability(ContentBlock::Kind kind,
                                   const PromptCapabilities& capabilities) {
  switch (kind) {
    case ContentBlock::Kind::kText:
    case ContentBlock::Kind::kResourceLink:
      return "";
    case ContentBlock::Kind::kImage:
      return capabilities.image ? "" : "promptCapabilities.image";
    case ContentBlock::Kind::kAudio:
      return capabilities.audio ? "" : "promptCapabilities.audio";
    case ContentBlock::Kind::kResource:
      return capabilities.embedded_context ? "" : "promptCapabilities.embeddedContext";
  }
  return "";
}

std::string PromptLine(uint64_t id, std::string_view session_id,
                       const std::vector<ContentBlock>& blocks, const TraceContext& trace) {
  LineJson prompt = LineJson::array();
  for (const ContentBlock& block : blocks) prompt.push_back(BlockJson(block));
  LineJson params = {{"sessionId", session_id}, {"prompt", std::move(prompt)}};
  return RequestLine(id, "session/prompt", Traced(std::move(params), trace));
}

}  // namespace acpd::acp
