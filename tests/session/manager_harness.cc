#include "tests/session/manager_harness.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "session/builtin_agents.h"
#include "session/errors.h"
#include "tests/e2e/harness/process.h"

namespace acpd::session {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{60};

std::string Number(const char* name, int value) {
  return std::string(" ") + name + "=" + std::to_string(value);
}

}  // namespace

class ManagerTest::TextCodec : public EventCodec {
 public:
  void Encode(const EventHeader& header, const SessionUpdateEvent& event,
              std::string& out) override {
    Add(header, "update " + std::string(event.text) + (event.replayed ? " replayed" : ""), out);
  }
  void Encode(const EventHeader& header, const TurnQueuedEvent& event, std::string& out) override {
    Add(header, "turn_queued" + Number("ahead", static_cast<int>(event.ahead)), out);
  }
  void Encode(const EventHeader& header, const TurnStartedEvent&, std::string& out) override {
    Add(header, "turn_started", out);
  }
  void Encode(const EventHeader& header, const TurnEndedEvent& event, std::string& out) override {
    Add(header,
        "turn_ended" + Number("outcome", static_cast<int>(event.result.outcome)) + " " +
            event.result.error.reason,
        out);
  }
  void Encode(const EventHeader& header, const PermissionRequestedEvent& event,
              std::string& out) override {
    Add(header, "permission_requested " + event.question_id, out);
  }
  void Encode(const EventHeader& header, const ElicitationRequestedEvent& event,
              std::string& out) override {
    Add(header, "elicitation_requested " + event.question_id, out);
  }
  void Encode(const EventHeader& header, const TerminalOutputEvent& event,
              std::string& out) override {
    std::string text = "terminal_output " + event.terminal_id;
    if (!event.command.empty()) text += " $" + event.command;
    if (!event.data.empty()) text += " " + std::string(event.data);
    if (event.truncated) text += " truncated";
    if (event.exited) text += " exited " + event.signal;
    if (event.exit_code) text += std::to_string(*event.exit_code);
    Add(header, text, out);
  }
  void Encode(const EventHeader& header, const FileAccessEvent& event, std::string& out) override {
    Add(header,
        std::string(event.write ? "file_written " : "file_read ") + event.path +
            Number("bytes", static_cast<int>(event.bytes)) + " " + event.error.reason,
        out);
  }
  void Encode(const EventHeader& header, const QuestionResolvedEvent& event,
              std::string& out) override {
    Add(header,
        "question_resolved" + Number("by", static_cast<int>(event.resolution.by)) + " " +
            event.resolution.option_id,
        out);
  }
  void Encode(const EventHeader& header, const SessionReadyEvent& event,
              std::string& out) override {
    Add(header,
        "session_ready" + Number("kind", static_cast<int>(event.origin.kind)) + " " +
            event.origin.reason,
        out);
  }
  void Encode(const EventHeader& header, const SessionReplacedEvent& event,
              std::string& out) override {
    Add(header, "session_replaced " + event.reason, out);
  }
  void Encode(const EventHeader& header, const SessionClosedEvent& event,
              std::string& out) override {
    Add(header, "session_closed" + Number("reason", static_cast<int>(event.reason)), out);
  }
  void Encode(const EventHeader& header, const WorkerExitedEvent& event,
              std::string& out) override {
    Add(header, event.expected ? "worker_exited" : "worker_exited unexpectedly", out);
  }
  void Encode(const EventHeader& header, const NoticeEvent& event, std::string& out) override {
    Add(header, "notice " + event.code, out);
  }
  void Encode(const EventHeader& header, const SessionCreatedEvent&, std::string& out) override {
    Add(header, "session_created", out);
  }
  void Encode(const EventHeader& header, const SessionChangedEvent&, std::string& out) override {
    Add(header, "session_changed", out);
  }
  void Encode(const EventHeader& header, const SessionDeletedEvent&, std::string& out) override {
    Add(header, "session_deleted", out);
  }
  bool DecodeUpdate(std::string_view, StoredUpdate*) const override { return false; }
  StoredTalk DecodeTalk(std::string_view) const override { return {}; }
  bool DecodeRequest(std::string_view stored_bytes, ChatRequest* request) override {
    request->prompt = std::string(stored_bytes);
    return true;
  }

 private:
  static void Add(const EventHeader&, const std::string& text, std::string& out) { out += text; }
};

