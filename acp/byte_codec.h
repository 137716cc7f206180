#ifndef ACPD_ACP_BYTE_CODEC_H_
#define ACPD_ACP_BYTE_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Values as bytes: integers in little endian, texts behind their u32 size. Plain C++ without
// libraries, since the worker is built from it too.
namespace acpd::acp {

class ByteWriter {
 public:
  template <typename Int>
  ByteWriter& Number(Int value) {
    auto bits = static_cast<uint64_t>(value);
    for (size_t i = 0; i < sizeof(Int); ++i) out_.push_back(static_cast<char>(bits >> (8 * i)));
    return *this;
  }
  ByteWriter& Raw(std::string_view bytes) {
    out_.append(bytes);
    return *this;
  }
  ByteWriter& Text(std::string_view text) {
    return Number(static_cast<uint32_t>(text.size())).Raw(text);
  }
  void Reserve(size_t bytes) { out_.reserve(out_.size() + bytes); }

  std::string Bytes() && { return std::move(out_); }

 protected:
  std::string out_;
};

// Takes values off the front. After the first that is not there everything reads as zero and ok()
// is false.
class ByteReader {
 public:
  explicit ByteReader(std::string_view in) : in_(in) {}

  template <typename Int>
  Int Number() {
    if (in_.size() < sizeof(Int)) {
      Fail();
      return 0;
    }
    uint64_t bits = 0;
    for (size_t i = 0; i < sizeof(Int); ++i) {
      bits |= static_cast<uint64_t>(static_cast<unsigned char>(in_[i])) << (8 * i);
    }
    in_.remove_prefix(sizeof(Int));
    return static_cast<Int>(bits);
  }
  bool Bool() {
    auto value = Number<uint8_t>();
    if (value > 1) Fail();
    return value == 1;
  }
  std::string Text() {
    auto size = Number<uint32_t>();
    if (size > in_.size()) {
      Fail();
      return {};
    }
    std::string text(in_.substr(0, size));
    in_.remove_prefix(size);
    return text;
  }
  bool ok() const { return ok_; }
  bool Finished() const { return ok_ && in_.empty(); }
  std::string_view rest() const { return in_; }

 private:
  void Fail() {
    ok_ = false;
    in_ = {};
  }
  std::string_view in_;
  bool ok_ = true;
};

using TextPairs = std::vector<std::pair<std::string, std::string>>;

// Lists behind their u32 count. A count that lies costs no memory: reading ends with the bytes.
inline void WriteTexts(const std::vector<std::string>& texts, ByteWriter& out) {
  out.Number(static_cast<uint32_t>(texts.size()));
  for (const std::string& text : texts) out.Text(text);
}

inline void WritePairs(const TextPairs& pairs, ByteWriter& out) {
  out.Number(static_cast<uint32_t>(pairs.size()));
  for (const auto& [name, value] : pairs) out.Text(name).Text(value);
}

inline std::vector<std::string> ReadTexts(ByteReader& in) {
  std::vector<std::string> texts;
  for (auto count = in.Number<uint32_t>(); count > 0 && in.ok(); --count) {
    texts.push_back(in.Text());
  }
  return texts;
}

inline TextPairs ReadPairs(ByteReader& in) {
  TextPairs pairs;
  for (auto count = in.Number<uint32_t>(); count > 0 && in.ok(); --count) {
    std::string name = in.Text();
    std::string value = in.Text();
    pairs.emplace_back(std::move(name), std::move(value));
  }
  return pairs;
}

}  // namespace acpd::acp

#endif  // ACPD_ACP_BYTE_CODEC_H_
