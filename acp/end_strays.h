#ifndef ACPD_ACP_END_STRAYS_H_
#define ACPD_ACP_END_STRAYS_H_

#include <functional>
#include <string>

#include "acp/asio.h"

namespace acpd::acp {

// What EndStrays works with. `is_known` says of a file name in `folder` whether it is the socket of
// a worker that is not to be touched; it is called on the loop.
struct StraySearch {
  asio::any_io_executor loop;
  asio::thread_pool& pool;
  std::string folder;
  std::function<bool(const std::string& name)> is_known;
  uint64_t generation = 0;
  SteadyTime deadline;
};

// Launcher::EndStrays says what it does. Loop thread only.
awaitable<void> EndStrays(StraySearch search);

}  // namespace acpd::acp

#endif  // ACPD_ACP_END_STRAYS_H_
