#include "server/event_scan.h"

namespace acpd::server {
namespace {

// More field numbers, as in event_scan.h.
constexpr uint32_t kTurnId = 5;
constexpr uint32_t kFirstKind = 10;
constexpr uint32_t kUpdateJson = 2;
constexpr uint32_t kUpdateText = 3;

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
    switch (type) {
      case kVarint:
        return Varint(&number);
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
  bool is_bytes_ = false, ok_ = true;
};

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

bool IsTextChunk(std::string_view kind) {
  return kind == "agent_message_chunk" || kind == "agent_thought_chunk" ||
         kind == "user_message_chunk";
}

}  // namespace

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

std::optional<std::string> WithoutJson(std::string_view event, const ScannedEvent& scanned) {
  if (scanned.kind != kSessionUpdate) return std::nullopt;
  if (!IsTextChunk(StringField(scanned.payload, kUpdateKind))) return std::nullopt;
  if (StringField(scanned.payload, kUpdateText).empty()) return std::nullopt;
  std::string update;
  FieldReader fields(scanned.payload);
  while (fields.Next()) {
    if (fields.number() == kUpdateJson) continue;
    update.append(scanned.payload.substr(fields.begin(), fields.end() - fields.begin()));
  }
  std::string out(event.substr(0, scanned.payload_tag));
  AppendVarint(kSessionUpdate << 3 | kBytes, out);
  AppendVarint(update.size(), out);
  out.append(update);
  const size_t behind = scanned.payload.data() + scanned.payload.size() - event.data();
  out.append(event.substr(behind));
  return out;
}

std::string PositionPrefix(uint64_t position) {
  std::string out("\x08");
  AppendVarint(position, out);
  return out;
}

}  // namespace acpd::server
