#ifndef ACPD_ACP_FRAME_WRITER_H_
#define ACPD_ACP_FRAME_WRITER_H_

#include <string>
#include <utility>

#include "acp/byte_codec.h"
#include "acp/link_frames.h"

namespace acpd::acp {

// A frame of the link under way: its length is filled in by Frame(). Plain C++ without libraries,
// since the worker is built from it too.
class FrameWriter : public ByteWriter {
 public:
  explicit FrameWriter(FrameType type) { Number(uint32_t{0}).Number(static_cast<uint8_t>(type)); }

  std::string Frame() && {
    const auto length = static_cast<uint32_t>(out_.size() - 4);
    for (size_t i = 0; i < 4; ++i) out_[i] = static_cast<char>(length >> (8 * i));
    return std::move(out_);
  }
};

}  // namespace acpd::acp

#endif  // ACPD_ACP_FRAME_WRITER_H_
