// Forms of agents without a terminal: values as typed, what is offered, how a form is put in words.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "cli/form_values.h"
#include "cli/form_words.h"
#include "cli/question_forms.h"
#include "cli/text.h"

namespace acpd::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string FormOf(const std::string& property, bool required = false) {
  return R"({"type": "object", "properties": {"f": )" + property + "}" +
         (required ? R"(, "required": ["f"]})" : "}");
}

FormField FieldOf(const std::string& property, bool required = false) {
  return ReadFormSchema(FormOf(property, required)).fields.at(0);
}

struct ValueRow {
  const char* property;
  std::string typed;
  std::string value;  // JSON; empty: it is wrong
  std::string wrong;  // what is said of it
};
void PrintTo(const ValueRow& row, std::ostream* out) { *out << row.property << ": " << row.typed; }

constexpr char kText[] = R"({"type": "string"})";
constexpr char kShort[] = R"({"type": "string", "minLength": 2, "maxLength": 3})";
constexpr char kNumber[] = R"({"type": "number"})";
constexpr char kWhole[] = R"({"type": "integer", "minimum": -1})";
constexpr char kYesNo[] = R"({"type": "boolean"})";
constexpr char kOne[] = R"({"type": "string", "enum": ["2", "1", "Blue"]})";
constexpr char kTitled[] = R"({"type": "string", "oneOf": [{"const": "b", "title": "Blue"}]})";
constexpr char kSome[] =
    R"({"type": "array", "minItems": 1, "items": {"anyOf": [{"const": "x,y", "title": "XY"},
                                                              {"const": "z", "title": "Z"}]}})";
constexpr char kFuture[] = R"({"type": "_colour"})";

class FormValueTest : public ::testing::TestWithParam<ValueRow> {};

INSTANTIATE_TEST_SUITE_P(
    Rows, FormValueTest,
    ::testing::Values(ValueRow{kText, " as it is ", R"(" as it is ")", ""},
                      ValueRow{kText, "\xff", "", "UTF-8"}, ValueRow{kText, "\"", R"("\"")", ""},
                      ValueRow{kShort, "\u00e4\u00f6\u00fc", "\"\u00e4\u00f6\u00fc\"", ""},
                      ValueRow{kShort, "a", "", "please give 2 to 3 characters"},
                      ValueRow{kShort, "abcd", "", "please give 2 to 3 characters"},
                      ValueRow{kNumber, "1.50", "1.5", ""}, ValueRow{kNumber, " -3 ", "-3", ""},
                      ValueRow{kNumber, "+2e3", "2000.0", ""},
                      ValueRow{kNumber, "inf", "", "please type a number"},
                      ValueRow{kNumber, "0x10", "", "please type a number"},
                      ValueRow{kNumber, "1,5", "", "please type a number"},
                      ValueRow{kNumber, "1e999", "", "please type a number"},
                      ValueRow{kWhole, "9007199254740993", "9007199254740993", ""},
                      ValueRow{kWhole, "99999999999999999999", "", "please type a whole number"},
                      ValueRow{kWhole, "1.0", "", "please type a whole number"},
                      ValueRow{kWhole, "-2", "", "please give at least -1"},
                      ValueRow{kYesNo, "Y", "true", ""}, ValueRow{kYesNo, "false", "false", ""},
                      ValueRow{kYesNo, "1", "", "please type y or n"},
                      // Numbers of the list go before values that look like them.
                      ValueRow{kOne, "1", R"("2")", ""}, ValueRow{kOne, "blue", R"("Blue")", ""},
                      ValueRow{kOne, "4", "", "please type a number from 1 to 3"},
                      ValueRow{kTitled, "blue", R"("b")", ""}, ValueRow{kTitled, "b", R"("b")", ""},
                      ValueRow{kSome, "2, 1,2", R"(["z", "x,y"])", ""},
                      ValueRow{kSome, "xy", R"(["x,y"])", ""},
                      ValueRow{kSome, "3", "", "\"3\" is none of them"},
                      ValueRow{kSome, ",", "", "please give at least 1 of them"},
                      ValueRow{R"({"type": "array"})", "a, b", R"(["a", "b"])", ""},
                      ValueRow{kFuture, "red", R"("red")", ""}));

TEST_P(FormValueTest, IsReadOrSaidToBeWrong) {
  FormJson value;
  const std::string wrong = ReadFormValue(FieldOf(GetParam().property), GetParam().typed, &value);
  EXPECT_EQ(wrong.empty(), GetParam().wrong.empty()) << wrong;
  EXPECT_THAT(wrong, HasSubstr(GetParam().wrong));
  EXPECT_EQ(wrong.empty() ? value : FormJson(),
            GetParam().value.empty() ? FormJson() : FormJson::parse(GetParam().value));
}

TEST(FormFieldsTest, StandInTheAgentsOrder) {
  const FormSchema schema = ReadFormSchema(
      R"({"properties": {"z": {"type": "string"}, "a": {"type": "string"}, "m": {}}})");
  std::vector<std::string> names;
  for (const FormField& field : schema.fields) names.push_back(field.name);
  EXPECT_THAT(names, ElementsAre("z", "a", "m"));
}

TEST(FormFieldsTest, ADefaultThatDoesNotFitIsNotOffered) {
  EXPECT_EQ(FieldOf(R"({"type": "string", "default": "x"})").fallback, FormJson("x"));
  for (const char* property :
       {R"({"type": "string", "enum": ["a"], "default": "x"})",
        R"({"type": "string", "default": 1})", R"({"type": "string", "default": null})",
        R"({"type": "integer", "default": 1.5})", R"({"type": "integer", "default": "1"})",
        R"({"type": "integer", "maximum": 0, "default": 1})",
        R"({"type": "boolean", "default": "yes"})", R"({"type": "array", "default": "a"})",
        R"({"type": "array", "items": {"enum": ["a"]}, "default": ["b"]})"})
    EXPECT_FALSE(FieldOf(property).fallback) << property;
}

