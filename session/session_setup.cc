// Making a session ready for a turn: the live worker, or a new one with `initialize`, login, and an
// agent session.
#include <algorithm>
#include <utility>

#include "session/errors.h"
#include "session/names.h"
#include "session/paths.h"
#include "session/session.h"
#include "session/session_capabilities.h"
#include "session/setup_settings.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;

// What a call on a worker comes to that ended between two steps.
AgentAnswer Exited() {
  AgentAnswer answer;
  answer.kind = AgentAnswer::Kind::kExited;
  return answer;
}

absl::Status StoppingDown() {
  return MakeError("SHUTTING_DOWN",
                   "acpd is stopping; the turn is kept and runs after the restart.");
}

}  // namespace

awaitable<Session::Ready> Session::MakeReady(TurnPtr turn) {
  Ready ready;
  if (turn->request.model_provider && turn->request.model_provider->api_key_lost) {
    ready.status = MakeError("CREDENTIALS_NEEDED",
                             "acpd was restarted while this turn waited, and an api_key is kept in "
                             "memory only; send the Chat again with model_provider.api_key.");
    co_return ready;
  }
  if (turn->request.model_provider) {
    row_.model_provider = turn->request.model_provider;
    row_.model = turn->request.model_provider->model;
    row_.needs_api_key = !row_.model_provider->api_key.empty();
  }
  if (turn->request.setup_secrets_lost) {
    ready.status =
        MakeError("CREDENTIALS_NEEDED",
                  "acpd was restarted while this turn waited, and its MCP servers or meta "
                  "are kept in memory only (store_mcp_secrets); send the Chat again.");
    co_return ready;
  }
  TakeSettings(turn->request, row_.setup);
  if (ready_origin_) {
    ready.origin = *ready_origin_;
    ready_origin_.reset();
    co_await ApplyWanted();
    co_return ready;
  }
  if (worker_ && !worker_->alive()) {
    // Its end is on the way: what it leaves has to be gone before another one starts.
    const std::shared_ptr<AgentWorker> ending = worker_;
    co_await ending->Stop(milliseconds(0));
  }
  if (worker_ && WorkerFits()) {
    ready.origin.kind = OriginKind::kLive;
    co_return ready;
  }
  if (worker_) co_await CloseWorker(CloseReason::kUnspecified);
  ready.status = co_await StartWorker();
  if (!ready.status.ok()) {
    if (worker_) co_await CloseWorker(CloseReason::kUnspecified, true);
    co_return ready;
  }
  const bool resume =
      !row_.agent_session_id.empty() && (row_.prompt_sent || !row_.own_agent_session);
  if (resume) {
    Ready resumed = co_await ResumeOrFallBack(turn);
    co_return resumed;
  }
  const bool forked = !row_.fork_of.empty();
  awaitable<absl::StatusOr<acp::SetupResult>> asked =
      forked ? ForkAgentSession() : NewAgentSession("");
  const absl::StatusOr<acp::SetupResult> setup = co_await std::move(asked);
  if (!setup.ok()) {
    ready.status = setup.status();
    if (worker_) co_await CloseWorker(CloseReason::kUnspecified, true);
    co_return ready;
  }
  TakeSetup(*setup);
  SetAgentSession(setup->session_id, true);
  fresh_resume_ = false;
  ready.origin = NewOrigin();
  if (forked) {
    ready.origin = SessionOrigin();
    ready.origin.kind = OriginKind::kForked;
    row_.prompt_sent = true;  // of its original: what it has is worth a resume
    row_.fork_of.clear();
  }
  RecordRow();
  WantConfigured();
  co_await ApplyWanted();
  co_return ready;
}

absl::StatusOr<acp::SessionSetup> Session::MakeSetup() const {
  const LaunchContext context = ContextWith(row_.model_provider);
  const absl::StatusOr<SetupSettings> settings = ExpandSettings(row_.setup, context);
  if (!settings.ok()) return settings.status();
  if (worker_) {
    const absl::Status supported = CheckSupported(*settings, worker_->initialize);
    if (!supported.ok()) return supported;
  }
  acp::SessionSetup setup;
  setup.cwd = row_.cwd;
  setup.mcp_servers = settings->mcp_servers;
  setup.additional_directories = settings->additional_directories;
  setup.system_prompt = settings->system_prompt;
  setup.meta_json = settings->meta_json;
  setup.trace = trace_;
  return setup;
}

awaitable<AgentAnswer> Session::AskSetup(std::function<std::string(uint64_t id)> make_line) {
  AgentAnswer answer = Exited();
  for (bool again = true; again;) {
    const std::shared_ptr<AgentWorker> worker = worker_;
    if (!worker) co_return Exited();
    const uint64_t id = worker->NextId();
    std::string line = make_line(id);
    const SteadyTime deadline = SetupDeadline();
    answer = co_await worker->Call(id, std::move(line), deadline, AgentWorker::Kept::kNever);
    again = false;
    const bool wants_login =
        answer.kind == AgentAnswer::Kind::kError && answer.error.code == acp::kAuthRequired;
    std::string method = wants_login && !login_tried_ ? MethodByVariable() : "";
    if (method.empty()) break;
    login_tried_ = true;
    const absl::Status logged_in = co_await AuthenticateWith(std::move(method));
    again = logged_in.ok();
    if (!again) {
      Log(Severity::kWarning, "the key in the agent's environment was refused", CurrentTurnId(),
          {{"error", std::string(logged_in.message())}});
    }
  }
  co_return answer;
}

