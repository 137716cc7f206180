// Commands that change a session or copy it.
#include <cstdio>
#include <string>

#include "cli/commands.h"
#include "cli/option_values.h"

namespace acpd::cli {
namespace {

void PrintSession(const Settings& settings, const acpd::v1::Session& session) {
  if (settings.json) return PrintJson(session);
  std::printf("title: %s\nmode: %s\n", session.title().c_str(), session.mode_id().c_str());
  for (const auto& mode : session.available_modes())
    std::printf("  %s: %s\n", mode.mode_id().c_str(), mode.name().c_str());
  for (const auto& option : session.config_options()) {
    const std::string value =
        option.has_boolean() ? (option.boolean() ? "true" : "false") : option.select();
    std::printf("%s: %s\n", option.config_id().c_str(), value.c_str());
    for (const auto& choice : option.choices())
      std::printf("  %s: %s\n", choice.value().c_str(), choice.name().c_str());
  }
}

int Send(const Settings& settings, SessionService::Stub* stub,
         const acpd::v1::SetSessionOptionRequest& request, acpd::v1::Session* session) {
  const auto context = NewContext(settings, kStopCall);
  return Report(stub->SetSessionOption(context.get(), request, session), *context);
}

}  // namespace

// Without a change it shows what there is to change.
int SetOptions(const Settings& settings, const SetOptionsOptions& options) {
  const auto stub = Connect(settings);
  acpd::v1::Session session;
  acpd::v1::GetSessionRequest get;
  get.set_session_id(options.session);
  const auto context = NewContext(settings, kShortCall);
  int code = Report(stub->GetSession(context.get(), get, &session), *context);
  if (code != kOk) return code;
  std::vector<acpd::v1::SetSessionOptionRequest> changes;
  if (!options.mode.empty()) changes.emplace_back().set_mode_id(options.mode);
  for (const std::string& word : options.values) {
    if (!ReadOptionValue(word, session, changes.emplace_back().mutable_config())) {
      std::fprintf(stderr, "acpctl: \"%s\" is no ID=VALUE\n", word.c_str());
      return kUsage;
    }
  }
  if (options.title) changes.emplace_back().set_title(*options.title);
  for (acpd::v1::SetSessionOptionRequest& change : changes) {
    change.set_session_id(options.session);
    code = Send(settings, stub.get(), change, &session);
    if (code != kOk) return code;
  }
  PrintSession(settings, session);
  return kOk;
}

int ForkSession(const Settings& settings, const std::string& session_id) {
  const auto stub = Connect(settings);
  acpd::v1::ForkSessionRequest request;
  request.set_session_id(session_id);
  acpd::v1::Session session;
  const auto context = NewContext(settings, kStopCall);
  const int code = Report(stub->ForkSession(context.get(), request, &session), *context);
  if (code != kOk) return code;
  if (settings.json) {
    PrintJson(session);
  } else {
    std::printf("%s\n", session.session_id().c_str());
  }
  return kOk;
}

}  // namespace acpd::cli
