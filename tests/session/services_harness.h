#ifndef ACPD_TESTS_SESSION_SERVICES_HARNESS_H_
#define ACPD_TESTS_SESSION_SERVICES_HARNESS_H_

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "session/sqlite.h"
#include "session/store_schema.h"
#include "tests/session/manager_harness.h"

// What the tests of fs/* and terminal/* share: prompts that make the fake agent ask, and what
// readers see of it.
namespace acpd::session {

using nlohmann::json;

inline constexpr int kInvalidRequestCode = -32600;
inline constexpr int kMethodNotFoundCode = -32601;
inline constexpr int kInvalidParamsCode = -32602;
inline constexpr int kInternalErrorCode = -32603;
inline constexpr int kNotFoundCode = -32002;
inline constexpr int kCancelledCode = -32800;

inline const json kDone = {{"reply", {{"stopReason", "end_turn"}}}};

class ServicesTest : public ManagerTest {
 protected:
  // The session's cwd.
  std::string Folder() { return config().projects_root + "/project"; }
  std::string Path(const std::string& name) { return Folder() + "/" + name; }
  void WriteFile(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  static std::string ReadFile(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Steps of the fake agent: a request with the next id, and what its answer has to have.
  json Ask(const std::string& method, json params) {
    if (!params.contains("sessionId")) params["sessionId"] = "${sessionId}";
    return {{"request", {{"id", ++last_id_}, {"method", method}, {"params", std::move(params)}}}};
  }
  json Expect(json wanted) const {
    wanted["id"] = last_id_;
    return {{"expect_answer", std::move(wanted)}};
  }
  static json Result(json result) { return {{"result", std::move(result)}}; }
  static json Code(int code, const std::string& part = "") {
    json wanted = {{"code", code}};
    if (!part.empty()) wanted["message"] = part;
    return wanted;
  }
  // Both, for each of them.
  void Add(json& steps, const std::string& method, json params, json wanted) {
    steps.push_back(Ask(method, std::move(params)));
    steps.push_back(Expect(std::move(wanted)));
  }
  static std::string Prompt(json steps) {
    steps.push_back(kDone);
    return "!" + steps.dump();
  }
  // The turn with these steps, all of whose answers were as expected; its session.
  std::string Play(json steps, const std::string& session_id = "") {
    const ChatReply reply = Say(Prompt(std::move(steps)), session_id);
    EXPECT_EQ(reply.turn.result.outcome, Outcome::kCompleted)
        << reply.turn.result.error.message << " " << reply.turn.result.error.agent_data;
    return reply.turn.session_id;
  }
  std::string StartPlaying(json steps) {
    const auto begun = Chat(Request(Prompt(std::move(steps)), "", WaitFor::kStarted));
    EXPECT_TRUE(begun.ok()) << begun.status();
    turn_id_ = begun.ok() ? begun->turn.turn_id : "";
    return begun.ok() ? begun->turn.session_id : "";
  }
  void ExpectCompleted() {
    const auto ended = Run(manager().GetTurn(NewCall(), {turn_id_, "", ""}, WaitFor::kFinished));
    ASSERT_TRUE(ended.ok()) << ended.status();
    EXPECT_EQ(ended->result.outcome, Outcome::kCompleted)
        << ended->result.error.message << " " << ended->result.error.agent_data;
  }
  // The events that tell of files and terminals.
  std::vector<std::string> Seen(const std::string& session_id) {
    std::vector<std::string> seen;
    for (const std::string& event : Events(session_id)) {
      if (event.starts_with("file_") || event.starts_with("terminal_")) seen.push_back(event);
    }
    return seen;
  }
  bool HasSeen(const std::string& session_id, const std::string& part) {
    const std::vector<std::string> seen = Seen(session_id);
    return std::any_of(seen.begin(), seen.end(), [&](const std::string& event) {
      return event.find(part) != std::string::npos;
    });
  }
  int64_t Stored(const std::string& table) {
    const auto db = Database::Open(DatabasePath(config().state_dir), SQLITE_OPEN_READONLY);
    return db.ok() ? (*db)->QueryInt(("SELECT count(*) FROM " + table).c_str()) : -1;
  }
  static json Shell(const std::string& script) {
    return {{"command", "/bin/sh"}, {"args", {"-c", script}}};
  }
  static json Of(const std::string& terminal_id) { return {{"terminalId", terminal_id}}; }

  int last_id_ = 100;
  std::string turn_id_;
};

// A file in which nothing is found for a while.
inline void MakeSlowFile(const std::string& path) {
  std::ofstream(path).put('x');
  std::filesystem::resize_file(path, 1000u << 20);
}

}  // namespace acpd::session

#endif  // ACPD_TESTS_SESSION_SERVICES_HARNESS_H_
