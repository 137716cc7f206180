#include <gtest/gtest.h>

#include "server/status.h"
#include "session/errors.h"

namespace acpd::server {
namespace {

using session::MakeError;

size_t EncodedSize(const std::string& message) {
  size_t size = 0;
  for (char c : message) size += c >= ' ' && c <= '~' && c != '%' ? 1 : 3;
  return size;
}

TEST(StatusTest, CarriesCodeMessageAndReason) {
  const absl::Status error = MakeError("CURSOR_AHEAD", "too far");
  const grpc::Status status = ToGrpcStatus(error);
  EXPECT_EQ(status.error_code(), grpc::OUT_OF_RANGE);
  EXPECT_EQ(status.error_message(), "too far");
  EXPECT_EQ(
      TrailersOf(error),
      (Metadata{{"acpd-reason", "CURSOR_AHEAD"}, {"acpd-session-id", ""}, {"acpd-turn-id", ""}}));
}

TEST(StatusTest, IsOkWithoutTrailers) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
  EXPECT_TRUE(TrailersOf(absl::OkStatus()).empty());
}

TEST(StatusTest, AnErrorWithoutReasonIsInternal) {
  EXPECT_EQ(TrailersOf(absl::UnknownError("x"))[0].second, "INTERNAL");
}

TEST(StatusTest, CarriesIdsAndWhenToTryAgain) {
  session::Failure failure;
  failure.reason = "QUEUE_FULL";
  failure.message = "full";
  failure.retry_after = std::chrono::milliseconds(1500);
  absl::Status error = session::ToStatus(failure);
  session::AttachIds(error, "s1", "t1");
  EXPECT_EQ(TrailersOf(error), (Metadata{{"acpd-reason", "QUEUE_FULL"},
                                         {"acpd-session-id", "s1"},
                                         {"acpd-turn-id", "t1"},
                                         {"grpc-retry-pushback-ms", "1500"}}));
}

// At, under and over 1 KiB, in letters that travel as they are and in ones that take three or nine
// bytes.
TEST(StatusTest, CutsTheMessageAsItTravels) {
  for (const std::string letter : {"x", "%", "\n", "\u00e9", "\u20ac", "\U0001f600"}) {
    for (size_t count : {100u, 340u, 341u, 342u, 1023u, 1024u, 1025u, 5000u}) {
      std::string message;
      for (size_t i = 0; i < count; ++i) message += letter;
      const std::string cut = ToGrpcStatus(absl::InternalError(message)).error_message();
      EXPECT_LE(EncodedSize(cut), 1024u);
      EXPECT_EQ(cut.size() % letter.size(), 0u) << "cut within a character";
      if (EncodedSize(message) <= 1024) {
        EXPECT_EQ(cut, message);
      } else {
        EXPECT_GT(EncodedSize(cut), 1024 - EncodedSize(letter));
      }
    }
  }
}

TEST(StatusTest, LeavesOutWhatCannotTravel) {
  const Metadata metadata = {
      {"a", ""}, {"b", "x\ny"}, {"c", "\xc3\xa9"}, {"d", std::string(5000, 'x')}, {"e", "fine"}};
  EXPECT_EQ(Fitting(metadata), (Metadata{{"e", "fine"}}));
}

}  // namespace
}  // namespace acpd::server
