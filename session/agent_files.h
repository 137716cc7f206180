#ifndef ACPD_SESSION_AGENT_FILES_H_
#define ACPD_SESSION_AGENT_FILES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "acp/asio.h"
#include "session/store.h"

namespace acpd::session {

class AgentServices;
class AgentWorker;
struct FileOutcome;

// The files that an agent asks for (https://agentclientprotocol.com/protocol/file-system): done on
// the pool by text_files.h, told of in FileAccess events. Requests of one agent take effect in the
// order in which they came: reads run beside each other, a write runs alone. Loop thread only.
// Owned by the agent's AgentServices.
class AgentFiles {
 public:
  static constexpr size_t kMaxRunning = 8;  // on the pool, of one agent
  static constexpr size_t kMaxWaiting = 256;

  AgentFiles(AgentWorker& worker, AgentServices& services) : worker_(worker), services_(services) {}

  void Serve(std::shared_ptr<const AgentRequestRow> row, bool write);
  // What has not begun does not begin; what has comes to its end unanswered.
  void Cancel(uint64_t number);
  // Takes back the requests of a turn that have not begun; which these are, in their order.
  std::vector<uint64_t> TakeBack(std::string_view turn_id);
  void End();

 private:
  struct Job {
    std::shared_ptr<const AgentRequestRow> row;
    bool write = false;
  };
  void Pump();
  awaitable<void> Run(std::shared_ptr<AgentWorker> keep, Job job);
  void Finish(const Job& job, FileOutcome outcome);
  void TellRepaired(const std::string& path);

  AgentWorker& worker_;
  AgentServices& services_;
  std::deque<Job> waiting_;
  size_t running_ = 0;
  bool writing_ = false;
  bool ended_ = false;
  std::set<std::string> repaired_;  // paths that a Notice was given for
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_AGENT_FILES_H_
