#ifndef ACPD_SERVER_CODEC_H_
#define ACPD_SERVER_CODEC_H_

#include <memory>
#include <string>
#include <string_view>

#include "session/events.h"

namespace acpd::v1 {
class ProgressEvent;
}  // namespace acpd::v1

namespace acpd::server {

// The domain's events as the public ProgressEvent. One message object is reused, so that the
// updates of a burst cost no allocation of their own. Never writes `position`. Loop thread only,
// but for DecodeUpdate and DecodeTalk. Owned by main.
class Codec final : public session::EventCodec {
 public:
  Codec();
  ~Codec() override;

  void Encode(const session::EventHeader&, const session::SessionUpdateEvent&,
              std::string& out) override;
  void Encode(const session::EventHeader&, const session::TurnQueuedEvent&,
              std::string& out) override;
  void Encode(const session::EventHeader&, const session::TurnStartedEvent&,
              std::string& out) override;
  void Encode(const session::EventHeader&, const session::TurnEndedEvent&,
              std::string& out) override;
  void Encode(const session::EventHeader&, const session::PermissionRequestedEvent&,
              std::string& out) override;
  void Encode(const session::EventHeader&, const session::ElicitationRequestedEvent&,
              std::string& out) override;
  void Encode(const session::EventHeader&, const session::TerminalOutputEvent&,
              std::string& out) override;
  void Encode(const session::EventHeader&, const session::FileAccessEvent&,
              std::string& out) override;
  void Encode(const session::EventHeader&, const session::QuestionResolvedEvent&,
              std::string& out) override;
  void Encode(const session::EventHeader&, const session::SessionReadyEvent&,
              std::string& out) override;
  void Encode(const session::EventHeader&, const session::SessionReplacedEvent&,
              std::string& out) override;
  void Encode(const session::EventHeader&, const session::SessionClosedEvent&,
              std::string& out) override;
  void Encode(const session::EventHeader&, const session::WorkerExitedEvent&,
              std::string& out) override;
  void Encode(const session::EventHeader&, const session::NoticeEvent&, std::string& out) override;
  void Encode(const session::EventHeader&, const session::SessionCreatedEvent&,
              std::string& out) override;
  void Encode(const session::EventHeader&, const session::SessionChangedEvent&,
              std::string& out) override;
  void Encode(const session::EventHeader&, const session::SessionDeletedEvent&,
              std::string& out) override;
  bool DecodeUpdate(std::string_view event, session::StoredUpdate* update) const override;
  session::StoredTalk DecodeTalk(std::string_view event) const override;
  bool DecodeRequest(std::string_view stored_bytes, session::ChatRequest* request) override;

 private:
  v1::ProgressEvent& Begin(const session::EventHeader& header);
  void Finish(std::string& out);

  std::unique_ptr<v1::ProgressEvent> event_;
};

}  // namespace acpd::server

#endif  // ACPD_SERVER_CODEC_H_
