#include "server/content.h"

#include "server/strings.h"

namespace acpd::server {
namespace {

using Block = v1::ContentBlock;
using BlockKind = acp::ContentBlock::Kind;

constexpr int kMaxBlocks = 256;

void CheckMedia(const std::string& field, const v1::Media& media, Checks& checks) {
  checks.Require(!media.data().empty(), "INVALID_REQUEST", Cat(field, ".data is empty."));
  checks.Require(!media.mime_type().empty(), "INVALID_REQUEST",
                 Cat(field, ".mime_type is empty; say what it is, e.g. image/png."));
  checks.Text(Cat(field, ".mime_type"), media.mime_type());
  checks.Text(Cat(field, ".uri"), media.uri());
}

void CheckLink(const std::string& field, const v1::ResourceLink& link, Checks& checks) {
  checks.Require(!link.uri().empty(), "INVALID_REQUEST", Cat(field, ".uri is empty."));
  checks.Require(!link.name().empty(), "INVALID_REQUEST", Cat(field, ".name is empty."));
  checks.Require(link.size() >= 0, "INVALID_REQUEST", Cat(field, ".size is negative."));
  checks.Text(Cat(field, ".uri"), link.uri());
  checks.Text(Cat(field, ".name"), link.name());
  checks.Text(Cat(field, ".mime_type"), link.mime_type());
  checks.Text(Cat(field, ".title"), link.title());
  checks.Text(Cat(field, ".description"), link.description());
}

void CheckResource(const std::string& field, const v1::EmbeddedResource& resource, Checks& checks) {
  checks.Require(!resource.uri().empty(), "INVALID_REQUEST", Cat(field, ".uri is empty."));
  checks.Require(resource.contents_case() != v1::EmbeddedResource::CONTENTS_NOT_SET,
                 "INVALID_REQUEST", Cat(field, " has no contents; set text or blob."));
  checks.Text(Cat(field, ".uri"), resource.uri());
  checks.Text(Cat(field, ".mime_type"), resource.mime_type());
}

void CheckBlock(const std::string& field, const Block& block, Checks& checks) {
  switch (block.block_case()) {
    case Block::kText:
      return checks.Require(!block.text().empty(), "INVALID_REQUEST",
                            Cat(field, ".text is empty; leave the block out."));
    case Block::kImage:
      return CheckMedia(Cat(field, ".image"), block.image(), checks);
    case Block::kAudio:
      return CheckMedia(Cat(field, ".audio"), block.audio(), checks);
    case Block::kResourceLink:
      return CheckLink(Cat(field, ".resource_link"), block.resource_link(), checks);
    case Block::kResource:
      return CheckResource(Cat(field, ".resource"), block.resource(), checks);
    case Block::BLOCK_NOT_SET:
      return checks.Require(
          false, "INVALID_REQUEST",
          Cat(field, " is empty; set text, image, audio, resource_link or resource."));
  }
}

acp::ContentBlock MediaFrom(BlockKind kind, const v1::Media& media) {
  acp::ContentBlock block;
  block.kind = kind;
  block.data = media.data();
  block.mime_type = media.mime_type();
  block.uri = media.uri();
  return block;
}

acp::ContentBlock LinkFrom(const v1::ResourceLink& link) {
  acp::ContentBlock block;
  block.kind = BlockKind::kResourceLink;
  block.uri = link.uri();
  block.name = link.name();
  block.mime_type = link.mime_type();
  block.title = link.title();
  block.description = link.description();
  block.size = link.size();
  return block;
}

acp::ContentBlock ResourceFrom(const v1::EmbeddedResource& resource) {
  acp::ContentBlock block;
  block.kind = BlockKind::kResource;
  block.uri = resource.uri();
  block.mime_type = resource.mime_type();
  block.has_blob = resource.has_blob();
  block.text = resource.text();
  block.data = resource.blob();
  return block;
}

acp::ContentBlock BlockFrom(const Block& block) {
  switch (block.block_case()) {
    case Block::kImage:
      return MediaFrom(BlockKind::kImage, block.image());
    case Block::kAudio:
      return MediaFrom(BlockKind::kAudio, block.audio());
    case Block::kResourceLink:
      return LinkFrom(block.resource_link());
    case Block::kResource:
      return ResourceFrom(block.resource());
    case Block::kText:
    case Block::BLOCK_NOT_SET:
      break;
  }
  acp::ContentBlock text;
  text.text = block.text();
  return text;
}

// Of the line and of each block in it, beside what callers put there: member names, ids, braces.
constexpr size_t kLineBytes = 512, kBlockBytes = 256;

// As a string of JSON.
size_t EscapedBytes(std::string_view text) {
  size_t bytes = text.size();
  for (const char c : text) {
    if (c == '"' || c == '\\') bytes += 1;
    if (static_cast<unsigned char>(c) < 0x20) bytes += 5;
  }
  return bytes;
}

size_t Base64Bytes(size_t bytes) { return (bytes + 2) / 3 * 4; }

size_t BlockBytes(const Block& block) {
  const v1::ResourceLink& link = block.resource_link();
  const v1::EmbeddedResource& resource = block.resource();
  size_t bytes = kBlockBytes + EscapedBytes(block.text());
  for (const v1::Media* media : {&block.image(), &block.audio()}) {
    bytes += Base64Bytes(media->data().size()) + EscapedBytes(media->mime_type()) +
             EscapedBytes(media->uri());
  }
  for (const std::string* text :
       {&link.uri(), &link.name(), &link.mime_type(), &link.title(), &link.description(),
        &resource.uri(), &resource.mime_type(), &resource.text()}) {
    bytes += EscapedBytes(*text);
  }
  return bytes + Base64Bytes(resource.blob().size());
}

}  // namespace

void CheckContent(const ContentBlocks& blocks, Checks& checks) {
  checks.Count("content", blocks.size(), kMaxBlocks);
  for (int i = 0; i < blocks.size() && checks.status().ok(); ++i)
    CheckBlock(Cat("content[", i, "]"), blocks[i], checks);
}

std::vector<acp::ContentBlock> ContentFrom(const ContentBlocks& blocks) {
  std::vector<acp::ContentBlock> content;
  for (const Block& block : blocks) content.push_back(BlockFrom(block));
  return content;
}

size_t PromptLineBytes(const v1::ChatRequest& request, const acp::TraceContext& trace) {
  size_t bytes = kLineBytes + EscapedBytes(request.prompt());
  for (const Block& block : request.content()) bytes += BlockBytes(block);
  return bytes + EscapedBytes(trace.traceparent) + EscapedBytes(trace.tracestate) +
         EscapedBytes(trace.baggage);
}

}  // namespace acpd::server
