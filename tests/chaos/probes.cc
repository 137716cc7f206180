#include "tests/chaos/probes.h"

#include <grpcpp/impl/codegen/client_unary_call.h>

namespace acpd::chaos {
namespace {

namespace api = e2e::api;
using std::chrono::steady_clock;

constexpr milliseconds kControlLimit{10'000};
constexpr milliseconds kHealthLimit{5'000};

milliseconds MillisecondsSince(steady_clock::time_point begin) {
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin);
}

// grpc.health.v1.Health/Check of the whole server; its messages have no generated code here.
grpc::Status CheckHealth(grpc::Channel* channel) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kHealthLimit);
  context.set_wait_for_ready(true);
  const grpc::internal::RpcMethod method("/grpc.health.v1.Health/Check",
                                         grpc::internal::RpcMethod::NORMAL_RPC);
  const grpc::Slice nothing;
  const grpc::ByteBuffer request(&nothing, 1);
  grpc::ByteBuffer response;
  return grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
      channel, method, &context, request, &response);
}

}  // namespace

ControlCaller::ControlCaller(const Stage& stage, int number)
    : Actor(stage, number), client_(stage.site->Connect()) {}

void ControlCaller::Run() {
  while (stage_.stop->Sleep(dice_.Pause(100, 400))) ChatOnce();
}

void ControlCaller::ChatOnce() {
  const std::string key = "control-" + std::to_string(++chats_);
  const std::string prompt =
      R"(![{"log":"turn )" + key + R"("},{"update":"u )" + key + R"( 1. "}])";
  TurnPlan plan{.key = key, .kind = "control", .prompt = "", .texts = {}};
  plan.texts = {HashOf("u " + key + " 1. ")};
  stage_.record->Add(plan);
  auto request = e2e::ChatOf(kProject, session_id_, prompt, api::WAIT_FOR_FINISHED);
  request.set_agent("spared");
  const uint64_t life = stage_.site->Life();
  const auto begin = steady_clock::now();
  const auto called = client_->Chat(request, kControlLimit * 2);
  if (called.ok()) session_id_ = called.response.session_id();
  if (!stage_.site->WasUpSince(life)) return;
  const milliseconds took = MillisecondsSince(begin);
  stage_.tally->Took("control session's Chat", took);
  if (took > kControlLimit || !called.ok()) {
    stage_.tally->Violation("I4 others are not delayed", "the control session's Chat took " +
                                                             std::to_string(took.count()) +
                                                             " ms: " + called.ToString());
  }
}

void HealthProbe::Run() {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  const auto channel = grpc::CreateCustomChannel("unix:" + (stage_.site->dir() / "acpd.sock"),
                                                 grpc::InsecureChannelCredentials(), arguments);
  while (stage_.stop->Sleep(milliseconds(200))) {
    const uint64_t life = stage_.site->Life();
    const auto begin = steady_clock::now();
    const grpc::Status status = CheckHealth(channel.get());
    if (!stage_.site->WasUpSince(life)) continue;
    stage_.tally->Took("health", MillisecondsSince(begin));
    if (!status.ok()) {
      stage_.tally->Violation("I6 health answers",
                              std::to_string(status.error_code()) + " " + status.error_message());
    }
  }
}

void MemoryProbe::Run() {
  while (stage_.stop->Sleep(milliseconds(200))) {
    const pid_t pid = stage_.site->pid();
    if (pid == 0) continue;
    const uint64_t kib = ResidentKib(pid);
    stage_.tally->Reached("KiB of memory that acpd had at most", kib);
    stage_.tally->Reached("descriptors that acpd had at most", OpenDescriptors(pid));
    if (kib > kMostKib) {
      stage_.tally->Violation("I5 memory is bounded", std::to_string(kib) + " KiB resident");
    }
  }
}

}  // namespace acpd::chaos
