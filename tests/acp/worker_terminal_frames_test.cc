#include <gtest/gtest.h>

#include <string>

#include "acp/terminal_frames.h"

namespace acpd::acp {
namespace {

TerminalOpen FullOpen() {
  TerminalOpen open{1ull << 40, 1ull << 33, {}};
  open.spec.argv = {"make", "", std::string("nul\0inside", 10)};
  open.spec.env = {{"A", "1"}, {"EMPTY", ""}};
  open.spec.cwd = "/somewhere";
  return open;
}

TerminalState FullState() {
  return {.number = 1ull << 40,
          .known = true,
          .pid = 4242,
          .start_error = "why",
          .start_errno = 13,
          .first_kept = 1ull << 41,
          .end = 1ull << 42,
          .exited = true,
          .signaled = true,
          .value = -9};
}

TerminalSnapshot FullSnapshot() {
  return {.number = 3,
          .tag = 1ull << 50,
          .known = true,
          .first_kept = 1000,
          .end = 1005,
          .exited = true,
          .signaled = true,
          .value = 15,
          .bytes = std::string("by\0es", 5)};
}

std::string_view PayloadOf(const std::string& frame) { return std::string_view(frame).substr(5); }

TEST(TerminalFramesTest, AFrameIsLengthTypePayloadInLittleEndian) {
  EXPECT_EQ(EncodeTwoNumbers(FrameType::kTerminalWatch, 0x0102030405060708, 9),
            std::string("\x11\0\0\0\x16\x08\x07\x06\x05\x04\x03\x02\x01\x09\0\0\0\0\0\0\0", 21));
  EXPECT_EQ(EncodeNumbered(FrameType::kTerminalKill, 1),
            std::string("\x09\0\0\0\x18\x01\0\0\0\0\0\0\0", 13));
  EXPECT_EQ(EncodeTerminalOutput({1, 2, "hi"}),
            std::string("\x13\0\0\0\x07\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0hi", 23));
}

TEST(TerminalFramesTest, EachComesBackAsItWas) {
  EXPECT_EQ(DecodeTerminalOpen(PayloadOf(EncodeTerminalOpen(FullOpen()))), FullOpen());
  EXPECT_EQ(DecodeTerminalOpen(PayloadOf(EncodeTerminalOpen({}))), TerminalOpen());
  EXPECT_EQ(DecodeTerminalState(PayloadOf(EncodeTerminalState(FullState()))), FullState());
  EXPECT_EQ(DecodeTerminalState(PayloadOf(EncodeTerminalState({}))), TerminalState());
  const std::string output = EncodeTerminalOutput({7, 1ull << 40, "bytes"});
  EXPECT_EQ(DecodeTerminalOutput(PayloadOf(output)), (TerminalOutput{7, 1ull << 40, "bytes"}));
  EXPECT_EQ(DecodeTerminalSnapshot(PayloadOf(EncodeTerminalSnapshot(FullSnapshot()))),
            FullSnapshot());
  EXPECT_EQ(DecodeTerminalSnapshot(PayloadOf(EncodeTerminalSnapshot({}))), TerminalSnapshot());
  EXPECT_EQ(DecodeTwoNumbers(PayloadOf(EncodeTwoNumbers(FrameType::kTerminalRead, 1, 2))),
            (std::pair<uint64_t, uint64_t>(1, 2)));
}

template <typename Decode>
void ExpectOnlyTheWholeDecodes(std::string_view payload, size_t least, Decode decode) {
  for (size_t size = 0; size < payload.size(); ++size) {
    EXPECT_EQ(decode(payload.substr(0, size)).has_value(), size >= least) << "cut to " << size;
  }
  EXPECT_TRUE(decode(payload).has_value());
}

TEST(TerminalFramesTest, CutOrOverlongPayloadsAreMalformed) {
  const size_t whole = SIZE_MAX;
  const std::string open = EncodeTerminalOpen(FullOpen());
  ExpectOnlyTheWholeDecodes(PayloadOf(open), whole, DecodeTerminalOpen);
  EXPECT_FALSE(DecodeTerminalOpen(std::string(PayloadOf(open)) + "x"));
  const std::string state = EncodeTerminalState(FullState());
  ExpectOnlyTheWholeDecodes(PayloadOf(state), whole, DecodeTerminalState);
  EXPECT_FALSE(DecodeTerminalState(std::string(PayloadOf(state)) + "x"));
  const std::string snapshot = EncodeTerminalSnapshot(FullSnapshot());
  ExpectOnlyTheWholeDecodes(PayloadOf(snapshot), whole, DecodeTerminalSnapshot);
  EXPECT_FALSE(DecodeTerminalSnapshot(std::string(PayloadOf(snapshot)) + "x"));
  // Output is what is left, and may be nothing.
  ExpectOnlyTheWholeDecodes(PayloadOf(EncodeTerminalOutput({1, 2, "abc"})), 16,
                            DecodeTerminalOutput);
  const std::string numbers = EncodeTwoNumbers(FrameType::kTerminalRead, 1, 2);
  ExpectOnlyTheWholeDecodes(PayloadOf(numbers), whole, DecodeTwoNumbers);
  EXPECT_FALSE(DecodeTwoNumbers(std::string(PayloadOf(numbers)) + "x"));
}

TEST(TerminalFramesTest, LiesAreMalformedAndCostNoMemory) {
  // 4 G arguments.
  EXPECT_FALSE(DecodeTerminalOpen(std::string(16, '\0') + std::string(4, '\xff')));
  // A bool that is neither.
  std::string state = EncodeTerminalState({});
  state[5 + 8] = 2;
  EXPECT_FALSE(DecodeTerminalState(PayloadOf(state)));
  // Offsets between which more or less lies than there is.
  for (uint64_t end : {uint64_t{1004}, uint64_t{1006}, uint64_t{0}, UINT64_MAX}) {
    TerminalSnapshot snapshot = FullSnapshot();
    snapshot.end = end;
    EXPECT_FALSE(DecodeTerminalSnapshot(PayloadOf(EncodeTerminalSnapshot(snapshot)))) << end;
  }
}

}  // namespace
}  // namespace acpd::acp
