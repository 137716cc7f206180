#include "acp/asio.h"

// Asio is compiled here, once; everywhere else only its declarations are seen.
#include <boost/asio/impl/src.hpp>
#include <utility>

namespace acpd {

void Spawn(asio::any_io_executor executor, awaitable<void> work,
           std::function<void(const std::string& what)> on_error) {
  auto done = [on_error = std::move(on_error)](std::exception_ptr error) {
    if (!error) return;
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& e) {
      on_error(e.what());
    } catch (...) {
      on_error("an exception that is no std::exception");
    }
  };
  asio::co_spawn(std::move(executor), std::move(work), std::move(done));
}

}  // namespace acpd
