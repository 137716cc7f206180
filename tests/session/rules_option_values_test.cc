// Which values and modes an agent offers, and what is wanted of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/errors.h"
#include "session/option_values.h"

namespace acpd::session {
namespace {

using ::testing::HasSubstr;

acp::ConfigOption SelectOf(const std::string& id, const std::string& category) {
  acp::ConfigOption option;
  option.id = id;
  option.category = category;
  option.select = "a";
  option.choices = {{"a", "A", "", ""}, {"b", "B", "", ""}};
  return option;
}

acp::ConfigOption BooleanOf(const std::string& id, const std::string& category) {
  acp::ConfigOption option;
  option.id = id;
  option.category = category;
  option.is_boolean = true;
  return option;
}

TEST(OptionValues, AreOfferedOrRefusedWithWhatThereIs) {
  acp::ConfigOption open = SelectOf("open", "");
  open.choices.clear();
  const std::vector<acp::ConfigOption> options = {SelectOf("model", "model"), BooleanOf("fast", ""),
                                                  open};
  const struct {
    acp::OptionValue value;
    const char* refusal;  // a part of it; empty: it is offered
  } rows[] = {
      {{"model", false, false, "b"}, ""},
      {{"model", false, false, "c"}, "cannot be \"c\"; it offers: a, b."},
      {{"model", true, true, ""}, "cannot be true; it offers: a, b."},
      {{"fast", true, true, ""}, ""},
      {{"fast", false, false, "yes"}, "cannot be \"yes\"; it offers: true and false."},
      {{"open", false, false, "whatever"}, ""},
      {{"other", false, false, "a"}, "no option \"other\"; it has: model, fast, open."},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.value.config_id + " " + Words(row.value));
    const absl::Status status = CheckOffered(options, row.value);
    EXPECT_EQ(ReasonOf(status), *row.refusal == 0 ? "" : "NOT_SUPPORTED_BY_AGENT");
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.refusal));
  }
  EXPECT_THAT(std::string(CheckOffered({}, {"x", false, false, "a"}).message()),
              HasSubstr("it has: none."));
}

TEST(OptionValues, ModesAreOfferedOrRefusedWithWhatThereIs) {
  const std::vector<acp::ModeInfo> modes = {{"ask", "Ask", ""}, {"code", "Code", ""}};
  EXPECT_TRUE(CheckMode(modes, "code").ok());
  const absl::Status refused = CheckMode(modes, "Code");
  EXPECT_EQ(ReasonOf(refused), "NOT_SUPPORTED_BY_AGENT");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("no mode \"Code\"; it has: ask, code."));
  EXPECT_THAT(std::string(CheckMode({}, "code").message()), HasSubstr("it has: none."));
}

TEST(OptionValues, TheModeIsTheFirstSelectOfThatCategory) {
  EXPECT_EQ(ModeOption({SelectOf("model", "model"), BooleanOf("plan", "mode")}), nullptr);
  const std::vector<acp::ConfigOption> options = {BooleanOf("plan", "mode"), SelectOf("m", "mode"),
                                                  SelectOf("n", "mode")};
  ASSERT_NE(ModeOption(options), nullptr);
  EXPECT_EQ(ModeOption(options)->id, "m");
}

TEST(OptionValues, TheModelIsTheFirstSelectOfThatCategory) {
  EXPECT_EQ(ModelOption({SelectOf("m", "mode"), BooleanOf("b", "model")}), nullptr);
  const std::vector<acp::ConfigOption> options = {BooleanOf("b", "model"), SelectOf("m", "model"),
                                                  SelectOf("n", "model")};
  ASSERT_NE(ModelOption(options), nullptr);
  EXPECT_EQ(ModelOption(options)->id, "m");
}

TEST(OptionValues, TheLastWishForAnOptionCounts) {
  std::vector<acp::OptionValue> wanted;
  Want({"one", false, false, "a"}, wanted);
  Want({"two", true, true, ""}, wanted);
  Want({"one", false, false, "b"}, wanted);
  const std::vector<acp::OptionValue> both = {{"one", false, false, "b"}, {"two", true, true, ""}};
  EXPECT_EQ(wanted, both);
}

TEST(OptionValues, AnOptionHasTheValueItWasGiven) {
  const std::vector<acp::ConfigOption> options = {SelectOf("one", ""), SelectOf("two", "")};
  const acp::OptionValue value = {"two", false, false, "b"};
  const std::vector<acp::ConfigOption> changed = WithValue(options, value);
  EXPECT_FALSE(Has(options[1], value));
  EXPECT_TRUE(Has(changed[1], value));
  EXPECT_EQ(ValueOf(changed[1]), value);
  EXPECT_EQ(changed[0], options[0]);
  EXPECT_FALSE(Has(BooleanOf("two", ""), value));
}

TEST(OptionValues, OfThoseThatAreWantedTheOldestGoes) {
  std::vector<acp::OptionValue> wanted;
  for (int i = 0; i < 300; ++i) Want({"id-" + std::to_string(i), false, false, "a"}, wanted);
  Want({"id-299", false, false, "b"}, wanted);
  ASSERT_EQ(wanted.size(), 256u);
  EXPECT_EQ(wanted.front().config_id, "id-44");
  EXPECT_EQ(wanted.back().select, "b");
}

}  // namespace
}  // namespace acpd::session
