#ifndef ACPD_SERVER_CODEC_H_
#define ACPD_SERVER_CODEC_H_

#include <memory>
#include <string>
#include <string_view>

#include "session/events.h"

namespace acpd::v1 {
class ChatRequest;
class ProgressEvent;
}  // namespace acpd::v1

namespace acpd::server {

// The domain's events as the public ProgressEvent. One message object is reused, so that the
// updates of a burst cost no allocation of their own. Never writes `position`. Loop thread only.
// Owned by main.
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
  bool DecodeUpdate(std::string_view event, session::StoredUpdate* update) override;
  bool DecodeRequest(std::string_view stored_bytes, session::ChatRequest* request) override;

 private:
  v1::ProgressEvent& Begin(const session::EventHeader& header);
  void Finish(std::string& out);

  std::unique_ptr<v1::ProgressEvent> event_;
};

// The request as the store keeps it: without wait_for and api_key, but with a mark that there was a
// key (DecodeRequest: api_key_lost).
std::string EncodeRequest(const v1::ChatRequest& request);
// HMAC under `key` over the canonical form of every field but request_id, wait_for and api_key.
std::string ContentHash(const v1::ChatRequest& request, std::string_view key);

}  // namespace acpd::server

#endif  // ACPD_SERVER_CODEC_H_
