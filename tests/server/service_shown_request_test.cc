#include <gtest/gtest.h>

#include <algorithm>

#include "server/shown_request.h"

namespace acpd::server {
namespace {

v1::ChatRequest Shown(v1::ChatRequest request) {
  MakeShown(&request);
  return request;
}

TEST(ShownRequestTest, HasNoBytesAndNoSecrets) {
  v1::ChatRequest request;
  auto* image = request.add_content()->mutable_image();
  image->set_data(std::string(5 << 20, 'x'));
  image->set_mime_type("image/png");
  request.add_content()->mutable_audio()->set_data("x");
  request.add_content()->mutable_resource()->set_blob("x");
  request.add_content()->mutable_resource()->set_text("words");
  auto* server = request.add_mcp_servers();
  server->set_name("files");
  (*server->mutable_stdio()->mutable_env())["TOKEN"] = "hidden";
  (*server->mutable_stdio()->mutable_env())["REF"] = "${secret:a}";
  request.set_meta_json(R"({"token":"hidden"})");
  request.set_system_prompt("be kind");
  request.add_additional_directories("/a");
  request.set_mode_id("plan");
  request.add_config_options()->set_config_id("model");
  v1::ChatRequest expected = request;
  expected.mutable_content(0)->mutable_image()->clear_data();
  expected.mutable_content(1)->mutable_audio()->clear_data();
  expected.mutable_content(2)->mutable_resource()->set_blob("");
  (*expected.mutable_mcp_servers(0)->mutable_stdio()->mutable_env())["TOKEN"] = "";
  expected.clear_meta_json();
  EXPECT_EQ(Shown(request).DebugString(), expected.DebugString());
}

// At, under and over the 64 KiB for what a request has beside its prompt.
TEST(ShownRequestTest, HasAsMuchAsFits) {
  constexpr size_t kMax = kMaxRequestRest;
  for (const size_t size : {kMax - 1, kMax, kMax + 1}) {
    v1::ChatRequest request;
    request.set_system_prompt(std::string(size, 'x'));
    EXPECT_EQ(Shown(request).system_prompt().size(), std::min(size, kMax));
  }
  v1::ChatRequest request;
  request.set_mode_id("plan");
  for (int i = 0; i < 64; ++i) request.add_additional_directories(std::string(1000, '/'));
  for (int i = 0; i < 3; ++i) request.add_content()->set_text("block " + std::to_string(i));
  request.add_content()->set_text(std::string(2000, 'x'));
  request.add_content()->set_text("behind it");
  request.set_system_prompt(std::string(4000, '\xc3'));
  for (size_t i = 1; i < 4000; i += 2) (*request.mutable_system_prompt())[i] = '\xa9';
  const v1::ChatRequest shown = Shown(request);
  EXPECT_EQ(shown.mode_id(), "plan");
  EXPECT_EQ(shown.additional_directories_size(), 64);
  EXPECT_EQ(shown.content_size(), 3);
  EXPECT_EQ(shown.system_prompt(), request.system_prompt().substr(0, shown.system_prompt().size()));
  EXPECT_GT(shown.system_prompt().size(), 1000u);
  EXPECT_LE(shown.ByteSizeLong(), kMax + (1u << 10));
}

}  // namespace
}  // namespace acpd::server
