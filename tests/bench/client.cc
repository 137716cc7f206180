// One reader that measures, with the plain synchronous client that a backend would use.
//   bench_client raw ADDRESS N S       N events of S bytes of text from bench_raw_server
//   bench_client burst ADDRESS N S     one Chat "burst N S" to acpd's burst agent, read through
//                                      SubscribeProgress
//   bench_client latency ADDRESS N S   one Chat of N updates, 1 ms apart: the agent's write -> here
//   bench_client chats ADDRESS N S     the same, N Chats of one update each
// Prints one JSON object: {"events_per_second":..., "lost":..., "gaps":...} or {"p50_us":...,
// "p99_us":...}.
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "acpd/v1/session_service.grpc.pb.h"

namespace {

using acpd::v1::ChatRequest;
using acpd::v1::ChatResponse;
using acpd::v1::ProgressEvent;
using acpd::v1::SessionService;
using acpd::v1::SubscribeProgressRequest;
using std::chrono::steady_clock;

constexpr auto kCallTime = std::chrono::seconds(60);
constexpr int kWarmUp = 100;

struct Options {
  std::string mode, address;
  long count = 0;
  long size = 0;
};

std::unique_ptr<SessionService::Stub> Connect(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return SessionService::NewStub(
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
}

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "bench_client: %s\n", what.c_str());
  std::exit(1);
}

ChatResponse Chat(SessionService::Stub& stub, const std::string& session_id,
                  const std::string& prompt, acpd::v1::WaitFor wait_for) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallTime);
  ChatRequest request;
  request.set_project_id("bench");
  request.set_session_id(session_id);
  request.set_prompt(prompt);
  request.set_wait_for(wait_for);
  ChatResponse response;
  const grpc::Status status = stub.Chat(&context, request, &response);
  if (!status.ok()) Fail("Chat: " + status.error_message());
  return response;
}

double Seconds(steady_clock::duration span) { return std::chrono::duration<double>(span).count(); }

void Raw(const Options& options) {
  const auto stub = Connect(options.address);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallTime);
  SubscribeProgressRequest request;
  request.set_epoch(std::to_string(options.count) + " " + std::to_string(options.size));
  const auto started = steady_clock::now();
  const auto reader = stub->SubscribeProgress(&context, request);
  ProgressEvent event;
  long read = 0;
  while (reader->Read(&event)) ++read;
  const double seconds = Seconds(steady_clock::now() - started);
  std::printf("{\"events_per_second\":%.0f,\"lost\":%ld,\"gaps\":0}\n", read / seconds,
              options.count - read);
}

void Burst(const Options& options) {
  const auto stub = Connect(options.address);
  const auto chat_stub = Connect(options.address);
  const std::string session_id =
      Chat(*chat_stub, "", "burst 1 64", acpd::v1::WAIT_FOR_FINISHED).session_id();
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallTime);
  SubscribeProgressRequest request;
  request.set_session_id(session_id);
  const auto reader = stub->SubscribeProgress(&context, request);
  ProgressEvent event;
  while (reader->Read(&event) && !event.has_caught_up()) {
  }
  const auto started = steady_clock::now();
  Chat(*chat_stub, session_id,
       "burst " + std::to_string(options.count) + " " + std::to_string(options.size),
       acpd::v1::WAIT_FOR_ACCEPTED);
  long read = 0;
  long gaps = 0;
  uint64_t last_seq = 0;
  auto ended = started;
  while (reader->Read(&event)) {
    if (event.seq() != 0) {
      if (last_seq != 0 && event.seq() != last_seq + 1) ++gaps;
      last_seq = event.seq();
    }
    if (event.has_session_update()) ++read;
    if (read == options.count && ended == started) ended = steady_clock::now();
    if (event.has_turn_ended()) break;
  }
  context.TryCancel();
  std::printf("{\"events_per_second\":%.0f,\"lost\":%ld,\"gaps\":%ld}\n",
              read / Seconds(ended - started), options.count - read, gaps);
}

// How long an update was under way, in microseconds: its text begins with the time of its writing.
double Age(const ProgressEvent& event) {
  const int64_t now = steady_clock::now().time_since_epoch().count();
  const int64_t written = std::atoll(event.session_update().text().c_str());
  return static_cast<double>(now - written) / 1000.0;
}

void Latency(const Options& options, bool one_chat) {
  const auto stub = Connect(options.address);
  const auto chat_stub = Connect(options.address);
  const std::string session_id =
      Chat(*chat_stub, "", "burst 1 64", acpd::v1::WAIT_FOR_FINISHED).session_id();
  grpc::ClientContext context;
  SubscribeProgressRequest request;
  request.set_session_id(session_id);
  const auto reader = stub->SubscribeProgress(&context, request);
  ProgressEvent event;
  while (reader->Read(&event) && !event.has_caught_up()) {
  }
  std::vector<double> micros;
  const long updates = options.count + kWarmUp;
  const std::string size = std::to_string(options.size);
  const std::string prompt =
      one_chat ? "burst " + std::to_string(updates) + " " + size + " 1000" : "burst 1 " + size;
  for (long chats = one_chat ? 1 : updates; chats > 0; --chats) {
    Chat(*chat_stub, session_id, prompt, acpd::v1::WAIT_FOR_ACCEPTED);
    while (reader->Read(&event) && !event.has_turn_ended()) {
      if (event.has_session_update()) micros.push_back(Age(event));
    }
  }
  context.TryCancel();
  if (micros.size() != static_cast<size_t>(updates)) Fail("updates are missing");
  micros.erase(micros.begin(), micros.begin() + kWarmUp);
  std::sort(micros.begin(), micros.end());
  std::printf("{\"p50_us\":%.0f,\"p99_us\":%.0f}\n", micros[micros.size() / 2],
              micros[micros.size() * 99 / 100]);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) Fail("usage: bench_client raw|burst|latency|chats ADDRESS N S");
  const Options options{argv[1], argv[2], std::atol(argv[3]), std::atol(argv[4])};
  if (options.count <= 0 || options.size < 0) Fail("N and S must be positive numbers");
  if (options.mode == "raw") {
    Raw(options);
  } else if (options.mode == "burst") {
    Burst(options);
  } else if (options.mode == "latency") {
    Latency(options, true);
  } else if (options.mode == "chats") {
    Latency(options, false);
  } else {
    Fail("unknown mode " + options.mode);
  }
  return 0;
}
