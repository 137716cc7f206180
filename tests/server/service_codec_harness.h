#ifndef ACPD_TESTS_SERVER_SERVICE_CODEC_HARNESS_H_
#define ACPD_TESTS_SERVER_SERVICE_CODEC_HARNESS_H_

#include <gtest/gtest.h>

#include <string>

#include "acpd/v1/session_service.pb.h"
#include "server/codec.h"

// Events as their readers see them.
namespace acpd::server {

inline constexpr session::EventHeader kHeader{7, "project", "session", "turn", 1'500'000};

class CodecTest : public ::testing::Test {
 protected:
  template <class Event>
  v1::ProgressEvent Encoded(const Event& event, const session::EventHeader& header = kHeader) {
    std::string bytes = "before";
    codec_.Encode(header, event, bytes);
    EXPECT_EQ(bytes.substr(0, 6), "before") << "Encode appends";
    bytes = bytes.substr(6);
    v1::ProgressEvent decoded;
    EXPECT_TRUE(decoded.ParseFromString(bytes));
    EXPECT_EQ(decoded.position(), 0u) << "the store gives positions out";
    EXPECT_EQ(decoded.seq(), header.seq);
    EXPECT_EQ(decoded.project_id(), header.project_id);
    EXPECT_EQ(decoded.session_id(), header.session_id);
    EXPECT_EQ(decoded.turn_id(), header.turn_id);
    EXPECT_EQ(decoded.time().seconds(), 1);
    EXPECT_EQ(decoded.time().nanos(), 500'000'000);
    return decoded;
  }
  Codec codec_;
};

}  // namespace acpd::server

#endif  // ACPD_TESTS_SERVER_SERVICE_CODEC_HARNESS_H_
