#include <gtest/gtest.h>

#include <functional>

#include "server/content.h"
#include "session/errors.h"

namespace acpd::server {
namespace {

using BlockKind = acp::ContentBlock::Kind;

absl::Status StatusOf(const v1::ContentBlock& block) {
  ContentBlocks blocks;
  *blocks.Add() = block;
  Checks checks;
  CheckContent(blocks, checks);
  return checks.status();
}

std::string Png() { return std::string("\xff\0png", 5); }

v1::ContentBlock Image() {
  v1::ContentBlock block;
  block.mutable_image()->set_data(Png());
  block.mutable_image()->set_mime_type("image/png");
  return block;
}
v1::ContentBlock Link() {
  v1::ContentBlock block;
  block.mutable_resource_link()->set_uri("file:///srv/a.txt");
  block.mutable_resource_link()->set_name("a.txt");
  return block;
}
v1::ContentBlock Resource() {
  v1::ContentBlock block;
  block.mutable_resource()->set_uri("file:///srv/a.txt");
  block.mutable_resource()->set_text("");
  return block;
}

TEST(ContentTest, BlocksAreChecked) {
  struct Case {
    v1::ContentBlock block;
    std::function<void(v1::ContentBlock&)> change;
    const char* named;  // "": fine
  };
  const Case cases[] = {
      {{}, [](auto&) {}, "content[0]"},
      {{}, [](auto& b) { b.set_text("x"); }, ""},
      {{}, [](auto& b) { b.set_text(""); }, "content[0].text"},
      {Image(), [](auto&) {}, ""},
      {Image(), [](auto& b) { b.mutable_image()->clear_data(); }, "content[0].image.data"},
      {Image(), [](auto& b) { b.mutable_image()->clear_mime_type(); },
       "content[0].image.mime_type"},
      {{}, [](auto& b) { b.mutable_audio(); }, "content[0].audio.data"},
      {{}, [](auto& b) { b.mutable_audio()->set_data("x"); }, "content[0].audio.mime_type"},
      {Link(), [](auto&) {}, ""},
      {Link(), [](auto& b) { b.mutable_resource_link()->clear_uri(); },
       "content[0].resource_link.uri"},
      {Link(), [](auto& b) { b.mutable_resource_link()->clear_name(); },
       "content[0].resource_link.name"},
      {Link(), [](auto& b) { b.mutable_resource_link()->set_size(-1); },
       "content[0].resource_link.size"},
      {Resource(), [](auto&) {}, ""},
      {Resource(), [](auto& b) { b.mutable_resource()->set_blob(""); }, ""},
      {Resource(), [](auto& b) { b.mutable_resource()->clear_uri(); }, "content[0].resource.uri"},
      {Resource(), [](auto& b) { b.mutable_resource()->clear_contents(); },
       "content[0].resource has no contents"},
  };
  for (const Case& one : cases) {
    v1::ContentBlock block = one.block;
    one.change(block);
    const absl::Status status = StatusOf(block);
    const bool fine = std::string(one.named).empty();
    EXPECT_EQ(session::ReasonOf(status), fine ? "" : "INVALID_REQUEST") << block.DebugString();
    EXPECT_NE(std::string(status.message()).find(one.named), std::string::npos) << status;
  }
}

// The words of a block at, under and over their limit; its contents have the request's.
TEST(ContentTest, WordsHave4KiB) {
  const std::pair<const char*, std::function<std::string*(v1::ContentBlock&)>> words[] = {
      {"image.mime_type", [](auto& b) { return b.mutable_image()->mutable_mime_type(); }},
      {"image.uri", [](auto& b) { return b.mutable_image()->mutable_uri(); }},
      {"resource_link.uri", [](auto& b) { return b.mutable_resource_link()->mutable_uri(); }},
      {"resource_link.name", [](auto& b) { return b.mutable_resource_link()->mutable_name(); }},
      {"resource_link.mime_type",
       [](auto& b) { return b.mutable_resource_link()->mutable_mime_type(); }},
      {"resource_link.title", [](auto& b) { return b.mutable_resource_link()->mutable_title(); }},
      {"resource_link.description",
       [](auto& b) { return b.mutable_resource_link()->mutable_description(); }},
      {"resource.uri", [](auto& b) { return b.mutable_resource()->mutable_uri(); }},
      {"resource.mime_type", [](auto& b) { return b.mutable_resource()->mutable_mime_type(); }},
  };
  for (const auto& [name, word] : words) {
    const std::string kind(name, std::string(name).find('.'));
    v1::ContentBlock block = kind == "image" ? Image() : kind == "resource" ? Resource() : Link();
    for (const size_t size : {kMaxTextBytes - 1, kMaxTextBytes}) {
      word(block)->assign(size, 'x');
      EXPECT_TRUE(StatusOf(block).ok()) << name << " " << size << " " << StatusOf(block);
    }
    word(block)->assign(kMaxTextBytes + 1, 'x');
    EXPECT_EQ(session::ReasonOf(StatusOf(block)), "INVALID_REQUEST") << name;
    EXPECT_NE(std::string(StatusOf(block).message()).find(name), std::string::npos);
  }
  v1::ContentBlock large;
  large.set_text(std::string(1 << 20, 'x'));
  EXPECT_TRUE(StatusOf(large).ok());
}

TEST(ContentTest, NumberOfBlocks) {
  ContentBlocks blocks;
  for (const int count : {255, 256, 257}) {
    while (blocks.size() < count) blocks.Add()->set_text("x");
    Checks checks;
    CheckContent(blocks, checks);
    EXPECT_EQ(checks.status().ok(), count <= 256) << count;
  }
}

TEST(ContentTest, TheFaultIsNamedWithItsPlace) {
  ContentBlocks blocks;
  blocks.Add()->set_text("x");
  *blocks.Add() = Image();
  blocks.Add()->mutable_audio()->set_mime_type("audio/wav");
  Checks checks;
  CheckContent(blocks, checks);
  EXPECT_NE(checks.status().message().find("content[2].audio.data"), absl::string_view::npos)
      << checks.status();
}

TEST(ContentTest, EachBlockComesOverWhole) {
  ContentBlocks blocks;
  blocks.Add()->set_text("words");
  *blocks.Add() = Image();
  blocks.Mutable(1)->mutable_image()->set_uri("file:///i");
  auto* audio = blocks.Add()->mutable_audio();
  audio->set_data("sound");
  audio->set_mime_type("audio/wav");
  *blocks.Add() = Link();
  auto* link = blocks.Mutable(3)->mutable_resource_link();
  link->set_mime_type("text/plain");
  link->set_title("title");
  link->set_description("description");
  link->set_size(7);
  *blocks.Add() = Resource();
  blocks.Mutable(4)->mutable_resource()->set_text("in it");
  blocks.Mutable(4)->mutable_resource()->set_mime_type("text/plain");
  *blocks.Add() = Resource();
  blocks.Mutable(5)->mutable_resource()->set_blob("bytes");
  const std::vector<acp::ContentBlock> expected = {
      {BlockKind::kText, "words", "", false, "", "", "", "", "", 0},
      {BlockKind::kImage, "", Png(), false, "image/png", "file:///i", "", "", "", 0},
      {BlockKind::kAudio, "", "sound", false, "audio/wav", "", "", "", "", 0},
      {BlockKind::kResourceLink, "", "", false, "text/plain", "file:///srv/a.txt", "a.txt", "title",
       "description", 7},
      {BlockKind::kResource, "in it", "", false, "text/plain", "file:///srv/a.txt", "", "", "", 0},
      {BlockKind::kResource, "", "bytes", true, "", "file:///srv/a.txt", "", "", "", 0},
  };
  const auto content = ContentFrom(blocks);
  ASSERT_EQ(content.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(content[i], expected[i]) << i;
}

}  // namespace
}  // namespace acpd::server
