// Nothing is left of an agent that is stopped, however it holds on; and nobody else is hit.

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <ostream>

#include "tests/e2e/turns_support.h"

namespace acpd::e2e {
namespace {

using std::chrono::duration_cast;
using std::chrono::steady_clock;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr milliseconds kGrace{300};
// An agent is given a second for its record, and a loaded machine is slow.
constexpr milliseconds kStopBudget = milliseconds(1000) + 3 * kGrace + milliseconds(2500);

milliseconds Since(steady_clock::time_point begin) {
  return duration_cast<milliseconds>(steady_clock::now() - begin);
}

// Everything below the folder that is no folder.
std::vector<std::string> FilesBelow(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_directory()) files.push_back(entry.path());
  }
  return files;
}

size_t OpenFilesOf(pid_t pid) {
  const std::filesystem::directory_iterator files("/proc/" + std::to_string(pid) + "/fd"), end;
  return static_cast<size_t>(std::distance(files, end));
}

class LeftoversTest : public TurnsTest {
 protected:
  LeftoversTest() { SetFake("stop_grace", std::to_string(kGrace.count()) + "ms"); }

  // The fake agent behind a shell that does this first.
  void UseLauncher(const std::string& prelude) {
    const std::string path = dir() / "launcher";
    WriteFile(path, "#!/bin/sh\n" + prelude + "\nexec '" + ProgramPath("fake_agent") + "'\n");
    std::filesystem::permissions(path, std::filesystem::perms(0755));
    options().agents["fake"].command = path;
  }
  // All processes of the test but acpd.
  size_t CountProcesses() { return leftovers().Processes().size() - 1; }
  std::string RuntimeFolder() { return dir() / "run"; }
};

struct Holder {
  const char* name;
  std::string prelude;  // of a shell that becomes the agent
  json start;           // the agent's own first steps
  size_t children;      // at least so many processes beside the worker and the agent
};

void PrintTo(const Holder& holder, std::ostream* out) { *out << holder.name; }

class HolderTest : public LeftoversTest, public ::testing::WithParamInterface<Holder> {
 protected:
  void SetUp() override {
    UseLauncher(GetParam().prelude);
    json script = json::object();
    script["start"] = GetParam().start;
    UseScript(script);
    StartDaemon();
  }
  // A session that has had a turn, with all its processes there.
  std::string BeginTree() {
    const auto chat = client().Say(kProject, "", "hello");
    EXPECT_TRUE(chat.ok()) << chat.ToString();
    EXPECT_TRUE(WaitUntil([this] { return CountProcesses() >= 2 + GetParam().children; }));
    return chat.response.session_id();
  }
  void ExpectGoneSince(steady_clock::time_point begin) {
    EXPECT_TRUE(WaitUntil([this] { return CountProcesses() == 0; }, milliseconds(1000)))
        << ::testing::PrintToString(leftovers().Processes());
    EXPECT_LT(Since(begin), kStopBudget);
    EXPECT_TRUE(WaitUntil([this] { return FilesBelow(RuntimeFolder()).empty(); }))
        << ::testing::PrintToString(FilesBelow(RuntimeFolder()));
  }
};

const json kIgnores = Steps(Step("ignore", "EOF"), Step("ignore", "TERM"));

// A child of a child that is gone already: only its mark and its subreaper know whose it is.
constexpr char kDoubleFork[] = "( (trap '' TERM; sleep 1000) & )";
constexpr char kSetsid[] = "( setsid sh -c 'trap \"\" TERM HUP; sleep 1000' & )";
constexpr char kHoldsPipes[] = "( (trap '' TERM PIPE; sleep 1000) <&0 & )";
constexpr char kSpams[] = "( (trap '' TERM; while :; do echo spam >&2; done) & )";
constexpr char kTwoHundred[] =
    "i=0; while [ $i -lt 200 ]; do ( trap '' TERM; exec sleep 1000 ) >/dev/null & i=$((i+1)); done";