TEST(FormFieldsTest, NothingTickedIsAnAnswerWhereItMayBe) {
  EXPECT_EQ(FieldOf(R"({"type": "array"})", true).fallback, FormJson::array());
  EXPECT_FALSE(FieldOf(R"({"type": "array"})", false).fallback);
  EXPECT_FALSE(FieldOf(R"({"type": "array", "minItems": 1})", true).fallback);
}

TEST(FormFieldsTest, SchemasThatAreNoneHaveNoFields) {
  for (const char* schema : {"", "null", "[]", "{\"properties\": [1]}", "{\"properties\": {"})
    EXPECT_TRUE(ReadFormSchema(schema).fields.empty()) << schema;
  // What is wrong in a field is left out.
  const FormField field = FieldOf(
      R"({"type": ["string"], "title": 1, "enum": "x", "minLength": "2", "oneOf": [1, {}]})");
  EXPECT_EQ(FieldHeading(field), "f (optional)");
}

TEST(FormWordsTest, LimitsAndFormats) {
  const auto heading = [](const char* property) { return FieldHeading(FieldOf(property, true)); };
  EXPECT_EQ(heading(kText), "f (required)");
  EXPECT_EQ(heading(kShort), "f (required, 2 to 3 characters)");
  EXPECT_EQ(heading(kWhole), "f (required, a whole number: at least -1)");
  EXPECT_EQ(heading(R"({"type": "number", "minimum": 0.5, "maximum": 0.5})"),
            "f (required, a number: exactly 0.5)");
  EXPECT_EQ(heading(R"({"type": "string", "format": "date", "maxLength": 10})"),
            "f (required, a date such as 2026-01-31: at most 10 characters)");
  EXPECT_EQ(heading(R"({"type": "string", "title": "F", "description": "it"})"),
            "F (f, required) - it");
}

// The command that it goes into is for a shell.
TEST(FormWordsTest, AnExampleHasNoApostrophes) {
  const FormSchema schema = ReadFormSchema(
      R"({"properties": {"it's": {"type": "string", "enum": ["'; rm -rf x; '"]}},
          "required": ["it's"]})");
  const std::string example = ExampleContent(schema);
  EXPECT_EQ(example.find('\''), std::string::npos) << example;
  EXPECT_EQ(FormJson::parse(example), (FormJson{{"it's", "'; rm -rf x; '"}}));
}

TEST(FormWordsTest, AnExampleHasWhatIsRequired) {
  const FormSchema schema = ReadFormSchema(R"({"properties": {
      "n": {"type": "integer", "minimum": 5}, "b": {"type": "boolean"}, "left": {"type": "string"},
      "s": {"type": "array", "items": {"enum": ["x"]}, "minItems": 1},
      "m": {"type": "string", "format": "email"}}, "required": ["n", "b", "s", "m"]})");
  EXPECT_EQ(ExampleContent(schema), R"({"n":5,"b":true,"s":["x"],"m":"name@example.com"})");
}

TEST(QuestionFormTest, BackAtTheFirstFieldStaysThere) {
  QuestionForm form(FormOf(kText, true));
  std::string wrong;
  EXPECT_EQ(form.Take("!back", &wrong), QuestionForm::Wish::kGoOn);
  EXPECT_EQ(wrong, "");
  EXPECT_EQ(form.Prompt(), "  f (required): ");
  form.Take("!skip", &wrong);
  EXPECT_THAT(wrong, HasSubstr("required"));
}

TEST(QuestionFormTest, AFieldsNameGoesBeforeTheBeginningOfAWord) {
  QuestionForm form(R"({"type": "object", "properties": {"s": {"type": "string"}}})");
  std::string wrong;
  form.Take("a", &wrong);
  EXPECT_EQ(form.Take("s", &wrong), QuestionForm::Wish::kGoOn);
  EXPECT_EQ(form.Prompt(), "  s (optional) [a]: ");
  form.Take("", &wrong);
  EXPECT_EQ(form.Take("send", &wrong), QuestionForm::Wish::kSend);
}

TEST(QuestionFormTest, ARefusalOfNoFieldStaysAtTheReview) {
  QuestionForm form(FormOf(kText));
  std::string wrong;
  form.Take("a", &wrong);
  const std::string review = form.Prompt();
  form.Reopen("`g` is required: give it a value.");
  EXPECT_EQ(form.Prompt(), review);
  form.Reopen("`f` has to be shorter.");
  EXPECT_EQ(form.Prompt(), "  f (optional) [a]: ");
}

TEST(ShownTest, KeepsTextAndDropsCommands) {
  EXPECT_EQ(Shown("a\tb\nc \u00e9\u20ac\U0001f600"), "a\tb\nc \u00e9\u20ac\U0001f600");
  EXPECT_EQ(Shown("a\r\nb"), "a\nb");
  EXPECT_EQ(Shown("\x1b[1m\x07\x7f"), "\uFFFD[1m\uFFFD\uFFFD");
  EXPECT_EQ(Shown("\xC2\x9B"
                  "1m\u202e\u2066"),
            "\uFFFD"
            "1m\uFFFD\uFFFD");
  EXPECT_EQ(Shown("\xC2"), "\xC2");
  EXPECT_EQ(ShownLine(" a\n b "), "a  b");
}

}  // namespace
}  // namespace acpd::cli
