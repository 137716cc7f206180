#ifndef ACPD_ACP_DEMO_AGENT_SESSIONS_H_
#define ACPD_ACP_DEMO_AGENT_SESSIONS_H_

#include <map>
#include <string>

#include "acp/demo_agent/conversation.h"

namespace acpd::demo {

// The sessions an agent process has open, and the files (one a session) from which another process
// takes them up. Not thread-safe. Owned by the agent.
class Sessions {
 public:
  // `folder` is made on the first save; empty: nothing is kept beyond this process.
  explicit Sessions(std::string folder) : folder_(std::move(folder)) {}

  // Opens an empty session and saves it, so that what was announced can be resumed.
  void Create(const std::string& id);
  // Opens a session that was saved by this or another process; false: there is none.
  bool Open(const std::string& id);
  // The open session; nullptr: not open here.
  History* Find(const std::string& id);
  // Writes the file anew by rename: a reader sees the old or the new one. False: it could not be
  // written.
  bool Save(const std::string& id);
  void Close(const std::string& id) { open_.erase(id); }
  // Closes it and removes its file; an unknown id is fine.
  void Delete(const std::string& id);

 private:
  std::string PathOf(const std::string& id) const;

  std::string folder_;
  std::map<std::string, History> open_;
};

}  // namespace acpd::demo

#endif  // ACPD_ACP_DEMO_AGENT_SESSIONS_H_
