#include "cli/question_forms.h"

#include <algorithm>
#include <utility>

#include "cli/form_values.h"
#include "cli/form_words.h"
#include "cli/text.h"

namespace acpd::cli {
namespace {

using Wish = QuestionForm::Wish;

// What may be typed instead of a value; at the review without the mark.
constexpr char kSkip[] = "!skip";
constexpr char kBack[] = "!back";
constexpr char kDecline[] = "!decline";
constexpr char kCancel[] = "!cancel";
constexpr char kIntro[] =
    "  Enter takes what stands in [ ]; !back: the field before; !skip: leave a field out;\n"
    "  !decline and !cancel end the form. Nothing is sent before you have seen all of it.\n";

// Whether it is the word or its beginning ("s"), and no other's: "c" may be two.
bool Means(const std::string& typed, const std::string& word) {
  return !typed.empty() && typed != "c" && word.starts_with(typed);
}

}  // namespace

std::string QuestionForm::Intro() const {
  std::string intro;
  for (const std::string& text : {schema_.title, schema_.description}) {
    if (!text.empty()) intro += "  " + ShownLine(text) + "\n";
  }
  return schema_.fields.empty() ? intro : intro + kIntro;
}

std::string QuestionForm::Prompt() const { return reviewing() ? Review() : FieldPrompt(); }

const std::optional<FormJson>& QuestionForm::Offered() const {
  const Answer& answer = answers_[next_];
  return answer.given ? answer.value : field().fallback;
}

std::string QuestionForm::FieldPrompt() const {
  std::string prompt = "  " + FieldHeading(field());
  const std::vector<std::string> choices = ChoiceLines(field());
  for (const std::string& choice : choices) prompt += "\n    " + choice;
  if (!choices.empty()) prompt += "\n  1-" + std::to_string(choices.size());
  if (Offered()) prompt += " [" + ShowFormValue(field(), Offered()) + "]";
  if (!Offered() && !field().required) prompt += " [leave it out]";
  return prompt + ": ";
}

std::string QuestionForm::Review() const {
  if (schema_.fields.empty()) return "  nothing is to be filled in: send, decline or cancel? ";
  std::string review = "  To be sent:\n";
  for (size_t i = 0; i < schema_.fields.size(); ++i) {
    review += "    " + std::to_string(i + 1) + ") " + FieldLabel(schema_.fields[i]) + ": " +
              ShowFormValue(schema_.fields[i], answers_[i].value) + "\n";
  }
  return review + "  send, change, decline or cancel? (a number changes that field) ";
}

Wish QuestionForm::Take(const std::string& line, std::string* wrong) {
  if (reviewing()) return TakeReview(Lowered(Trimmed(line)), wrong);
  const std::string word = Trimmed(line);
  if (word == kDecline) return Wish::kDecline;
  if (word == kCancel) return Wish::kCancel;
  if (word == kBack) {
    GoBack();
  } else {
    *wrong = TakeValue(word == kSkip || word.empty() ? word : line);
  }
  return Wish::kGoOn;
}

std::string QuestionForm::TakeValue(const std::string& line) {
  if (line.empty() && Offered()) {
    Keep(Offered());
    return "";
  }
  if (line.empty() || line == kSkip) {
    if (field().required) return "it is required; please give a value";
    Keep(std::nullopt);
    return "";
  }
  FormJson value;
  const std::string wrong = ReadFormValue(field(), line, &value);
  if (wrong.empty()) Keep(std::move(value));
  return wrong;
}

void QuestionForm::Keep(std::optional<FormJson> value) {
  answers_[next_] = Answer{true, std::move(value)};
  next_ = only_this_ ? schema_.fields.size() : next_ + 1;
  only_this_ = false;
}

void QuestionForm::GoBack() {
  if (next_ > 0) --next_;
}

Wish QuestionForm::TakeReview(const std::string& line, std::string* wrong) {
  // A field may be called "s": its name goes before the beginning of a word.
  const bool is_field = NamesField(line);
  const auto means = [&](const std::string& word) {
    return line == word || (!is_field && Means(line, word));
  };
  if (means("send")) return Wish::kSend;
  if (means("decline")) return Wish::kDecline;
  if (means("cancel")) return Wish::kCancel;
  const size_t blank = line.find(' ');
  const bool change = !is_field && Means(line.substr(0, blank), "change");
  if (change && blank == std::string::npos && !schema_.fields.empty()) {
    next_ = 0;
  } else {
    *wrong = Change(change ? Trimmed(line.substr(std::min(blank, line.size()))) : line);
  }
  return Wish::kGoOn;
}

bool QuestionForm::NamesField(const std::string& line) const {
  return std::any_of(schema_.fields.begin(), schema_.fields.end(),
                     [&line](const auto& field) { return Lowered(field.name) == line; });
}

void QuestionForm::AskOnly(size_t index) {
  next_ = index;
  only_this_ = true;
}

std::string QuestionForm::Change(const std::string& which) {
  for (size_t i = 0; i < schema_.fields.size(); ++i) {
    if (which != std::to_string(i + 1) && which != Lowered(schema_.fields[i].name)) continue;
    AskOnly(i);
    return "";
  }
  return schema_.fields.empty()
             ? "please type send, decline or cancel"
             : "please type send, change, decline or cancel, or a field's number";
}

void QuestionForm::Reopen(const std::string& refusal) {
  for (size_t i = 0; i < schema_.fields.size(); ++i) {
    if (refusal.find("`" + schema_.fields[i].name + "`") != std::string::npos) return AskOnly(i);
  }
}

std::string QuestionForm::Content() const {
  FormJson content = FormJson::object();
  for (size_t i = 0; i < schema_.fields.size(); ++i) {
    if (answers_[i].value) content[schema_.fields[i].name] = *answers_[i].value;
  }
  return content.dump();
}

}  // namespace acpd::cli
