#ifndef ACPD_SERVER_STREAM_MESSAGE_H_
#define ACPD_SERVER_STREAM_MESSAGE_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "session/event_log.h"

namespace acpd::v1 {
class ProgressEvent;
}  // namespace acpd::v1

namespace acpd::server {

// One message of a stream, ready to be written, and the position that is reached when it has been.
struct StreamMessage {
  grpc::ByteBuffer bytes;
  uint64_t position = 0;  // 0: the cursor stays

  void Swap(StreamMessage& other) {
    bytes.Swap(&other.bytes);
    std::swap(position, other.position);
  }
};

// A row of the log as memory that gRPC may hold: its events are written from where they lie,
// without a copy, and the row lives until the last of them has left.
class RowSlice {
 public:
  explicit RowSlice(session::LogRowPtr row);
  // Event `i` with its position in front.
  void Message(size_t i, StreamMessage* out) const;

 private:
  session::LogRowPtr row_;
  grpc::Slice whole_;
};

// Events that are not written as they are stored.
void CopiedMessage(uint64_t position, std::string_view event, std::string_view suffix,
                   StreamMessage* out);
// `event` with its position already in it.
void ControlMessage(const v1::ProgressEvent& event, StreamMessage* out);

}  // namespace acpd::server

#endif  // ACPD_SERVER_STREAM_MESSAGE_H_
