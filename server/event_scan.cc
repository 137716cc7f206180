#include "server/event_scan.h"

namespace acpd::server {
namespace {

// More field numbers, as in event_scan.h.
constexpr uint32_t kTurnId = 5;
constexpr uint32_t kFirstKind = 10;
constexpr uint32_t kUpdateJson = 2;
constexpr uint32_t kUpdateText = 3;
constexpr uint32_t kUpdateMessageId = 4;
constexpr uint32_t kUpdateReplayed = 8;
constexpr uint32_t kUpdatePart = 9;
constexpr uint32_t kUpdateParts = 10;

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// One field of a message, and how to get to the next.
class FieldReader {
 public:
  explicit FieldReader(std::string_view message) : message_(message) {}

  // False at the end or at bytes that are no field (`ok` tells which).
  bool Next() {
    tag_begin_ = at_;
    if (at_ == message_.size()) return false;
    uint64_t tag = 0;
    ok_ = Varint(&tag) && Value(static_cast<uint32_t>(tag & 7));
    number_ = static_cast<uint32_t>(tag >> 3);
    return ok_;
  }
  bool ok() const { return ok_; }
  uint32_t number() const { return number_; }
  bool is_bytes() const { return is_bytes_; }
  uint64_t varint() const { return varint_; }
  std::string_view bytes() const { return bytes_; }
  size_t begin() const { return tag_begin_; }
  size_t end() const { return at_; }

 private:
  bool Varint(uint64_t* value) {
    for (uint32_t shift = 0; shift < 64 && at_ < message_.size(); shift += 7) {
      const auto byte = static_cast<uint8_t>(message_[at_++]);
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool Skip(uint64_t count) {
    if (count > message_.size() - at_) return false;
    at_ += count;
    return true;
  }
  bool Value(uint32_t type) {
    uint64_t number = 0;
    is_bytes_ = type == kBytes;
    varint_ = 0;
    bytes_ = {};
    switch (type) {
      case kVarint:
        return Varint(&varint_);
      case kFixed64:
        return Skip(8);
      case kFixed32:
        return Skip(4);
      case kBytes:
        if (!Varint(&number) || !Skip(number)) return false;
        bytes_ = message_.substr(at_ - number, number);
        return true;
      default:
        return false;
    }
  }

  std::string_view message_, bytes_;
  size_t at_ = 0, tag_begin_ = 0;
  uint32_t number_ = 0;
  uint64_t varint_ = 0;
  bool is_bytes_ = false, ok_ = true;
};

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void AppendBytes(uint32_t number, std::string_view bytes, std::string& out) {
  AppendVarint(number << 3 | kBytes, out);
  AppendVarint(bytes.size(), out);
  out.append(bytes);
}

// The fields of `message` but for those that `drops` names.
template <class Drops>
std::string Without(std::string_view message, Drops drops) {
  std::string out;
  FieldReader fields(message);
  while (fields.Next()) {
    if (drops(fields.number())) continue;
    out.append(message.substr(fields.begin(), fields.end() - fields.begin()));
  }
  return out;
}

// The event with another SessionUpdate in place of its own.
std::string WithUpdate(std::string_view event, const ScannedEvent& scanned,
                       std::string_view update) {
  std::string out(event.substr(0, scanned.payload_tag));
  AppendBytes(kSessionUpdate, update, out);
  const size_t behind = scanned.payload.data() + scanned.payload.size() - event.data();
  out.append(event.substr(behind));
  return out;
}

}  // namespace

bool IsTextKind(std::string_view update_kind) {
  return update_kind == "agent_message_chunk" || update_kind == "agent_thought_chunk" ||
         update_kind == "user_message_chunk";
}

std::optional<ScannedEvent> ScanEvent(std::string_view event) {
  ScannedEvent scanned;
  FieldReader fields(event);
  while (fields.Next()) {
    if (!fields.is_bytes()) continue;
    if (fields.number() == kTurnId) scanned.turn_id = fields.bytes();
    if (fields.number() < kFirstKind) continue;
    scanned.kind = fields.number();
    scanned.payload = fields.bytes();
    scanned.payload_tag = fields.begin();
  }
  if (!fields.ok()) return std::nullopt;
  return scanned;
}

std::string_view StringField(std::string_view message, uint32_t number) {
  FieldReader fields(message);
  while (fields.Next()) {
    if (fields.is_bytes() && fields.number() == number) return fields.bytes();
  }
  return {};
}

ScannedUpdate ScanUpdate(std::string_view update) {
  ScannedUpdate scanned;
  FieldReader fields(update);
  while (fields.Next()) {
    if (fields.number() == kUpdateKind) scanned.kind = fields.bytes();
    if (fields.number() == kUpdateText) scanned.text = fields.bytes();
    if (fields.number() == kUpdateMessageId) scanned.message_id = fields.bytes();
    if (fields.number() == kUpdateReplayed) scanned.replayed = fields.varint() != 0;
    if (fields.number() == kUpdatePart) scanned.part = fields.varint();
    if (fields.number() == kUpdateParts) scanned.parts = fields.varint();
  }
  return scanned;
}

std::optional<std::string> WithoutJson(std::string_view event, const ScannedEvent& scanned) {
  if (scanned.kind != kSessionUpdate) return std::nullopt;
  if (!IsTextKind(StringField(scanned.payload, kUpdateKind))) return std::nullopt;
  if (StringField(scanned.payload, kUpdateText).empty()) return std::nullopt;
  const std::string update =
      Without(scanned.payload, [](uint32_t number) { return number == kUpdateJson; });
  return WithUpdate(event, scanned, update);
}

std::string WithText(std::string_view event, const ScannedEvent& scanned, std::string_view text) {
  std::string update = Without(scanned.payload, [](uint32_t number) {
    return number == kUpdateJson || number == kUpdateText || number == kUpdatePart ||
           number == kUpdateParts;
  });
  AppendBytes(kUpdateText, text, update);
  return WithUpdate(event, scanned, update);
}

void AppendEvent(uint32_t number, uint64_t position, std::string_view event, std::string& out) {
  const std::string prefix = PositionPrefix(position);
  AppendVarint(number << 3 | kBytes, out);
  AppendVarint(prefix.size() + event.size(), out);
  out.append(prefix).append(event);
}

std::string PositionPrefix(uint64_t position) {
  std::string out("\x08");
  AppendVarint(position, out);
  return out;
}

}  // namespace acpd::server
