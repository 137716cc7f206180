#ifndef ACPD_ACP_WORKER_DESCENDANTS_H_
#define ACPD_ACP_WORKER_DESCENDANTS_H_

#include <sys/types.h>

#include <map>
#include <string>

#include "acp/process_stat.h"

namespace acpd::worker {

struct Descendant {
  acp::ProcessStat stat;
  std::string terminal;  // value of kTerminalMark in its environment
};

// All that descends from the worker, zombies too, as one look at /proc found it. The look is taken
// when it is first needed: it costs some milliseconds where there are many processes, so that what
// is to be done for many terminals at once shares it. Loop thread only; lives for one step of
// Terminals.
class Descendants {
 public:
  using Map = std::map<pid_t, Descendant>;

  const Map& Get();

 private:
  bool known_ = false;
  Map map_;
};

// Whether `ancestor` is among those that `pid` descends from.
bool DescendsFrom(const Descendants::Map& descendants, pid_t pid, pid_t ancestor);

}  // namespace acpd::worker

#endif  // ACPD_ACP_WORKER_DESCENDANTS_H_
