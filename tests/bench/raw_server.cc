// The yardstick: a plain gRPC callback server that streams one prepared ProgressEvent again and
// again, with nothing behind it: no store, no agent, no write hints. `epoch` of the request says
// how many events of how many bytes of text: "N S". Prints its port, then serves until its stdin
// ends.
#include <grpcpp/grpcpp.h>
#include <grpcpp/support/byte_buffer.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

#include "acpd/v1/session_service.grpc.pb.h"

namespace {

using acpd::v1::ProgressEvent;
using acpd::v1::SessionService;

std::string MakeEvent(size_t text_bytes) {
  ProgressEvent event;
  event.set_position(123456);
  event.set_seq(123456);
  event.set_project_id("bench");
  event.set_session_id("0190b5a0-7c3e-7d4f-9a1b-2c3d4e5f6071");
  event.set_turn_id("0190b5a0-7c3e-7d4f-9a1b-2c3d4e5f6072");
  event.mutable_time()->set_seconds(1'790'000'000);
  event.mutable_time()->set_nanos(123'456'789);
  const std::string text(text_bytes, 'x');
  auto* update = event.mutable_session_update();
  update->set_kind("agent_message_chunk");
  update->set_json(
      "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"" +
      text + "\"}}");
  update->set_text(text);
  return event.SerializeAsString();
}

class RawStream : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  RawStream(long count, size_t text_bytes) : left_(count), slice_(MakeEvent(text_bytes)) {}
  void Start() {
    std::lock_guard<std::mutex> lock(mutex_);
    Next();
  }
  void OnWriteDone(bool ok) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!ok) left_ = 0;
    Next();
  }
  void OnDone() override { delete this; }

 private:
  void Next() {
    if (finished_) return;
    if (left_-- > 0) {
      current_ = grpc::ByteBuffer(&slice_, 1);
      StartWrite(&current_);
      return;
    }
    finished_ = true;
    Finish(grpc::Status::OK);
  }

  std::mutex mutex_;
  long left_;
  bool finished_ = false;
  grpc::Slice slice_;
  grpc::ByteBuffer current_;
};

class RawService
    : public SessionService::WithRawCallbackMethod_SubscribeProgress<SessionService::Service> {
  grpc::ServerWriteReactor<grpc::ByteBuffer>* SubscribeProgress(
      grpc::CallbackServerContext*, const grpc::ByteBuffer* bytes) override {
    acpd::v1::SubscribeProgressRequest request;
    grpc::ByteBuffer copy(*bytes);
    grpc::ProtoBufferReader reader(&copy);
    request.ParseFromZeroCopyStream(&reader);
    long count = 0;
    long text_bytes = 0;
    std::sscanf(request.epoch().c_str(), "%ld %ld", &count, &text_bytes);
    auto* stream = new RawStream(count, static_cast<size_t>(text_bytes));
    stream->Start();
    return stream;
  }
};

}  // namespace

int main() {
  RawService service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (!server) return 1;
  std::printf("127.0.0.1:%d\n", port);
  std::fflush(stdout);
  char byte;
  while (read(0, &byte, 1) > 0) {
  }
  server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  return 0;
}
