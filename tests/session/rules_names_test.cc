#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "session/names.h"
#include "session/pack.h"

namespace acpd::session {
namespace {

TEST(Names, ProjectIdsLength) {
  EXPECT_FALSE(IsProjectId(""));
  EXPECT_TRUE(IsProjectId("a"));
  EXPECT_TRUE(IsProjectId(std::string(128, 'a')));
  EXPECT_FALSE(IsProjectId(std::string(129, 'a')));
}

TEST(Names, ProjectIdsCharacters) {
  const std::string inside = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  for (int i = 0; i < 256; ++i) {
    const char c = static_cast<char>(i);
    const bool is_inside = inside.find(c) != std::string::npos;
    const bool is_first = is_inside && c != '.' && c != '_' && c != '-';
    EXPECT_EQ(IsProjectId(std::string("a") + c), is_inside) << i;
    EXPECT_EQ(IsProjectId(std::string(1, c)), is_first) << i;
  }
  EXPECT_FALSE(IsProjectId("../x"));
  EXPECT_FALSE(IsProjectId(".."));
  EXPECT_TRUE(IsProjectId("a..b"));
}

TEST(Names, SessionIdsLength) {
  EXPECT_FALSE(IsSessionId(""));
  EXPECT_TRUE(IsSessionId("s"));
  EXPECT_TRUE(IsSessionId(std::string(256, 's')));
  EXPECT_FALSE(IsSessionId(std::string(257, 's')));
}

TEST(Names, SessionIdsCharacters) {
  for (int i = 0; i < 256; ++i) {
    const char c = static_cast<char>(i);
    EXPECT_EQ(IsSessionId(std::string(1, c)), i >= '!' && i <= '~' && c != '/') << i;
  }
  EXPECT_TRUE(IsSessionId("ses_dd29a3e77ffeWC9wA1BspAG4hP"));
}

TEST(Names, RequestIdsLength) {
  EXPECT_FALSE(IsRequestId(""));
  EXPECT_TRUE(IsRequestId("r"));
  EXPECT_TRUE(IsRequestId(std::string(256, 'r')));
  EXPECT_FALSE(IsRequestId(std::string(257, 'r')));
}

TEST(Names, RequestIdsPrint) {
  EXPECT_TRUE(IsRequestId("order 42/a"));
  EXPECT_TRUE(IsRequestId("Größe \xf0\x9f\x98\x80 ©"));
  EXPECT_TRUE(IsRequestId("\xc2\xa0"));        // U+00A0, the first behind C1
  EXPECT_FALSE(IsRequestId("\xc2\x9f"));       // U+009F, the last of C1
  EXPECT_FALSE(IsRequestId("\xc2\x80"));       // U+0080, its first
  EXPECT_FALSE(IsRequestId("\xe2\x80\xa8"));   // line separator
  EXPECT_FALSE(IsRequestId("\xe2\x80\xa9"));   // paragraph separator
  EXPECT_TRUE(IsRequestId("\xe2\x80\xaa x"));  // U+202A, the one behind
  EXPECT_FALSE(IsRequestId("a\nb"));
  EXPECT_FALSE(IsRequestId("a\x1f"));
  EXPECT_TRUE(IsRequestId("a~ "));
  EXPECT_FALSE(IsRequestId("a\x7f"));
  EXPECT_FALSE(IsRequestId(std::string("a\0b", 3)));
  EXPECT_FALSE(IsRequestId("\xff"));     // no UTF-8
  EXPECT_FALSE(IsRequestId("abc\xc2"));  // cut off
}

uint64_t TimeOf(const std::string& id) {
  return std::stoull(id.substr(0, 8) + id.substr(9, 4), nullptr, 16);
}

// In milliseconds: later than any id that this process has made, for ids never go back.
uint64_t FreshTime() { return TimeOf(NewId(0)) + 1'000'000'000'000; }

WallTime Micros(uint64_t milliseconds) { return static_cast<WallTime>(milliseconds * 1000); }

TEST(Names, LabelsInNumberAndSize) {
  Labels labels;
  for (int i = 0; i < 64; ++i) labels[std::string(2, static_cast<char>(' ' + i))] = "";
  EXPECT_TRUE(AreLabels(labels));
  labels.begin()->second = std::string((16u << 10) - 2 * 64, 'v');
  EXPECT_TRUE(AreLabels(labels));
  labels.begin()->second += 'v';
  EXPECT_FALSE(AreLabels(labels)) << "16 KiB and a byte";
  labels.begin()->second.clear();
  labels["another"] = "";
  EXPECT_FALSE(AreLabels(labels)) << "65";
  EXPECT_TRUE(AreLabels({}));
}

TEST(Ids, AreUuidsOfVersion7WithTheTimeInFront) {
  const uint64_t time = FreshTime();
  const std::string id = NewId(Micros(time) + 999);
  ASSERT_EQ(id.size(), 36u);
  for (size_t i = 0; i < id.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    EXPECT_EQ(id[i] == '-', dash) << id;
    if (!dash) {
      EXPECT_NE(std::string("0123456789abcdef").find(id[i]), std::string::npos) << id;
    }
  }
  EXPECT_EQ(id[14], '7') << id;
  EXPECT_NE(std::string("89ab").find(id[19]), std::string::npos) << id;
  EXPECT_TRUE(IsSessionId(id));
  EXPECT_EQ(TimeOf(id), time);
}

TEST(Ids, AscendWithinAMillisecondAndBeyondItsCounter) {
  const uint64_t time = FreshTime();
  std::string last = NewId(Micros(time));
  EXPECT_EQ(TimeOf(last), time);
  for (int i = 0; i < 10'000; ++i) {
    const std::string id = NewId(Micros(time));
    ASSERT_LT(last, id);
    last = id;
  }
  // 10,000 do not fit into the 4,096 of a millisecond: the ids run ahead of the clock by two or
  // three.
  EXPECT_GE(TimeOf(last), time + 2);
  EXPECT_LE(TimeOf(last), time + 3);
}

TEST(Ids, AscendWhenTheClockGoesBack) {
  const uint64_t time = FreshTime();
  const std::string first = NewId(Micros(time));
  const std::string second = NewId(Micros(time - 1000));
  const std::string third = NewId(-1);
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_EQ(TimeOf(third), time);
}

TEST(Ids, AreNeverMadeTwiceByThreads) {
  constexpr size_t kThreads = 4, kEach = 2000;
  std::vector<std::vector<std::string>> made(kThreads);
  std::vector<std::thread> threads;
  for (auto& ids : made) {
    threads.emplace_back([&ids, now = Micros(FreshTime())] {
      for (size_t i = 0; i < kEach; ++i) ids.push_back(NewId(now));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::string> all;
  for (const auto& ids : made) {
    EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
    all.insert(ids.begin(), ids.end());
  }
  EXPECT_EQ(all.size(), kThreads * kEach);
}

TEST(Fingerprints, AreHmacSha256InBase64UrlWithoutPadding) {
  EXPECT_EQ(Fingerprint("key", "The quick brown fox jumps over the lazy dog"),
            "97yD9DBThCSxMpjmqm-xQ-9NWaFJRhdZl0edvC0aPNg");
  EXPECT_EQ(Fingerprint("", ""), "thNnmggU2ex3L5XXeMNfxf8Wl8STcVZTxscSFEKSxa0");
  EXPECT_NE(Fingerprint("key2", "text"), Fingerprint("key", "text"));
  EXPECT_NE(Fingerprint("key", "text2"), Fingerprint("key", "text"));
}

TEST(Random, HasTheLengthAskedForAndDiffers) {
  EXPECT_EQ(RandomBytes(0), "");
  EXPECT_EQ(RandomBytes(1).size(), 1u);
  EXPECT_EQ(RandomBytes(1000).size(),
            1000u);  // more than getrandom gives in one go when interrupted
  EXPECT_NE(RandomBytes(32), RandomBytes(32));
}

using Items = std::vector<std::string>;
using Map = std::map<std::string, std::string>;

TEST(Packing, IsLengthsAndBytesLittleEndian) {
  EXPECT_EQ(Pack({}), "");
  EXPECT_EQ(Pack({"ab", ""}), std::string("\2\0\0\0ab\0\0\0\0", 10));
  EXPECT_EQ(Pack({std::string(0x0102, 'x')}).substr(0, 4), std::string("\2\1\0\0", 4));
}

TEST(Packing, GivesBackWhatWentIn) {
  for (const Items& items :
       {Items{}, Items{""}, Items{"", ""}, Items{"a", "", std::string("\0\xff", 2)},
        Items{std::string(70'000, 'x'), "end"}}) {
    EXPECT_EQ(Unpack(Pack(items)), items);
  }
  for (const Map& map : {Map{}, Map{{"", ""}}, Map{{"a", "1"}, {"b", ""}}}) {
    EXPECT_EQ(UnpackMap(PackMap(map)), map);
  }
}

TEST(Packing, RefusesEveryCutBlob) {
  const std::string blob = Pack({"abc", "de"});
  for (size_t size = 0; size <= blob.size(); ++size) {
    const bool at_border = size == 0 || size == 7 || size == blob.size();
    EXPECT_EQ(Unpack(std::string_view(blob).substr(0, size)).has_value(), at_border) << size;
  }
  EXPECT_EQ(Unpack("\xff\xff\xff\xff"), std::nullopt);
}

TEST(Packing, RefusesWhatIsNoMap) {
  EXPECT_EQ(UnpackMap(Pack({"key"})), std::nullopt);
  EXPECT_EQ(UnpackMap(Pack({"key", "1", "key", "2"})), std::nullopt);
  EXPECT_EQ(UnpackMap("\1"), std::nullopt);
}

}  // namespace
}  // namespace acpd::session
