#include "server/stream_message.h"

#include <grpc/slice.h>

#include "acpd/v1/session_service.pb.h"
#include "server/event_scan.h"

namespace acpd::server {
namespace {

grpc::Slice ReferTo(const session::LogRowPtr& row) {
  auto* held = new session::LogRowPtr(row);
  return grpc::Slice(
      const_cast<char*>(row->bytes.data()), row->bytes.size(),
      [](void* reference) { delete static_cast<session::LogRowPtr*>(reference); }, held);
}

void Set(const grpc::Slice* slices, size_t count, uint64_t position, StreamMessage* out) {
  grpc::ByteBuffer buffer(slices, count);
  out->bytes.Swap(&buffer);
  out->position = position;
}

}  // namespace

RowSlice::RowSlice(session::LogRowPtr row) : row_(std::move(row)), whole_(ReferTo(row_)) {}

void RowSlice::Message(size_t i, StreamMessage* out) const {
  const uint64_t position = row_->first_position + i;
  const std::string_view event = row_->event(i);
  const size_t begin = event.data() - row_->bytes.data();
  grpc_slice whole = whole_.c_slice();
  const grpc::Slice slices[] = {
      grpc::Slice(PositionPrefix(position)),
      grpc::Slice(grpc_slice_sub(whole, begin, begin + event.size()), grpc::Slice::STEAL_REF)};
  grpc_slice_unref(whole);
  Set(slices, 2, position, out);
}

void CopiedMessage(uint64_t position, std::string_view event, std::string_view suffix,
                   StreamMessage* out) {
  std::string bytes = PositionPrefix(position);
  bytes.append(event).append(suffix);
  const grpc::Slice slice(bytes);
  Set(&slice, 1, position, out);
}

void ControlMessage(const v1::ProgressEvent& event, StreamMessage* out) {
  const grpc::Slice slice(event.SerializeAsString());
  Set(&slice, 1, event.position(), out);
}

}  // namespace acpd::server
