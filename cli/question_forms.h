#ifndef ACPD_CLI_QUESTION_FORMS_H_
#define ACPD_CLI_QUESTION_FORMS_H_

#include <google/protobuf/struct.pb.h>

#include <optional>
#include <string>
#include <vector>

namespace acpd::cli {

// A form that an agent wants filled in, read from its JSON schema, field by field at a terminal.
// What was typed is turned into the JSON that the schema wants; acpd checks it once more.
class QuestionForm {
 public:
  explicit QuestionForm(const std::string& schema_json);

  bool done() const { return next_ >= fields_.size(); }
  // "  colour (red, green) [red]: ".
  std::string Prompt() const;
  // The field's value; empty: its default, or it is left out. Nothing: it was taken; else what is
  // wrong with it.
  std::string Fill(const std::string& line);
  // The whole content, as JSON.
  std::string Content() const;

 private:
  struct Field {
    std::string name, title, description, type;
    std::vector<std::string> choices;  // of a text or of several
    bool required = false;
    std::optional<google::protobuf::Value> fallback;
  };
  static Field ReadField(const std::string& name, const google::protobuf::Struct& schema);

  std::vector<Field> fields_;
  size_t next_ = 0;
  google::protobuf::Struct content_;
};

}  // namespace acpd::cli

#endif  // ACPD_CLI_QUESTION_FORMS_H_
