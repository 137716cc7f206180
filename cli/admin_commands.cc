#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/event_words.h"

namespace acpd::cli {
namespace {

using acpd::v1::GetServerInfoResponse;

// It waits for turns, which take their time.
constexpr std::chrono::hours kDrainCall{24};

// In its two largest units: "3d 4h".
std::string UptimeWords(int64_t seconds) {
  std::string words;
  int units = 0;
  for (const auto& [name, size] :
       {std::pair("d", 86'400), std::pair("h", 3'600), std::pair("m", 60), std::pair("s", 1)}) {
    const int64_t count = seconds / size;
    seconds %= size;
    if ((count == 0 && units == 0 && size > 1) || units == 2) continue;
    words += (words.empty() ? "" : " ") + std::to_string(count) + name;
    ++units;
  }
  return words;
}

void PrintRow(const char* name, const std::string& text) {
  std::printf("%-10s %s\n", name, text.c_str());
}

// "3 one, 5 other".
void Add(uint64_t count, const std::string& what, std::string& words) {
  words += (words.empty() ? "" : ", ") + std::to_string(count) + " " + what;
}

std::string TurnWords(uint64_t running, uint64_t queued) {
  std::string words;
  Add(running, "running", words);
  Add(queued, "queued", words);
  return words;
}

std::string SessionWords(const GetServerInfoResponse::Counts& counts) {
  std::string words;
  for (const auto& sessions : counts.sessions())
    Add(sessions.count(), StateWord(sessions.state()), words);
  return words.empty() ? "none" : words;
}

void PrintInfo(const GetServerInfoResponse& info) {
  const auto& counts = info.counts();
  const bool kept = info.shutdown_workers() == acpd::v1::WORKERS_AT_SHUTDOWN_KEEP;
  PrintRow("acpd", info.version() + ", pid " + std::to_string(info.pid()) + ", up " +
                       UptimeWords(info.uptime().seconds()));
  PrintRow("state_dir", info.state_dir());
  PrintRow("epoch", info.epoch());
  PrintRow("turns", TurnWords(counts.running_turns(), counts.queued_turns()) +
                        (info.draining() ? "; draining: no new ones are taken" : ""));
  PrintRow("sessions", SessionWords(counts));
  PrintRow("workers", std::to_string(counts.workers()) + "; when acpd stops they are " +
                          (kept ? "kept for the next one" : "stopped"));
  PrintRow("questions", std::to_string(counts.open_questions()));
  PrintRow("streams", std::to_string(counts.subscribers()));
  PrintRow("store", info.store_error().empty()
                        ? std::to_string(info.uncommitted_bytes()) + " bytes to be written"
                        : "DOES NOT WRITE: " + info.store_error());
  for (const std::string& id : info.wire_logged_session_ids()) PrintRow("wirelog", id);
  std::map<std::string, std::string> limits(info.limits().begin(), info.limits().end());
  for (const auto& [key, text] : limits) PrintRow("limit", key + " " + text);
}

}  // namespace

int ShowInfo(const Settings& settings) {
  GetServerInfoResponse info;
  const auto stub = ConnectAdmin(settings);
  const auto context = NewContext(settings, kShortCall);
  const int code =
      Report(stub->GetServerInfo(context.get(), acpd::v1::GetServerInfoRequest(), &info), *context);
  if (code != kOk) return code;
  if (settings.json) {
    PrintJson(info);
  } else {
    PrintInfo(info);
  }
  return kOk;
}

int Drain(const Settings& settings, bool off) {
  acpd::v1::DrainRequest request;
  request.set_resume(off);
  acpd::v1::DrainResponse response;
  const auto stub = ConnectAdmin(settings);
  const auto context = NewContext(settings, kDrainCall);
  const int code = Report(stub->Drain(context.get(), request, &response), *context);
  if (code != kOk) return code;
  if (settings.json) PrintJson(response);
  if (off || response.drained()) return kOk;
  std::fprintf(stderr,
               "acpctl: turns have not ended yet: %s; acpd goes on taking no new ones, until "
               "`acpctl drain --off`\n",
               TurnWords(response.running_turns(), response.queued_turns()).c_str());
  return kTurnNotOk;
}

// Returns when acpd has closed its connections: what runs has ended or been let go of by then.
int StopDaemon(const Settings& settings, bool workers) {
  acpd::v1::ShutdownRequest request;
  if (workers) request.set_workers(acpd::v1::WORKERS_AT_SHUTDOWN_STOP);
  acpd::v1::ShutdownResponse response;
  const auto channel = OpenChannel(settings);
  const auto stub = AdminService::NewStub(channel);
  const auto context = NewContext(settings, kStopCall);
  const int code = Report(stub->Shutdown(context.get(), request, &response), *context);
  if (code != kOk) return code;
  if (settings.json) PrintJson(response);
  while (channel->GetState(false) == GRPC_CHANNEL_READY) {
    if (channel->WaitForStateChange(GRPC_CHANNEL_READY, context->deadline())) continue;
    std::fprintf(stderr, "acpctl: acpd has not gone yet; it goes on stopping\n");
    return kTurnNotOk;
  }
  return kOk;
}

int SetWireLog(const Settings& settings, const std::string& session_id, bool off) {
  acpd::v1::SetWireLogRequest request;
  request.set_session_id(session_id);
  request.set_on(!off);
  acpd::v1::SetWireLogResponse response;
  const auto stub = ConnectAdmin(settings);
  const auto context = NewContext(settings, kShortCall);
  const int code = Report(stub->SetWireLog(context.get(), request, &response), *context);
  if (code == kOk && settings.json) PrintJson(response);
  return code;
}

}  // namespace acpd::cli
