#ifndef ACPD_TESTS_E2E_AGENTS_SUPPORT_H_
#define ACPD_TESTS_E2E_AGENTS_SUPPORT_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/e2e/harness/e2e_test.h"

// What the tests of bad and difficult agents share. Pure functions.
namespace acpd::e2e {

// One step of the fake agent's script.
json Do(const std::string& verb, json argument);

// The line of a session/update as an agent writes it, without its end; `update` is the JSON text.
std::string UpdateLine(const std::string& agent_session_id, const std::string& update);
// The `update` object of a message chunk with this text, which needs no escapes.
std::string ChunkJson(const std::string& text);

std::vector<Event> NoticesOf(const std::vector<Event>& events, const std::string& code);
// The texts of the agent's message chunks, one by one.
std::vector<std::string> TextsOf(const std::vector<Event>& events);
// The place of the first event that fits; events.size(): none does.
size_t IndexOf(const std::vector<Event>& events, const EventTest& fits);

// What /proc knows; 0 where there is no such process.
pid_t ParentOf(pid_t pid);
size_t ResidentBytes(pid_t pid);

}  // namespace acpd::e2e

#endif  // ACPD_TESTS_E2E_AGENTS_SUPPORT_H_
