#include "server/json_position.h"

#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "acp/text.h"
#include "server/strings.h"

namespace acpd::server {
namespace {

constexpr size_t kMaxDepth = 32;

// Hands the text to the parser byte by byte and counts lines. The lexer reads one byte past a
// number, which may be the line's end: so a line end counts only once the byte behind it is read,
// and `*line` is the line of the token just read.
class LineIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  LineIterator(const char* at, int* line) : at_(at), line_(line) {}
  reference operator*() const { return *at_; }
  LineIterator& operator++() {
    if (after_line_end_) ++*line_;
    after_line_end_ = *at_ == '\n';
    ++at_;
    return *this;
  }
  bool operator==(const LineIterator& other) const { return at_ == other.at_; }
  bool operator!=(const LineIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  int* line_;
  bool after_line_end_ = false;
};

// Builds the tree. Each function returns false to stop; `error` says why then.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(const int* line, JsonNode* root) : line_(line), root_(root) {}

  bool null() override { return Add(JsonNode::Kind::kNull) != nullptr; }
  bool boolean(bool value) override {
    Add(JsonNode::Kind::kBool)->boolean = value;
    return true;
  }
  bool number_integer(number_integer_t value) override {
    JsonNode* node = Add(JsonNode::Kind::kInteger);
    node->integer = value;
    node->text = std::to_string(value);
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return number_integer(static_cast<int64_t>(value));
    }
    Add(JsonNode::Kind::kNumber)->text = std::to_string(value);
    return true;
  }
  bool number_float(number_float_t, const string_t& text) override {
    Add(JsonNode::Kind::kNumber)->text = text;
    return true;
  }
  bool string(string_t& value) override {
    Add(JsonNode::Kind::kString)->text = std::move(value);
    return true;
  }
  bool binary(binary_t&) override { return Fail("binary values do not belong into JSON"); }
  bool start_object(size_t) override { return Open(JsonNode::Kind::kObject); }
  bool start_array(size_t) override { return Open(JsonNode::Kind::kArray); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    if (const JsonNode* first = open_.back()->Find(name)) {
      return Fail(
          Cat("the key \"", name, "\" stands twice here (first on line ", first->key_line, ")"));
    }
    key_ = std::move(name);
    key_line_ = *line_;
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& e) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: what it is"
    const std::string what = e.what();
    const size_t prefix = what.find(": ");
    return Fail(prefix == std::string::npos ? what : what.substr(prefix + 2));
  }

  const std::string& error() const { return error_; }

 private:
  JsonNode* Add(JsonNode::Kind kind) {
    JsonNode* node = open_.empty() ? root_ : &open_.back()->items.emplace_back();
    node->kind = kind;
    node->line = *line_;
    node->key_line = *line_;
    if (!open_.empty() && open_.back()->kind == JsonNode::Kind::kObject) {
      node->key = std::move(key_);
      node->key_line = key_line_;
    }
    return node;
  }
  // The pointers in open_ stay good: a container is the last item of its parent while it is open.
  bool Open(JsonNode::Kind kind) {
    if (open_.size() >= kMaxDepth) return Fail(Cat("nested deeper than ", kMaxDepth));
    open_.push_back(Add(kind));
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }
  bool Fail(std::string_view what) {
    if (error_.empty()) error_ = Cat(*line_, ": ", RepairText(what));
    return false;
  }

  const int* line_;
  JsonNode* root_;
  std::vector<JsonNode*> open_;
  std::string key_;
  int key_line_ = 0;
  std::string error_;
};

}  // namespace

const JsonNode* JsonNode::Find(std::string_view name) const {
  for (const JsonNode& item : items) {
    if (item.key == name) return &item;
  }
  return nullptr;
}

std::string Describe(const JsonNode& node) {
  switch (node.kind) {
    case JsonNode::Kind::kNull:
      return "null";
    case JsonNode::Kind::kBool:
      return node.boolean ? "true" : "false";
    case JsonNode::Kind::kInteger:
    case JsonNode::Kind::kNumber:
      return Cat("the number ", node.text);
    case JsonNode::Kind::kString: {
      const std::string_view shown = CutText(node.text, 60);
      return Cat("the string \"", shown, shown.size() < node.text.size() ? "..." : "", "\"");
    }
    case JsonNode::Kind::kArray:
      return "a list";
    case JsonNode::Kind::kObject:
      return "an object";
  }
  return "something else";
}

absl::StatusOr<JsonNode> ParseJsonWithLines(std::string_view text) {
  int line = 1;
  JsonNode root;
  TreeBuilder builder(&line, &root);
  const LineIterator begin(text.data(), &line), end(text.data() + text.size(), &line);
  const bool whole =
      nlohmann::json::sax_parse(begin, end, &builder, nlohmann::json::input_format_t::json,
                                /*strict=*/true, /*ignore_comments=*/true);
  if (!whole) return absl::InvalidArgumentError(builder.error());
  return root;
}

}  // namespace acpd::server
