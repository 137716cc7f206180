#include "server/admin_service.h"

#include <unistd.h>

#include <utility>

#include "server/convert.h"
#include "server/convert_agent.h"
#include "server/request_checks.h"
#include "server/requests.h"
#include "server/server_info.h"
#include "server/service_answer.h"
#include "server/strings.h"
#include "session/errors.h"
#include "session/wall_clock.h"

namespace acpd::server {
namespace {

absl::StatusOr<std::optional<Workers>> WorkersFrom(const v1::ShutdownRequest& request) {
  switch (request.workers()) {
    case v1::WORKERS_AT_SHUTDOWN_UNSPECIFIED:
      return std::optional<Workers>();
    case v1::WORKERS_AT_SHUTDOWN_KEEP:
      return std::optional(Workers::kKeep);
    case v1::WORKERS_AT_SHUTDOWN_STOP:
      return std::optional(Workers::kStop);
    default:
      return session::MakeError("INVALID_REQUEST",
                                Cat("workers: ", static_cast<int>(request.workers()),
                                    " is no value of WorkersAtShutdown that this acpd knows."));
  }
}

absl::Status CheckAgentName(const std::string& agent) {
  Checks checks;
  checks.Require(!agent.empty(), "INVALID_REQUEST", "agent is empty; name one of agent_servers.");
  checks.Text("agent", agent);
  return checks.status();
}

}  // namespace

AdminService::AdminService(Parts parts, asio::any_io_executor loop, ActiveCalls* active)
    : parts_(std::move(parts)),
      calls_(MakeCallContext(parts_.manager, std::move(loop), active)),
      started_at_(session::WallNow()),
      started_(std::chrono::steady_clock::now()) {}

AdminService::Reactor* AdminService::GetServerInfo(Context* context,
                                                   const v1::GetServerInfoRequest*,
                                                   v1::GetServerInfoResponse* response) {
  return Serve(context, [this, response](UnaryCall&) { return FillInfo(response); });
}

awaitable<absl::Status> AdminService::FillInfo(v1::GetServerInfoResponse* response) const {
  const session::ManagerCounts counts = parts_.manager->Counts();
  const DaemonConfig& config = *parts_.config;
  const auto uptime = std::chrono::steady_clock::now() - started_;
  response->set_version(ACPD_VERSION);
  response->set_epoch(parts_.store->epoch());
  ToProto(started_at_, response->mutable_start_time());
  ToProto(std::chrono::duration_cast<milliseconds>(uptime), response->mutable_uptime());
  response->set_pid(getpid());
  response->set_state_dir(config.state_dir);
  response->set_draining(counts.draining);
  ToProto(counts, response->mutable_counts());
  response->mutable_counts()->set_subscribers(calls_.active->CountStreams());
  for (auto& [key, text] : FormatLimits(config.limits)) (*response->mutable_limits())[key] = text;
  response->set_shutdown_workers(ToProto(config.shutdown_workers));
  const absl::Status health = parts_.store->health();
  if (!health.ok()) response->set_store_error(std::string(health.message()));
  response->set_uncommitted_bytes(parts_.store->uncommitted_bytes());
  for (const std::string& id : counts.wire_logged) response->add_wire_logged_session_ids(id);
  co_return absl::OkStatus();
}

AdminService::Reactor* AdminService::Drain(Context* context, const v1::DrainRequest* request,
                                           v1::DrainResponse* response) {
  return Serve(context, [this, resume = request->resume(), response](UnaryCall& call) {
    return WaitDrained(call.call(), resume, response);
  });
}

awaitable<absl::Status> AdminService::WaitDrained(session::CallPtr call, bool resume,
                                                  v1::DrainResponse* response) const {
  parts_.manager->SetDraining(!resume);
  if (!resume) {
    const absl::Status waited = co_await parts_.manager->WaitDrained(std::move(call));
    if (!waited.ok()) co_return waited;
  }
  const session::ManagerCounts counts = parts_.manager->Counts();
  response->set_drained(counts.draining && counts.queued_turns + counts.running_turns == 0);
  response->set_queued_turns(counts.queued_turns);
  response->set_running_turns(counts.running_turns);
  co_return absl::OkStatus();
}

AdminService::Reactor* AdminService::SetWireLog(Context* context,
                                                const v1::SetWireLogRequest* request,
                                                v1::SetWireLogResponse*) {
  if (auto status = CheckSessionId(request->session_id()); !status.ok())
    return Refuse(context, status);
  return Serve(context, [this, request](UnaryCall&) {
    return SwitchWireLog(request->session_id(), request->on());
  });
}

awaitable<absl::Status> AdminService::SwitchWireLog(std::string session_id, bool on) const {
  co_return parts_.manager->SetWireLog(session_id, on);
}

AdminService::Reactor* AdminService::Shutdown(Context* context, const v1::ShutdownRequest* request,
                                              v1::ShutdownResponse*) {
  const auto workers = WorkersFrom(*request);
  if (!workers.ok()) return Refuse(context, workers.status());
  return Serve(context, [this, workers = *workers](UnaryCall&) { return Stop(workers); });
}

// The server waits for the calls under way before it goes: this one's answer gets there.
awaitable<absl::Status> AdminService::Stop(std::optional<Workers> workers) const {
  if (parts_.stop(workers)) co_return absl::OkStatus();
  co_return session::MakeError("SHUTTING_DOWN", "acpd is stopping already.");
}

AdminService::Reactor* AdminService::LoginAgent(Context* context,
                                                const v1::LoginAgentRequest* request,
                                                v1::LoginAgentResponse* response) {
  if (auto status = CheckAgentName(request->agent()); !status.ok()) return Refuse(context, status);
  Checks checks;
  checks.Text("method_id", request->method_id());
  if (!checks.status().ok()) return Refuse(context, checks.status());
  return Serve(context, [this, request, response](UnaryCall& call) {
    return Answer(parts_.manager->LoginAgent(call.call(), request->agent(), request->method_id()),
                  [response](const session::LoginView& login) { ToProto(login, response); });
  });
}

AdminService::Reactor* AdminService::LogoutAgent(Context* context,
                                                 const v1::LogoutAgentRequest* request,
                                                 v1::LogoutAgentResponse*) {
  if (auto status = CheckAgentName(request->agent()); !status.ok()) return Refuse(context, status);
  return Serve(context, [this, request](UnaryCall& call) {
    return parts_.manager->LogoutAgent(call.call(), request->agent());
  });
}

}  // namespace acpd::server
