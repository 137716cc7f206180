#ifndef ACPD_ACP_JSON_GRAMMAR_H_
#define ACPD_ACP_JSON_GRAMMAR_H_

#include <cstddef>
#include <memory>
#include <string_view>

namespace acpd::acp {

// Says whether a text is JSON, before anything is taken out of it: simdjson's on-demand reader
// checks neither the grammar nor the depth of what it skips. Reuses its buffers. Not thread-safe.
class JsonGrammar {
 public:
  enum class Verdict {
    kObject,
    kOther,    // an array, a string, a number, true, false, null
    kNotJson,  // invalid UTF-8 and lone surrogate escapes included
    kTooDeep,  // more than `max_depth` levels; what comes behind them was not looked at
  };

  explicit JsonGrammar(size_t max_depth);
  ~JsonGrammar();
  JsonGrammar(JsonGrammar&&) noexcept;
  JsonGrammar& operator=(JsonGrammar&&) noexcept;

  // 64 bytes behind `text` must be readable.
  Verdict Check(std::string_view text);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace acpd::acp

#endif  // ACPD_ACP_JSON_GRAMMAR_H_
