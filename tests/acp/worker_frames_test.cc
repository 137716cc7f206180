#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "acp/link_frames.h"
#include "acp/link_input.h"

namespace acpd::acp {
namespace {

LaunchSpec FullSpec() {
  LaunchSpec spec;
  spec.worker_id = "w-1";
  spec.argv = {"agent", "", "--flag", std::string("nul\0inside", 10)};
  spec.env = {{"A", "1"}, {"EMPTY", ""}, {"UMLAUT", "\xc3\xa4"}};
  spec.cwd = "/somewhere";
  spec.orphan_timeout_ms = 4'000'000'000;
  return spec;
}

Hello FullHello() {
  Hello hello;
  hello.agent_pid = 4242;
  hello.agent_start_ticks = 0xfedcba9876543210;
  hello.start_error = "No such file or directory";
  hello.start_errno = 2;
  hello.first_kept_offset = 1ull << 40;
  hello.last_stdin_done = 77;
  hello.agent_exited = true;
  hello.spec = FullSpec();
  return hello;
}

std::string_view Payload(const std::string& frame) { return std::string_view(frame).substr(5); }

TEST(LinkFramesTest, AFrameIsLengthTypePayloadInLittleEndian) {
  EXPECT_EQ(EncodeNumbered(FrameType::kStdin, 0x0102030405060708, "hi"),
            std::string("\x0b\0\0\0\x11\x08\x07\x06\x05\x04\x03\x02\x01hi", 15));
  EXPECT_EQ(EncodeStop(0x01020304), std::string("\x05\0\0\0\x14\x04\x03\x02\x01", 9));
  EXPECT_EQ(EncodeAckExit(), std::string("\x01\0\0\0\x13", 5));
  EXPECT_EQ(EncodeStderr("x"), std::string("\x02\0\0\0\x03x", 6));
}

TEST(LinkFramesTest, HelloComesBackAsItWas) {
  auto hello = DecodeHello(Payload(EncodeHello(FullHello())));
  ASSERT_TRUE(hello.has_value());
  EXPECT_EQ(hello->link_version, kLinkVersion);
  EXPECT_EQ(hello->agent_pid, 4242);
  EXPECT_EQ(hello->agent_start_ticks, 0xfedcba9876543210);
  EXPECT_EQ(hello->start_error, "No such file or directory");
  EXPECT_EQ(hello->start_errno, 2);
  EXPECT_EQ(hello->first_kept_offset, 1ull << 40);
  EXPECT_EQ(hello->last_stdin_done, 77u);
  EXPECT_TRUE(hello->agent_exited);
  EXPECT_EQ(hello->spec, FullSpec());
}

TEST(LinkFramesTest, SpecExitAttachStopAndNumbersComeBackAsTheyWere) {
  EXPECT_EQ(DecodeSpec(EncodeSpec(FullSpec())), FullSpec());
  EXPECT_EQ(DecodeSpec(EncodeSpec({})), LaunchSpec{});

  auto exit = DecodeExit(Payload(EncodeExit({true, 9, "last\nwords", 1ull << 33})));
  ASSERT_TRUE(exit.has_value());
  EXPECT_TRUE(exit->signaled);
  EXPECT_EQ(exit->value, 9);
  EXPECT_EQ(exit->stderr_tail, "last\nwords");
  EXPECT_EQ(exit->end_offset, 1ull << 33);

  auto attach = DecodeAttach(Payload(EncodeAttach({7, 8, 9})));
  ASSERT_TRUE(attach.has_value());
  EXPECT_EQ(attach->generation, 7u);
  EXPECT_EQ(attach->from_offset, 8u);
  EXPECT_EQ(attach->window, 9u);
  EXPECT_EQ(DecodeStop(Payload(EncodeStop(5000))), 5000u);

  std::string stdin_frame = EncodeNumbered(FrameType::kStdin, 12, "the line");
  std::string_view payload = Payload(stdin_frame);
  EXPECT_EQ(DecodeNumber(payload), 12u);
  EXPECT_EQ(payload, "the line");
}

TEST(LinkFramesTest, WhatANewerWorkerAddsToHelloIsSkipped) {
  const std::string frame = EncodeHello(FullHello());
  const std::string_view payload = Payload(frame);
  for (size_t size = 0; size < payload.size(); ++size) {
    // After its first number another version is all that can be said, and this is none.
    EXPECT_FALSE(DecodeHello(payload.substr(0, size)).has_value()) << "cut to " << size;
  }
  auto hello = DecodeHello(std::string(payload) + "more");
  ASSERT_TRUE(hello.has_value());
  EXPECT_EQ(hello->link_version, kLinkVersion);
  EXPECT_EQ(hello->last_stdin_done, 77u);
  EXPECT_EQ(hello->spec, FullSpec());
}

template <typename Decode>
void ExpectOnlyWholePayloadsDecode(std::string_view payload, Decode decode) {
  for (size_t size = 0; size < payload.size(); ++size) {
    EXPECT_FALSE(decode(payload.substr(0, size)).has_value()) << "cut to " << size;
  }
  EXPECT_TRUE(decode(payload).has_value());
  EXPECT_FALSE(decode(std::string(payload) + "x").has_value()) << "with a byte too many";
}

TEST(LinkFramesTest, CutOrOverlongPayloadsAreMalformed) {
  ExpectOnlyWholePayloadsDecode(Payload(EncodeExit({false, 3, "tail", 5})), DecodeExit);
  ExpectOnlyWholePayloadsDecode(Payload(EncodeAttach({1, 2, 3})), DecodeAttach);
  ExpectOnlyWholePayloadsDecode(Payload(EncodeStop(1)), DecodeStop);
  ExpectOnlyWholePayloadsDecode(EncodeSpec(FullSpec()), DecodeSpec);
  std::string_view seven = "1234567";
  EXPECT_FALSE(DecodeNumber(seven).has_value());
  EXPECT_EQ(seven, "1234567");
}

TEST(LinkFramesTest, LiesAboutSizesAreMalformedAndCostNoMemory) {
  // A worker id of 4 GiB; then 4 G arguments.
  EXPECT_FALSE(DecodeSpec(std::string("\xff\xff\xff\xff", 4)).has_value());
  EXPECT_FALSE(DecodeSpec(std::string("\0\0\0\0\xff\xff\xff\xff", 8)).has_value());
  // A bool that is neither.
  std::string exit = EncodeExit({});
  exit[5] = 2;
  EXPECT_FALSE(DecodeExit(Payload(exit)).has_value());
}

TEST(LinkFramesTest, HelloOfAnotherVersionSaysAtLeastItsVersion) {
  std::string frame = EncodeHello(FullHello());
  frame[5] = 9;
  frame += "something new";
  auto hello = DecodeHello(Payload(frame));
  ASSERT_TRUE(hello.has_value());
  EXPECT_EQ(hello->link_version, 9u);
  EXPECT_EQ(hello->agent_pid, 0) << "its layout is not known";
  static_assert(kOldestLinkVersion >= 1 && kOldestLinkVersion <= kLinkVersion);
  frame[5] = static_cast<char>(kOldestLinkVersion - 1);
  hello = DecodeHello(Payload(frame));
  ASSERT_TRUE(hello.has_value());
  EXPECT_EQ(hello->link_version, kOldestLinkVersion - 1);
}

// What came out of an input that was given `bytes` in pieces of `piece`.
struct Fed {
  std::vector<std::string> events;
  std::string out;
  size_t longest_chunk = 0;
  absl::Status status;
};

void Note(Fed& fed, const LinkEvent& event) {
  if (const auto* chunk = std::get_if<StdoutChunk>(&event)) {
    EXPECT_EQ(chunk->offset, 1000 + fed.out.size());
    fed.out.append(chunk->bytes);
    fed.longest_chunk = std::max(fed.longest_chunk, chunk->bytes.size());
    // Reading the padding is what simdjson does; a sanitizer sees it if it is not there.
    volatile char padding = 0;
    for (size_t i = 0; i < LinkInput::kPadding; ++i)
      padding = chunk->bytes.data()[chunk->bytes.size() + i];
    (void)padding;
  } else if (const auto* chunk = std::get_if<StderrChunk>(&event)) {
    fed.events.push_back("stderr " + std::string(chunk->bytes));
  } else if (const auto* done = std::get_if<StdinDone>(&event)) {
    fed.events.push_back("done " + std::to_string(done->seq));
  } else if (const auto* hello = std::get_if<Hello>(&event)) {
    fed.events.push_back("hello " + std::to_string(hello->spec.argv.size()));
  } else if (const auto* exit = std::get_if<WorkerExit>(&event)) {
    fed.events.push_back("exit " + exit->stderr_tail);
  }
}

Fed Feed(std::string_view bytes, size_t piece) {
  LinkInput input;
  Fed fed;
  while (fed.status.ok()) {
    auto event = input.Next();
    if (!event.ok()) {
      fed.status = event.status();
    } else if (event->has_value()) {
      Note(fed, **event);
    } else if (bytes.empty()) {
      input.Shrink();
      break;
    } else {
      if (piece == 1) input.Shrink();  // as when the socket has nothing in between
      auto room = input.Room();
      size_t size = std::min({piece, room.size(), bytes.size()});
      std::memcpy(room.data(), bytes.data(), size);
      input.Added(size);
      bytes.remove_prefix(size);
    }
  }
  return fed;
}

TEST(LinkInputTest, AnyCutOfTheBytesGivesTheSameEvents) {
  std::string out(600 << 10, 'o');
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<char>('a' + i % 23);
  std::string bytes = EncodeHello(FullHello());
  bytes += EncodeNumbered(FrameType::kStdout, 1000, out.substr(0, 500 << 10));
  bytes += EncodeStderr("oops");
  bytes += std::string("\x06\0\0\0\x7fwhat?", 10);  // a type of the future
  bytes += EncodeNumbered(FrameType::kStdout, 1000 + (500 << 10), {});
  bytes += EncodeNumbered(FrameType::kStdout, 1000 + (500 << 10), out.substr(500 << 10));
  bytes += EncodeNumbered(FrameType::kStdinDone, 5);
  bytes += EncodeExit({false, 1, std::string(64 << 10, 't'), 0});
  const std::vector<std::string> expected = {"hello 4", "stderr oops", "done 5",
                                             "exit " + std::string(64 << 10, 't')};
  for (size_t piece : {1u, 2u, 13u, 4096u, 65537u, 1u << 20}) {
    Fed fed = Feed(bytes, piece);
    EXPECT_TRUE(fed.status.ok()) << fed.status;
    EXPECT_EQ(fed.events, expected) << "in pieces of " << piece;
    EXPECT_TRUE(fed.out == out) << "in pieces of " << piece;
    EXPECT_LE(fed.longest_chunk, 256u << 10);
  }
}

TEST(LinkInputTest, MalformedFramesEndIt) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"no type", std::string("\0\0\0\0\x01", 5)},
      {"too long", std::string("\xff\xff\xff\xff\x02", 5)},
      {"stdout without an offset", std::string("\x05\0\0\0\x02"
                                               "1234",
                                               9)},
      {"done without a number", std::string("\x02\0\0\0\x04"
                                            "1",
                                            6)},
      {"done with more than a number", EncodeNumbered(FrameType::kStdinDone, 1, "x")},
      {"cut hello", std::string("\x05\0\0\0\x01\x01\0\0\0", 9)},
      {"empty exit", std::string("\x01\0\0\0\x05", 5)},
  };
  for (const auto& [name, bytes] : cases) {
    EXPECT_EQ(Feed(bytes, 1 << 20).status.code(), absl::StatusCode::kUnavailable) << name;
  }
}

}  // namespace
}  // namespace acpd::acp
