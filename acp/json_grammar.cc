#include "acp/json_grammar.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

namespace acpd::acp {
namespace {

using Verdict = JsonGrammar::Verdict;

constexpr size_t kLeastGrammarCapacity = 4096;

// The deepest nesting in `text`, without recursion; exact when it is JSON.
size_t CountLevels(std::string_view text) {
  size_t depth = 0;
  size_t deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

struct JsonGrammar::Impl {
  explicit Impl(size_t depth) : max_depth(depth) {}

  // simdjson grows to exactly what one text needs; twice the size keeps a slowly growing stream
  // from reallocating at each line.
  simdjson::error_code Parse(std::string_view text, size_t depth) {
    const size_t wanted = std::bit_ceil(std::max(text.size() + 1, kLeastGrammarCapacity));
    if (parser.capacity() < wanted || parser.max_depth() != depth) {
      if (const auto error = parser.allocate(std::max(parser.capacity(), wanted), depth))
        return error;
    }
    return parser.parse(text.data(), text.size(), false).get(root);
  }

  Verdict Kind() const { return root.is_object() ? Verdict::kObject : Verdict::kOther; }

  // simdjson counts a container only once it holds something: at the limit itself its word is not
  // final.
  Verdict CheckDeep(std::string_view text) {
    if (CountLevels(text) > max_depth) return Verdict::kTooDeep;
    const simdjson::error_code error = Parse(text, max_depth + 2);
    if (error == simdjson::NUMBER_ERROR) return CheckNumbers(text);
    return error ? Verdict::kNotJson : Kind();
  }

  // simdjson refuses whole numbers beyond 64 bits, which are JSON all the same. (accept() does not
  // recurse, and takes a NUL for the end of the text.)
  Verdict CheckNumbers(std::string_view text) const {
    if (CountLevels(text) > max_depth) return Verdict::kTooDeep;
    if (text.find('\0') != text.npos || !nlohmann::json::accept(text)) return Verdict::kNotJson;
    return text[text.find_first_not_of(" \t\r\n")] == '{' ? Verdict::kObject : Verdict::kOther;
  }

  const size_t max_depth;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
};

JsonGrammar::JsonGrammar(size_t max_depth) : impl_(std::make_unique<Impl>(max_depth)) {}
JsonGrammar::~JsonGrammar() = default;
JsonGrammar::JsonGrammar(JsonGrammar&&) noexcept = default;
JsonGrammar& JsonGrammar::operator=(JsonGrammar&&) noexcept = default;

Verdict JsonGrammar::Check(std::string_view text) {
  switch (impl_->Parse(text, impl_->max_depth)) {
    case simdjson::SUCCESS:
      return impl_->Kind();
    case simdjson::DEPTH_ERROR:
      return impl_->CheckDeep(text);
    case simdjson::NUMBER_ERROR:
      return impl_->CheckNumbers(text);
    default:
      return Verdict::kNotJson;
  }
}

}  // namespace acpd::acp
