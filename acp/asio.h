#ifndef ACPD_ACP_ASIO_H_
#define ACPD_ACP_ASIO_H_

// The parts of Boost.Asio that acpd uses, and the names we use for them. Everything that runs on
// the loop includes this.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <string>

namespace acpd {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;
using SteadyTime = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

// Starts `work` on `executor`. An exception that escapes it is handed to `on_error` as text instead
// of being lost (asio::detached would swallow it) or ending the process.
void Spawn(asio::any_io_executor executor, awaitable<void> work,
           std::function<void(const std::string& what)> on_error);

}  // namespace acpd

#endif  // ACPD_ACP_ASIO_H_
