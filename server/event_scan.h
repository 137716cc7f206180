#ifndef ACPD_SERVER_EVENT_SCAN_H_
#define ACPD_SERVER_EVENT_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace acpd::server {

// Field numbers of ProgressEvent and SessionUpdate; a test holds them and the generated code
// together.
inline constexpr uint32_t kSessionUpdate = 10;
inline constexpr uint32_t kUpdateKind = 1;

// What filters ask of an encoded ProgressEvent, read off the wire without decoding it
// (https://protobuf.dev/programming-guides/encoding). The views point into the scanned bytes.
struct ScannedEvent {
  uint32_t kind = 0;  // field number of the `event` member, as in EventKind; 0: none
  std::string_view turn_id;
  std::string_view payload;  // the bytes of that member
  size_t payload_tag = 0;    // where its tag begins in the event
};

// What joins chunks of text, of an encoded SessionUpdate. The views point into the scanned bytes.
struct ScannedUpdate {
  std::string_view kind, text, message_id;
  bool replayed = false;
  uint64_t part = 0, parts = 0;
};

// nullopt: not a well-formed message.
std::optional<ScannedEvent> ScanEvent(std::string_view event);

ScannedUpdate ScanUpdate(std::string_view update);

// Whether updates of this kind are chunks of a message.
bool IsTextKind(std::string_view update_kind);

// The first string field `number` of an encoded message; empty where there is none.
std::string_view StringField(std::string_view message, uint32_t number);

// The event without SessionUpdate.json, where its typed fields say it all: chunks of text. nullopt:
// it stays as it is.
std::optional<std::string> WithoutJson(std::string_view event, const ScannedEvent& scanned);

// A session_update with this text, and without json, part and parts.
std::string WithText(std::string_view event, const ScannedEvent& scanned, std::string_view text);

// The event with its position in front, as field `number` of another message.
void AppendEvent(uint32_t number, uint64_t position, std::string_view event, std::string& out);

// `position` as the encoded first field of a ProgressEvent.
std::string PositionPrefix(uint64_t position);
// `resent: true`, to be appended to an encoded ProgressEvent.
inline constexpr std::string_view kResentSuffix = "\x38\x01";

}  // namespace acpd::server

#endif  // ACPD_SERVER_EVENT_SCAN_H_
