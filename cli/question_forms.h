#ifndef ACPD_CLI_QUESTION_FORMS_H_
#define ACPD_CLI_QUESTION_FORMS_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/form_fields.h"

namespace acpd::cli {

// A form that an agent wants filled in, asked field by field at a terminal, in the agent's order,
// and reviewed before it is sent. Prints nothing itself.
class QuestionForm {
 public:
  explicit QuestionForm(const std::string& schema_json) : schema_(ReadFormSchema(schema_json)) {
    answers_.resize(schema_.fields.size());
  }

  // The form's own words, and what can be typed beside values.
  std::string Intro() const;
  // What is asked now: a field or, behind the last one, the review.
  std::string Prompt() const;

  // What the person wants with a line.
  enum class Wish {
    kGoOn,  // Prompt has the next question
    kSend,
    kDecline,
    kCancel,
  };
  // `wrong`: why it was not taken; then the same is asked again.
  Wish Take(const std::string& line, std::string* wrong);
  // acpd did not take the content, with these words: what they name is asked again, then the review
  // comes.
  void Reopen(const std::string& refusal);
  // What is to be sent, as JSON.
  std::string Content() const;

 private:
  struct Answer {
    bool given = false;             // asked for and answered; else the field's default is offered
    std::optional<FormJson> value;  // nullopt: left out
  };
  const FormField& field() const { return schema_.fields[next_]; }
  bool reviewing() const { return next_ >= schema_.fields.size(); }
  // What Enter takes for the field that is asked.
  const std::optional<FormJson>& Offered() const;
  void Keep(std::optional<FormJson> value);
  void GoBack();
  std::string FieldPrompt() const;
  std::string Review() const;
  std::string TakeValue(const std::string& line);
  Wish TakeReview(const std::string& line, std::string* wrong);
  bool NamesField(const std::string& line) const;  // in lower case
  // A field by its number or name; else what may be typed.
  std::string Change(const std::string& which);
  void AskOnly(size_t index);

  FormSchema schema_;
  std::vector<Answer> answers_;  // one for each field
  size_t next_ = 0;              // the field that is asked; behind the last: the review
  bool only_this_ = false;       // the review comes right after this field
};

}  // namespace acpd::cli

#endif  // ACPD_CLI_QUESTION_FORMS_H_