// A store that can be slow or refuse.
class ManagerTest::MoodyStore : public Store {
 public:
  MoodyStore(Store* real, asio::io_context* loop, const size_t* clogged)
      : real_(real), loop_(loop), clogged_(clogged) {}
  size_t count() const { return count_; }
  size_t held() const { return held_.size(); }
  void Set(Commits commits) {
    commits_ = commits;
    if (commits != Commits::kCommit) return;
    for (auto& [group, done] : held_) real_->Commit(std::move(group), std::move(done));
    held_.clear();
  }
  void Commit(std::vector<Record> group, CommitDone done) override {
    ++count_;
    Record& first = group.front();
    if (commits_ == Commits::kHoldTakenBack && HasTurn(first, TurnState::kStarting)) {
      commits_ = Commits::kHold;
    }
    if (commits_ == Commits::kHold || commits_ == Commits::kDown) {
      held_.emplace_back(std::move(group), std::move(done));
      return;
    }
    if (Spoils(first)) {
      first.events.bytes += "more than its ends say";
      if (commits_ != Commits::kSpoilAll) commits_ = Commits::kCommit;
    }
    if (commits_ != Commits::kRefuse) return real_->Commit(std::move(group), std::move(done));
    asio::post(*loop_, [done = std::move(done)] {
      done({absl::InternalError("refused by the test"), 0});
    });
  }
  absl::StatusOr<LoadedState> Load() override { return real_->Load(); }
  const std::string& epoch() const override { return real_->epoch(); }
  const std::string& store_id() const override { return real_->store_id(); }
  uint64_t generation() const override { return real_->generation(); }
  const std::string& fingerprint_key() const override { return real_->fingerprint_key(); }
  size_t uncommitted_bytes() const override {
    size_t bytes = real_->uncommitted_bytes() + *clogged_;
    for (const auto& [group, done] : held_) {
      for (const Record& record : group) bytes += record.cost();
    }
    return bytes;
  }
  absl::Status health() const override {
    if (commits_ != Commits::kDown) return real_->health();
    return MakeError("STORE_UNAVAILABLE", "the test's disk is full");
  }
  bool Close(milliseconds timeout) override { return real_->Close(timeout); }
  void FindTurn(TurnQuery query, std::function<void(std::optional<FoundTurn>)> done) override {
    real_->FindTurn(std::move(query), std::move(done));
  }
  void ListTurns(TurnListQuery query, std::function<void(std::vector<FoundTurn>)> done) override {
    real_->ListTurns(std::move(query), std::move(done));
  }
  void FindQuestion(std::string session_id, std::string question_id,
                    std::function<void(std::optional<QuestionRow>)> done) override {
    real_->FindQuestion(std::move(session_id), std::move(question_id), std::move(done));
  }

 private:
  static bool HasTurn(const Record& record, TurnState state) {
    return std::any_of(record.turns.begin(), record.turns.end(),
                       [state](const TurnRow& turn) { return turn.state == state; });
  }
  bool Spoils(const Record& record) const {
    if (record.events.empty()) return false;
    return commits_ == Commits::kSpoil || commits_ == Commits::kSpoilAll ||
           (commits_ == Commits::kSpoilEnd && HasTurn(record, TurnState::kEnded));
  }

  Store* const real_;
  asio::io_context* const loop_;
  const size_t* const clogged_;
  size_t count_ = 0;
  Commits commits_ = Commits::kCommit;
  std::vector<std::pair<std::vector<Record>, CommitDone>> held_;
};

size_t ManagerTest::UncommittedBytes() const { return moody_->uncommitted_bytes(); }

size_t ManagerTest::commits() const { return moody_->count(); }

size_t ManagerTest::held_commits() const { return moody_->held(); }

void ManagerTest::SetCommits(Commits commits) { moody_->Set(commits); }

ManagerTest::ManagerTest()
    : leftovers_(mark_, dir_.path()),
      agent_log_(dir_ / "agent.log"),
      barriers_(dir_.MakeFolder("barriers")),
      codec_(std::make_unique<TextCodec>()) {
  config_.state_dir = dir_ / "state";
  config_.runtime_dir = dir_ / "run";
  config_.projects_root = dir_ / "projects";
  config_.default_agent = "fake";
  AgentDefinition fake;
  fake.name = "fake";
  fake.command = e2e::ProgramPath("fake_agent");
  fake.resume = DefaultResumeOrder();
  fake.env = {{"FAKE_AGENT_LOG", agent_log_.path()},
              {"FAKE_AGENT_BARRIERS", barriers_.folder()},
              {"FAKE_AGENT_STATE", dir_.MakeFolder("agent_state")},
              {e2e::Leftovers::kMarkName, mark_}};
  // For tests/schema.
  if (const char* wire = std::getenv("ACPD_TEST_WIRE")) {
    fake.env.push_back({"ACPD_TEST_WIRE", wire});
  }
  fake.stop_grace = milliseconds(1000);
  config_.agents.push_back(std::move(fake));
}

ManagerTest::~ManagerTest() {
  if (manager_) Stop();
  EXPECT_EQ(leftovers_.WaitForNone(), std::vector<std::string>());
  leftovers_.Kill();
}

void ManagerTest::UseScript(const std::string& script_json) {
  const std::string path = dir_ / "script.json";
  e2e::WriteFile(path, script_json);
  agent().env.emplace_back("FAKE_AGENT_SCRIPT", path);
}