// The successor of a fallback that was never prompted stays what it is: what its first turn runs on
// is not what was asked for.
SessionOrigin Session::NewOrigin() const {
  if (row_.origin.kind == OriginKind::kFallback && !row_.prompt_sent) return row_.origin;
  SessionOrigin origin;
  origin.kind = OriginKind::kNew;
  return origin;
}

bool Session::WorkerFits() const {
  const AgentDefinition* definition = core_.config().Find(row_.agent);
  if (!definition) return true;  // an agent that left the config is carried on
  const absl::StatusOr<LaunchContext> context = MakeLaunchContext();
  if (!context.ok()) return true;
  return worker_->row().fingerprint ==
         LaunchFingerprint(*definition, *context, core_.deps.store->fingerprint_key());
}

bool Session::needs_worker_for(const ChatRequest& request) const {
  if (!worker_ || !worker_->alive()) return true;
  return (request.model_provider && row_.model_provider != request.model_provider) ||
         ChangesSettings(request, row_.setup);
}

LaunchContext Session::ContextWith(const std::optional<ModelProvider>& provider) const {
  LaunchContext context;
  context.project_id = row_.project_id;
  context.cwd = row_.cwd;
  if (provider) context.model = *provider;
  context.setup = row_.setup;
  context.secrets = &core_.config().secrets;
  context.daemon_env = DaemonEnvironment();
  return context;
}

absl::StatusOr<LaunchContext> Session::MakeLaunchContext() const {
  if (LacksSecrets(row_.setup)) {
    return MakeError("CREDENTIALS_NEEDED",
                     "The session was set up with MCP servers or meta that acpd does not keep "
                     "(store_mcp_secrets); send mcp_servers and meta_json again.");
  }
  LaunchContext context = ContextWith(row_.model_provider);
  if (row_.needs_api_key && context.model.api_key.empty()) {
    return MakeError(
        "CREDENTIALS_NEEDED",
        "The session was set up with an api_key that acpd does not keep; send it again in "
        "model_provider.api_key, or use api_key_ref.");
  }
  return context;
}

awaitable<absl::Status> Session::StartWorker() {
  if (shut_down_) co_return StoppingDown();
  const AgentDefinition* definition = core_.config().Find(row_.agent);
  if (!definition) {
    co_return MakeError(
        "AGENT_NOT_FOUND",
        "The agent \"" + row_.agent + "\" is not in the config any more; add it to agent_servers.");
  }
  const absl::StatusOr<LaunchContext> context = MakeLaunchContext();
  if (!context.ok()) co_return context.status();
  const auto worker =
      std::make_shared<AgentWorker>(core_, *definition, this, row_.session_id, slot_);
  absl::StatusOr<acp::LaunchSpec> spec = BuildLaunchSpec(*definition, *context, worker->id());
  if (!spec.ok()) co_return spec.status();
  const SteadyTime deadline = steady_clock::now() + definition->start_timeout;

  CwdRules rules;
  rules.projects_root =
      definition->projects_root.empty() ? core_.config().projects_root : definition->projects_root;
  rules.project_id = row_.project_id;
  rules.allowed_roots = core_.config().allowed_roots;
  std::function<absl::Status()> check = [rules, cwd = row_.cwd, argv0 = spec->argv.front(),
                                         env = spec->env,
                                         further = row_.setup.additional_directories]() {
    const absl::StatusOr<std::string> folder = CheckCwd(rules, cwd);
    if (!folder.ok()) return folder.status();
    for (const std::string& directory : further) {
      const absl::StatusOr<std::string> other = CheckCwd(rules, directory);
      if (!other.ok()) return other.status();
    }
    std::string path;
    for (const auto& [name, value] : env) {
      if (name == "PATH") path = value;
    }
    return CheckCommand(argv0, path, cwd);
  };
  const absl::Status checked = co_await OnPool<absl::Status>(*core_.deps.pool, std::move(check));
  if (!checked.ok()) co_return checked;
  if (shut_down_) co_return StoppingDown();

  worker->mutable_row().fingerprint =
      LaunchFingerprint(*definition, *context, core_.deps.store->fingerprint_key());
  worker_ = worker;
  login_tried_ = false;
  mode_told_ = options_told_ = false;
  spec->orphan_timeout_ms = static_cast<uint32_t>(core_.config().limits.orphan_timeout.count());
  const absl::Status started = co_await worker->Start(std::move(*spec), deadline);
  if (!started.ok()) co_return started;
  const absl::Status initialized = co_await Initialize(deadline);
  if (!initialized.ok()) co_return initialized;
  const absl::Status authenticated = co_await Authenticate();
  // An answer may have been the agent's last words.
  if (authenticated.ok() && !worker_) co_return SetupFailure(Exited(), "session/new", "");
  co_return authenticated;
}

