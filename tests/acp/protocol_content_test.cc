// content.h: what a prompt is made of.

#include <gtest/gtest.h>

#include "acp/content.h"

namespace acpd::acp {
namespace {

using BlockKind = ContentBlock::Kind;

std::string PromptOf(const std::string& blocks, const std::string& rest = "") {
  return R"({"jsonrpc":"2.0","id":6,"method":"session/prompt","params":{"sessionId":"s","prompt":[)" +
         blocks + "]" + rest + "}}";
}

ContentBlock BlockOf(BlockKind kind) {
  ContentBlock block;
  block.kind = kind;
  return block;
}

TEST(Content, EachKindHasTheFieldsOfTheSchemaAndNoOthers) {
  ContentBlock every;  // all fields: those of other kinds must not be sent
  every.text = "t";
  every.data = "d";
  every.mime_type = "m/m";
  every.uri = "file:///u";
  every.name = "n";
  every.title = "tt";
  every.description = "dd";
  every.size = 7;
  const struct {
    BlockKind kind;
    bool has_blob;
    std::string json;
  } cases[] = {
      {BlockKind::kText, false, R"({"type":"text","text":"t"})"},
      {BlockKind::kImage, false,
       R"({"type":"image","data":"ZA==","mimeType":"m/m","uri":"file:///u"})"},
      {BlockKind::kAudio, false, R"({"type":"audio","data":"ZA==","mimeType":"m/m"})"},
      {BlockKind::kResourceLink, false,
       R"({"type":"resource_link","uri":"file:///u","name":"n","mimeType":"m/m","title":"tt",)"
       R"("description":"dd","size":7})"},
      {BlockKind::kResource, false,
       R"({"type":"resource","resource":{"uri":"file:///u","text":"t","mimeType":"m/m"}})"},
      {BlockKind::kResource, true,
       R"({"type":"resource","resource":{"uri":"file:///u","blob":"ZA==","mimeType":"m/m"}})"},
  };
  for (const auto& [kind, has_blob, json] : cases) {
    every.kind = kind;
    every.has_blob = has_blob;
    EXPECT_EQ(PromptLine(6, "s", {every}), PromptOf(json));
  }
}

TEST(Content, WhatIsRequiredIsSentWhenItIsEmptyAndNothingElse) {
  const struct {
    BlockKind kind;
    bool has_blob;
    std::string json;
  } cases[] = {
      {BlockKind::kText, false, R"({"type":"text","text":""})"},
      {BlockKind::kImage, false, R"({"type":"image","data":"","mimeType":""})"},
      {BlockKind::kAudio, false, R"({"type":"audio","data":"","mimeType":""})"},
      {BlockKind::kResourceLink, false, R"({"type":"resource_link","uri":"","name":""})"},
      {BlockKind::kResource, false, R"({"type":"resource","resource":{"uri":"","text":""}})"},
      {BlockKind::kResource, true, R"({"type":"resource","resource":{"uri":"","blob":""}})"},
  };
  for (const auto& [kind, has_blob, json] : cases) {
    ContentBlock block = BlockOf(kind);
    block.has_blob = has_blob;
    EXPECT_EQ(PromptLine(6, "s", {block}), PromptOf(json));
  }
  ContentBlock link = BlockOf(BlockKind::kResourceLink);
  link.uri = "file:///a";
  link.size = -1;
  EXPECT_EQ(PromptLine(6, "s", {link}),
            PromptOf(R"({"type":"resource_link","uri":"file:///a","name":"file:///a"})"))
      << "a link without a name is called as what it points to";
}

TEST(Content, TheOrderOfBlocksIsKept) {
  ContentBlock text = BlockOf(BlockKind::kText);
  text.text = "one";
  ContentBlock link = BlockOf(BlockKind::kResourceLink);
  link.uri = "u";
  link.name = "two";
  ContentBlock last = text;
  last.text = "three";
  EXPECT_EQ(PromptLine(6, "s", {text, link, last}),
            PromptOf(R"({"type":"text","text":"one"},{"type":"resource_link","uri":"u",)"
                     R"("name":"two"},{"type":"text","text":"three"})"));
  EXPECT_EQ(PromptLine(6, "s", {}), PromptOf(""));
}

TEST(Content, BytesTravelInBase64) {
  const std::pair<std::string, std::string> cases[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {std::string("\0\xFF\x80\n", 4), "AP+ACg=="},
      {"\xFB\xFF\xBF", "+/+/"},
  };
  for (const auto& [bytes, base64] : cases) {
    ContentBlock image = BlockOf(BlockKind::kImage);
    image.data = bytes;
    image.mime_type = "image/png";
    EXPECT_EQ(PromptLine(6, "s", {image}),
              PromptOf(R"({"type":"image","data":")" + base64 + R"(","mimeType":"image/png"})"));
  }
  ContentBlock large = BlockOf(BlockKind::kAudio);
  large.data.assign(9 << 20, '\0');
  large.mime_type = "audio/wav";
  EXPECT_EQ(PromptLine(6, "s", {large}),
            PromptOf(R"({"type":"audio","data":")" + std::string(12 << 20, 'A') +
                     R"(","mimeType":"audio/wav"})"));
}

TEST(Content, TextIsEscapedAndRepaired) {
  ContentBlock text = BlockOf(BlockKind::kText);
  text.text = "two\nlines \"quoted\" \xC3\xA9 \xF0\x9F\x98\x80 \x01";
  EXPECT_EQ(PromptLine(6, "s", {text}), PromptOf(R"({"type":"text","text":"two\nlines \"quoted\" )"
                                                 "\xC3\xA9 \xF0\x9F\x98\x80"
                                                 R"( \u0001"})"));
  text.text = "a\xFF\xC3z";
  EXPECT_EQ(PromptLine(6, "s", {text}),
            PromptOf("{\"type\":\"text\",\"text\":\"a\xEF\xBF\xBD\xEF\xBF\xBDz\"}"));
}

TEST(Content, TraceContextIsInTheRootOfMeta) {
  const std::pair<TraceContext, std::string> cases[] = {
      {{}, ""},
      {{"00-a-b-01", "", ""}, R"(,"_meta":{"traceparent":"00-a-b-01"})"},
      {{"", "k=v", ""}, R"(,"_meta":{"tracestate":"k=v"})"},
      {{"p", "s", "b"}, R"(,"_meta":{"traceparent":"p","tracestate":"s","baggage":"b"})"},
  };
  for (const auto& [trace, meta] : cases) {
    EXPECT_EQ(PromptLine(6, "s", {}, trace), PromptOf("", meta));
    EXPECT_EQ(trace.empty(), meta.empty());
  }
}

TEST(Content, NamesAndCapabilities) {
  const struct {
    BlockKind kind;
    std::string_view name, capability;
    PromptCapabilities with;
  } cases[] = {
      {BlockKind::kText, "text", "", {}},
      {BlockKind::kResourceLink, "resource_link", "", {}},
      {BlockKind::kImage, "image", "promptCapabilities.image", {true, false, false}},
      {BlockKind::kAudio, "audio", "promptCapabilities.audio", {false, true, false}},
      {BlockKind::kResource,
       "resource",
       "promptCapabilities.embeddedContext",
       {false, false, true}},
  };
  for (const auto& [kind, name, capability, with] : cases) {
    EXPECT_EQ(NameOf(kind), name);
    const PromptCapabilities others = {!with.image, !with.audio, !with.embedded_context};
    EXPECT_EQ(MissingCapability(kind, {}), capability);
    EXPECT_EQ(MissingCapability(kind, with), "");
    EXPECT_EQ(MissingCapability(kind, others), capability);
  }
}

}  // namespace
}  // namespace acpd::acp