void ManagerTest::Begin() {
  loop_ = std::make_unique<Loop>(1);
  pool_ = std::make_unique<asio::thread_pool>(2);
  StoreOptions options;
  options.state_dir = config_.state_dir;
  absl::StatusOr<OpenedStore> opened = OpenSqliteStore(
      options,
      [loop = loop_.get()](std::function<void()> work) { asio::post(*loop, std::move(work)); });
  ASSERT_TRUE(opened.ok()) << opened.status();
  store_ = std::move(opened->store);
  log_ = opened->log;
  launcher_ = acp::MakeLauncher(loop_->get_executor(), *pool_, e2e::ProgramPath("acpd-worker"));
  absl::StatusOr<LoadedState> loaded = store_->Load();
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  SessionManager::Dependencies parts;
  parts.loop = loop_->get_executor();
  parts.pool = pool_.get();
  moody_ = std::make_unique<MoodyStore>(store_.get(), loop_.get(), &clogged_);
  parts.store = moody_.get();
  parts.log = log_;
  parts.launcher = launcher_.get();
  parts.codec = codec_.get();
  parts.config = &config_;
  parts.now = [this] {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::system_clock::now().time_since_epoch() + passed_)
        .count();
  };
  manager_ = std::make_unique<SessionManager>(std::move(parts));
  bool started = false;
  asio::co_spawn(*loop_, manager_->Start(std::move(*loaded)),
                 [&started](std::exception_ptr) { started = true; });
  ASSERT_TRUE(RunUntil([&started] { return started; }));
}

bool ManagerTest::RunUntil(const std::function<bool()>& condition) {
  loop_->restart();
  const auto guard = asio::make_work_guard(*loop_);
  const auto deadline = steady_clock::now() + kPatience;
  while (!condition()) {
    if (steady_clock::now() > deadline) return false;
    handled_ += loop_->run_one_for(milliseconds(20));
  }
  return true;
}

void ManagerTest::Stop() {
  bool stopped = false;
  asio::co_spawn(*loop_, manager_->Shutdown(milliseconds(10'000), /*keep_workers=*/false),
                 [&stopped](std::exception_ptr) { stopped = true; });
  EXPECT_TRUE(RunUntil([&stopped] { return stopped; }));
  // The last lines to the workers leave with the loop's last turns.
  loop_->poll();
  EXPECT_TRUE(store_->Close(milliseconds(5000)));
  loop_->restart();  // it may have run out of work
  loop_->poll();
  Crash();
}

void ManagerTest::Crash() {
  store_->Close(milliseconds(0));
  pool_->join();
  loop_->stop();
  // What is under way goes first, then what it refers to; timers go before the loop.
  loop_->DropWork();
  manager_.reset();
  launcher_.reset();
  moody_.reset();
  store_.reset();
  pool_.reset();
  loop_.reset();
}

ChatRequest ManagerTest::Request(const std::string& prompt, const std::string& session_id,
                                 WaitFor wait_for) const {
  ChatRequest request;
  request.project_id = "project";
  request.session_id = session_id;
  request.prompt = prompt;
  request.stored_bytes = prompt;
  request.content_hash = prompt;
  request.wait_for = wait_for;
  return request;
}

absl::StatusOr<ChatReply> ManagerTest::Chat(ChatRequest request) {
  return Run(manager_->Chat(NewCall(), std::move(request), nullptr));
}

ChatReply ManagerTest::Say(const std::string& prompt, const std::string& session_id) {
  absl::StatusOr<ChatReply> reply = Chat(Request(prompt, session_id));
  EXPECT_TRUE(reply.ok()) << reply.status();
  return reply.ok() ? *std::move(reply) : ChatReply();
}

std::vector<std::string> ManagerTest::Events(const std::string& session_id) {
  const LogScope scope{LogScope::Kind::kSession, session_id};
  std::vector<std::string> events;
  uint64_t cursor = 0;
  for (;;) {
    auto later = std::make_shared<std::optional<EventLog::Page>>();
    EventLog::Page page;
    uint64_t ticket = 0;
    const auto arrived = std::make_shared<std::atomic<bool>>(false);
    const bool now = log_->Next(
        scope, cursor, 1 << 20, true, &page,
        [later, arrived](EventLog::Page found) {
          *later = std::move(found);
          *arrived = true;
        },
        &ticket);
    if (!now) {
      EXPECT_TRUE(RunUntil([&arrived] { return arrived->load(); }));
      page = std::move(**later);
    }
    if (page.rows.empty()) return events;
    for (const LogRowPtr& row : page.rows) {
      for (size_t i = 0; i < row->size(); ++i) {
        if (row->first_position + i > cursor) events.emplace_back(row->event(i));
      }
      cursor = std::max(cursor, row->last_position());
    }
  }
}

}  // namespace acpd::session
