#include <gtest/gtest.h>

#include <functional>

#include "server/option_request.h"
#include "session/errors.h"

namespace acpd::server {
namespace {

v1::SetSessionOptionRequest Request(
    const std::function<void(v1::SetSessionOptionRequest&)>& change) {
  v1::SetSessionOptionRequest request;
  request.set_session_id("s");
  change(request);
  return request;
}

TEST(OptionRequestTest, ItIsChecked) {
  struct Case {
    const char* name;
    std::function<void(v1::SetSessionOptionRequest&)> change;
    const char* reason;
    const char* named;
  };
  const Case cases[] = {
      {"nothing", [](auto&) {}, "INVALID_REQUEST", "mode_id, config, title or labels"},
      {"no session",
       [](auto& r) {
         r.clear_session_id();
         r.set_title("x");
       },
       "INVALID_SESSION_ID", "session_id"},
      {"empty mode", [](auto& r) { r.set_mode_id(""); }, "INVALID_REQUEST", "mode_id"},
      {"empty option", [](auto& r) { r.mutable_config(); }, "INVALID_REQUEST", "config.config_id"},
      {"no value", [](auto& r) { r.mutable_config()->set_config_id("model"); }, "INVALID_REQUEST",
       "config has no value"},
      {"title taken away", [](auto& r) { r.set_title(""); }, "", ""},
      {"labels taken away", [](auto& r) { r.mutable_labels(); }, "", ""},
  };
  for (const Case& one : cases) {
    const auto change = SessionChangeFrom(Request(one.change));
    EXPECT_EQ(session::ReasonOf(change.status()), one.reason) << one.name;
    EXPECT_NE(std::string(change.status().message()).find(one.named), std::string::npos)
        << change.status();
  }
}

// Each text at, under and over its limit.
TEST(OptionRequestTest, TextsHave4KiB) {
  const std::pair<const char*, std::function<void(v1::SetSessionOptionRequest&, std::string)>>
      texts[] = {
          {"mode_id", [](auto& r, std::string text) { r.set_mode_id(text); }},
          {"title", [](auto& r, std::string text) { r.set_title(text); }},
          {"config.config_id",
           [](auto& r, std::string text) {
             r.mutable_config()->set_config_id(text);
             r.mutable_config()->set_boolean(true);
           }},
          {"config.select",
           [](auto& r, std::string text) {
             r.mutable_config()->set_config_id("model");
             r.mutable_config()->set_select(text);
           }},
      };
  for (const auto& [name, set] : texts) {
    for (const size_t size : {kMaxTextBytes - 1, kMaxTextBytes, kMaxTextBytes + 1}) {
      const auto change =
          SessionChangeFrom(Request([&, size = size](auto& r) { set(r, std::string(size, 'x')); }));
      EXPECT_EQ(change.ok(), size <= kMaxTextBytes) << name << " " << size;
      if (change.ok()) continue;
      EXPECT_NE(std::string(change.status().message()).find(name), std::string::npos);
    }
  }
}

TEST(OptionRequestTest, NumberOfLabels) {
  v1::SetSessionOptionRequest request = Request([](auto& r) { r.mutable_labels(); });
  for (int i = 0; i < 65; ++i) {
    EXPECT_TRUE(SessionChangeFrom(request).ok()) << i;
    (*request.mutable_labels()->mutable_labels())[std::to_string(i)] = "x";
  }
  EXPECT_EQ(session::ReasonOf(SessionChangeFrom(request).status()), "INVALID_REQUEST");
}

TEST(OptionRequestTest, ExactlyOneThingChanges) {
  const acp::TraceContext trace{"parent", "", ""};
  const auto changed = [&](const std::function<void(v1::SetSessionOptionRequest&)>& change) {
    const auto result = SessionChangeFrom(Request(change), trace);
    EXPECT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->trace, trace);
    EXPECT_EQ(result->mode_id.has_value() + result->option.has_value() + result->title.has_value() +
                  result->labels.has_value(),
              1);
    return *result;
  };
  EXPECT_EQ(changed([](auto& r) { r.set_mode_id("plan"); }).mode_id, "plan");
  EXPECT_EQ(changed([](auto& r) { r.set_title(""); }).title, "");
  EXPECT_EQ(changed([](auto& r) { (*r.mutable_labels()->mutable_labels())["a"] = "b"; }).labels,
            (session::Labels{{"a", "b"}}));
  EXPECT_EQ(changed([](auto& r) {
              r.mutable_config()->set_config_id("fast");
              r.mutable_config()->set_boolean(false);
            }).option,
            (acp::OptionValue{"fast", true, false, ""}));
  EXPECT_EQ(changed([](auto& r) {
              r.mutable_config()->set_config_id("model");
              r.mutable_config()->set_select("big");
            }).option,
            (acp::OptionValue{"model", false, false, "big"}));
}

}  // namespace
}  // namespace acpd::server