INSTANTIATE_TEST_SUITE_P(Agents, HolderTest,
                         ::testing::Values(Holder{"IgnoresEofAndTerm", "", kIgnores, 0},
                                           Holder{"DoubleForks", kDoubleFork, kIgnores, 1},
                                           Holder{"LeavesTheSession", kSetsid, kIgnores, 1},
                                           Holder{"HoldsThePipes", kHoldsPipes, kIgnores, 1},
                                           Holder{"SpamsStderr", kSpams, kIgnores, 1},
                                           Holder{"ForksTwoHundred", kTwoHundred, kIgnores, 200}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(HolderTest, IsGoneWithinTheStopBudgetOfAClose) {
  const std::string session = BeginTree();
  const auto begin = steady_clock::now();
  const auto closed = client().CloseSession(session);
  ASSERT_TRUE(closed.ok()) << closed.ToString();
  ExpectGoneSince(begin);
}

TEST_P(HolderTest, IsGoneWhenItsWorkerWasKilled) {
  BeginTree();
  const auto begin = steady_clock::now();
  ::kill(ParentOf(log().Pids().back()), SIGKILL);
  EXPECT_TRUE(WaitUntil([this] { return CountProcesses() == 0; }, kStopBudget))
      << ::testing::PrintToString(leftovers().Processes());
  ExpectGoneSince(begin);
}

TEST_P(HolderTest, IsGoneAfterTheLossOfWorkerAndAcpd) {
  BeginTree();
  const pid_t worker = ParentOf(log().Pids().back());
  ::kill(daemon().pid(), SIGSTOP);  // it does not see the worker's end
  ::kill(worker, SIGKILL);
  KillAndRestartDaemon();
  const auto begin = steady_clock::now();
  EXPECT_TRUE(WaitUntil([this] { return CountProcesses() == 0; }, kStopBudget))
      << ::testing::PrintToString(leftovers().Processes());
  ExpectGoneSince(begin);
}

TEST_F(LeftoversTest, TwentyStopInParallel) {
  UseScript({{"start", kIgnores}});
  StartDaemon();
  for (int i = 0; i < 20; ++i) {
    api::CreateSessionRequest request;
    request.mutable_setup()->set_project_id(kProject);
    const auto created = client().Call(&Client::Stub::CreateSession, request);
    ASSERT_TRUE(created.ok()) << created.ToString();
  }
  const std::vector<int> agents = log().Pids();
  ASSERT_THAT(agents, SizeIs(20));
  const auto begin = steady_clock::now();
  EXPECT_EQ(daemon().Stop(), (ExitStatus{0, 0}));
  // One after another they would take twenty times three graces.
  EXPECT_LT(Since(begin), kStopBudget);
  for (const pid_t agent : agents) EXPECT_FALSE(IsAlive(agent));
  EXPECT_THAT(leftovers().WaitForNone(), IsEmpty());
  EXPECT_THAT(FilesBelow(RuntimeFolder()), IsEmpty());
}

// A process of the same user with the program, the arguments and the environment of an agent, but
// for the mark.
class Lookalike {
 public:
  Lookalike(pid_t agent, const std::string& program, const std::string& mark) {
    if (::pipe(stdin_) != 0) std::abort();
    std::map<std::string, std::string> env = EnvironmentOf(agent);
    EXPECT_EQ(env.count("ACPD_WORKER_ID"), 1u);
    env.erase("ACPD_WORKER_ID");
    env["FAKE_AGENT_LOG"] = env[Leftovers::kMarkName] = "";
    if (!mark.empty()) env["ACPD_WORKER_ID"] = mark;
    Process::Options options;
    options.program = program;
    options.env = env;
    options.stdin_fd = stdin_[0];
    process_ = std::make_unique<Process>(options);
  }
  ~Lookalike() {
    process_.reset();
    ::close(stdin_[0]);
    ::close(stdin_[1]);
  }
  bool lives() const { return IsAlive(process_->pid()); }

  static std::map<std::string, std::string> EnvironmentOf(pid_t pid) {
    std::map<std::string, std::string> env;
    const std::string text = ReadFile("/proc/" + std::to_string(pid) + "/environ");
    for (size_t at = 0; at < text.size();) {
      const std::string entry = text.c_str() + at;
      const size_t name_end = entry.find('=');
      if (name_end != std::string::npos)
        env[entry.substr(0, name_end)] = entry.substr(name_end + 1);
      at += entry.size() + 1;
    }
    return env;
  }

 private:
  int stdin_[2];
  std::unique_ptr<Process> process_;
};

TEST_F(LeftoversTest, ABystanderIsNeverHit) {
  StartDaemon();
  const auto chat = client().Begin(kProject, "", Scripted(Steps(Barrier("hold"))));
  ASSERT_TRUE(chat.ok()) << chat.ToString();
  ASSERT_TRUE(barriers().WaitReached("hold"));
  const pid_t agent = log().Pids().back();
  const std::string id = Lookalike::EnvironmentOf(agent)["ACPD_WORKER_ID"];
  const std::string program = ProgramPath("fake_agent");
  Lookalike unmarked(agent, program, ""), longer(agent, program, id + "0"),
      shorter(agent, program, id.substr(0, id.size() - 1));

  ::kill(ParentOf(agent), SIGKILL);
  EXPECT_EQ(WaitForTurn(chat.response.turn_id()).result().error().reason(), "WORKER_LOST");
  const auto next =
      client().Begin(kProject, chat.response.session_id(), Scripted(Steps(Barrier("hold2"))));
  ASSERT_TRUE(next.ok()) << next.ToString();
  ::kill(daemon().pid(), SIGSTOP);
  ::kill(ParentOf(log().Pids().back()), SIGKILL);
  KillAndRestartDaemon();
  EXPECT_EQ(WaitForTurn(next.response.turn_id()).result().error().reason(), "WORKER_LOST");
  EXPECT_EQ(daemon().Stop(), (ExitStatus{0, 0}));
  EXPECT_THAT(leftovers().WaitForNone(), IsEmpty());
  EXPECT_TRUE(unmarked.lives());
  EXPECT_TRUE(longer.lives());
  EXPECT_TRUE(shorter.lives());
}

TEST_F(LeftoversTest, FiftySessionsLeaveNoDescriptorAndNoFile) {
  StartDaemon();
  const auto open_and_close = [this](int count) {
    for (int i = 0; i < count; ++i) {
      api::CreateSessionRequest request;
      request.mutable_setup()->set_project_id(kProject);
      const auto created = client().Call(&Client::Stub::CreateSession, request);
      ASSERT_TRUE(created.ok()) << created.ToString();
      const auto closed = client().CloseSession(created.response.session_id());
      ASSERT_TRUE(closed.ok()) << closed.ToString();
    }
  };
  open_and_close(3);  // what acpd opens once, for good
  ASSERT_TRUE(WaitUntil([this] { return CountProcesses() == 0; }));
  const size_t before = OpenFilesOf(daemon().pid());
  open_and_close(50);
  EXPECT_TRUE(WaitUntil([this] { return CountProcesses() == 0; }));
  EXPECT_TRUE(WaitUntil([&] { return OpenFilesOf(daemon().pid()) <= before; }))
      << OpenFilesOf(daemon().pid()) << " descriptors, " << before << " before";
  EXPECT_THAT(FilesBelow(RuntimeFolder()), IsEmpty());
  EXPECT_EQ(daemon().Stop(), (ExitStatus{0, 0}));
  EXPECT_THAT(FilesBelow(RuntimeFolder()), IsEmpty());
}

}  // namespace
}  // namespace acpd::e2e
