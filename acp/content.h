#ifndef ACPD_ACP_CONTENT_H_
#define ACPD_ACP_CONTENT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// What a prompt is made of (https://agentclientprotocol.com/protocol/content). Plain values, no
// threads.
namespace acpd::acp {

// W3C trace context of whoever caused a message; it travels in the reserved root keys of `_meta`.
// Empty: none.
struct TraceContext {
  std::string traceparent, tracestate, baggage;

  bool empty() const { return traceparent.empty() && tracestate.empty() && baggage.empty(); }
  bool operator==(const TraceContext&) const = default;
};

// One ContentBlock. `text` is the text of kText and of a kResource that has one; `data` the bytes
// of an image, a sound or a kResource without text, not in base64.
struct ContentBlock {
  enum class Kind { kText, kImage, kAudio, kResourceLink, kResource };
  Kind kind = Kind::kText;
  std::string text;
  std::string data;
  bool has_blob = false;  // of kResource: its contents are `data`
  std::string mime_type, uri;
  std::string name, title, description;  // of kResourceLink
  int64_t size = 0;                      // of kResourceLink; 0: unknown

  bool operator==(const ContentBlock&) const = default;
};

// ACP's word for the kind ("image", "resource_link", ...).
std::string_view NameOf(ContentBlock::Kind kind);

// promptCapabilities; text and resource_link always work.
struct PromptCapabilities {
  bool image = false, audio = false, embedded_context = false;
};
// The capability that `kind` needs and the agent does not have ("promptCapabilities.image"); empty:
// the agent takes it.
std::string_view MissingCapability(ContentBlock::Kind kind, const PromptCapabilities& capabilities);

// session/prompt.
std::string PromptLine(uint64_t id, std::string_view session_id,
                       const std::vector<ContentBlock>& blocks, const TraceContext& trace = {});

}  // namespace acpd::acp

#endif  // ACPD_ACP_CONTENT_H_
