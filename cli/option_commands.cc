// Commands that change a session or copy it.
#include <cstdio>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/option_values.h"
#include "cli/text.h"

namespace acpd::cli {
namespace {

// "id: value", and below it what it can be, what it is now marked.
template <typename Choices, typename IdOf>
void PrintSetting(const std::string& id, const std::string& value, const Choices& choices,
                  const IdOf& id_of) {
  std::printf("%s: %s\n", ShownLine(id).c_str(), ShownLine(value).c_str());
  for (const auto& choice : choices) {
    std::printf("%s %s: %s\n", id_of(choice) == value ? " *" : "  ",
                ShownLine(id_of(choice)).c_str(), ShownLine(choice.name()).c_str());
  }
}

void PrintSession(const Settings& settings, const acpd::v1::Session& session) {
  if (settings.json) return PrintJson(session);
  std::printf("title: %s\n", ShownLine(session.title()).c_str());
  if (!session.mode_id().empty() || !session.available_modes().empty()) {
    PrintSetting("mode", session.mode_id(), session.available_modes(),
                 [](const auto& mode) { return mode.mode_id(); });
  }
  for (const auto& option : session.config_options()) {
    const std::string value =
        option.has_boolean() ? (option.boolean() ? "true" : "false") : option.select();
    PrintSetting(option.config_id(), value, option.choices(),
                 [](const auto& choice) { return choice.value(); });
  }
}

int Send(const Settings& settings, SessionService::Stub* stub,
         const acpd::v1::SetSessionOptionRequest& request, acpd::v1::Session* session) {
  const auto context = NewContext(settings, kStopCall);
  return Report(stub->SetSessionOption(context.get(), request, session), *context);
}

// In the order in which they are sent.
std::vector<acpd::v1::SetSessionOptionRequest> ChangesOf(const SetOptionsOptions& options,
                                                         const acpd::v1::Session& session) {
  std::vector<acpd::v1::SetSessionOptionRequest> changes;
  if (!options.mode.empty()) changes.emplace_back().set_mode_id(options.mode);
  for (const std::string& word : options.values)
    *changes.emplace_back().mutable_config() = ReadOptionValue(word, session);
  if (options.title) changes.emplace_back().set_title(*options.title);
  return changes;
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
  int made = 0;
  for (acpd::v1::SetSessionOptionRequest& change : ChangesOf(options, session)) {
    change.set_session_id(options.session);
    code = Send(settings, stub.get(), change, &session);
    if (code != kOk && made > 0)
      std::fprintf(stderr, "acpctl: %d change(s) before it stand; `acpctl set %s` shows them\n",
                   made, options.session.c_str());
    if (code != kOk) return code;
    ++made;
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
