#ifndef ACPD_ACP_MESSAGE_H_
#define ACPD_ACP_MESSAGE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace acpd::acp {

// A `session/update` as the agent sent it. Views into the line or the parser: valid until the next
// Parse.
struct UpdateView {
  std::string_view session_id;
  std::string_view json;          // params.update verbatim, key order included
  std::string_view kind;          // its `sessionUpdate`
  std::string_view text;          // content.text of a text chunk (content.type "text"), else empty
  std::string_view message_id;    // messageId
  std::string_view tool_call_id;  // toolCallId
  std::string_view tool_status;   // status
  std::string_view title;         // title
};

// One line of JSON-RPC 2.0 from an agent (https://www.jsonrpc.org/specification). Views: valid
// until the next Parse.
struct Message {
  enum class Kind {
    kNotJson,  // not a JSON object at all: noise
    kInvalid,  // JSON, but no JSON-RPC message (a batch, no method and no id, too deep ...)
    kUpdate,  // the notification session/update with a readable `update` object: `update` is filled
    kNotification,  // any other notification
    kRequest,
    kResult,  // an answer with a result
    kError,   // an answer with an error
  };
  Kind kind = Kind::kNotJson;
  // kInvalid because of the depth: id and method are what a scan of the top level found.
  bool too_deep = false;
  // The id as it stands in the line (`7`, `"b7…"`, `null`), to be echoed; empty: none.
  std::string_view id;
  std::string_view method;
  std::string_view params;  // verbatim JSON, empty: none
  std::string_view result;  // verbatim JSON
  std::string_view error;   // verbatim JSON
  UpdateView update;
};

// Reads lines with simdjson: a DOM pass checks the grammar (and the depth: more than `max_depth`
// levels is kInvalid), slices come from an on-demand pass. Reuses its buffers; one per connection.
// Not thread-safe, but may be used from any one thread at a time (long lines are parsed on the
// blocking pool).
class MessageParser {
 public:
  explicit MessageParser(size_t max_depth = 128);
  ~MessageParser();
  MessageParser(MessageParser&&) noexcept;
  MessageParser& operator=(MessageParser&&) noexcept;

  // `line` is without its newline; invalid UTF-8 and lone surrogate escapes in it are repaired
  // first (text.h). Bytes behind the line need not be readable: the line is copied where its
  // padding is not `padded`.
  Message Parse(std::string_view line, bool padded = false);
  // Gives back the memory that a long line needed (some multiple of it). Ends all views.
  void Shrink();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace acpd::acp

#endif  // ACPD_ACP_MESSAGE_H_