awaitable<absl::Status> Session::Initialize(SteadyTime deadline) {
  const std::shared_ptr<AgentWorker> worker = worker_;
  if (!worker) co_return SetupFailure(Exited(), "initialize", "START_TIMEOUT");
  const uint64_t id = worker->NextId();
  const acp::ClientCapabilities offered = OfferedTo(worker->agent());
  const AgentAnswer answer =
      co_await worker->Call(id, acp::InitializeLine(id, ACPD_VERSION, offered), deadline);
  if (answer.kind != AgentAnswer::Kind::kResult) {
    co_return SetupFailure(answer, "initialize", "START_TIMEOUT");
  }
  absl::StatusOr<acp::InitializeResult> result = ReadInitialize(answer.result);
  if (!result.ok()) co_return result.status();
  worker->initialize = *result;
  worker->mutable_row().initialize_json = answer.result;
  AgentFacts& facts = core_.facts[row_.agent];
  facts.initialize = std::move(*result);
  co_return absl::OkStatus();
}

awaitable<absl::Status> Session::Authenticate() {
  const AgentDefinition* definition = agent();
  if (!definition || definition->auth_method.empty()) co_return absl::OkStatus();
  const std::shared_ptr<AgentWorker> worker = worker_;
  if (worker) {
    const std::vector<std::string>& offered = worker->initialize.auth_method_ids;
    if (std::find(offered.begin(), offered.end(), definition->auth_method) == offered.end()) {
      co_return LoginWanted("its config's auth_method \"" + definition->auth_method +
                            "\" is none that it offers and acpd can use");
    }
  }
  const absl::Status status = co_await AuthenticateWith(definition->auth_method);
  co_return status;
}

SteadyTime Session::SetupDeadline() const {
  const AgentDefinition* definition = agent();
  return steady_clock::now() +
         (definition ? definition->session_setup_timeout : milliseconds(120'000));
}

std::string Session::WorkerDetail() const {
  return worker_ ? worker_->ExitDetail() : last_worker_detail_;
}

absl::Status Session::SetupFailure(const AgentAnswer& answer, const std::string& step,
                                   const std::string& timeout_reason) {
  switch (answer.kind) {
    case AgentAnswer::Kind::kTimedOut:
      return MakeError(timeout_reason, "The agent did not answer " + step + " in time (phase " +
                                           step + "); it was stopped: " + WorkerDetail());
    case AgentAnswer::Kind::kExited:
    case AgentAnswer::Kind::kLost:
      return MakeError(absl::StatusCode::kUnavailable, "AGENT_START_FAILED",
                       "The agent ended before it answered " + step + ": " + WorkerDetail());
    default:
      break;
  }
  if (answer.error.code == acp::kAuthRequired) return LoginWanted(answer.error.message);
  return MakeError(absl::StatusCode::kUnavailable, "AGENT_START_FAILED",
                   "The agent refused " + step + ": " + answer.error.message +
                       (answer.error.data.empty() ? "" : " " + answer.error.data));
}

awaitable<absl::StatusOr<acp::SetupResult>> Session::NewAgentSession(std::string meta_resume_id) {
  absl::StatusOr<acp::SessionSetup> setup = MakeSetup();
  if (!setup.ok()) co_return setup.status();
  setup->meta_resume_id = std::move(meta_resume_id);
  std::function<std::string(uint64_t)> make_line = [&setup](uint64_t id) {
    return acp::NewSessionLine(id, *setup);
  };
  const AgentAnswer answer = co_await AskSetup(std::move(make_line));
  co_return ReadNewSession(answer, "session/new");
}

// The answer to what makes a session.
absl::StatusOr<acp::SetupResult> Session::ReadNewSession(const AgentAnswer& answer,
                                                         const std::string& step) {
  if (answer.kind != AgentAnswer::Kind::kResult) {
    return SetupFailure(answer, step, "START_TIMEOUT");
  }
  absl::StatusOr<acp::SetupResult> result = acp::ReadSetupResult(answer.result);
  if (result.ok() && result->session_id.empty()) {
    result = absl::InvalidArgumentError("it has no sessionId");
  }
  if (result.ok()) return result;
  return MakeError("PROTOCOL_MISMATCH", "The agent's answer to " + step + " cannot be read: " +
                                            std::string(result.status().message()));
}

void Session::TakeSetup(const acp::SetupResult& setup, bool resumed) {
  core_.facts[row_.agent].auth_required = false;
  TakeOptions(setup, resumed);
}

void Session::SetAgentSession(const std::string& agent_session_id, bool own) {
  core_.by_agent_session.erase({row_.agent, row_.agent_session_id});
  row_.agent_session_id = agent_session_id;
  row_.own_agent_session = own;
  row_.agent_session_time = core_.now();
  core_.by_agent_session[{row_.agent, agent_session_id}] = row_.session_id;
}

}  // namespace acpd::session
