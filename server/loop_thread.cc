#include "server/loop_thread.h"

namespace acpd::server {
namespace {

awaitable<void> AndTell(awaitable<void> work, std::shared_ptr<std::promise<void>> done) {
  co_await std::move(work);
  done->set_value();
}

}  // namespace

void LoopThread::Run() {
  thread_ = std::thread([this] {
    io_.run();
    ended_.set_value();
  });
}

bool LoopThread::Call(std::function<void()> call, milliseconds timeout) {
  auto done = std::make_shared<std::promise<void>>();
  std::future<void> ended = done->get_future();
  asio::post(io_, [call = std::move(call), done] {
    call();
    done->set_value();
  });
  return ended.wait_for(timeout) == std::future_status::ready;
}

bool LoopThread::Await(awaitable<void> work, milliseconds timeout,
                       std::function<void(const std::string& what)> on_error) {
  auto done = std::make_shared<std::promise<void>>();
  std::future<void> ended = done->get_future();
  Spawn(io_.get_executor(), AndTell(std::move(work), done),
        [done, on_error](const std::string& what) {
          on_error(what);
          done->set_value();
        });
  return ended.wait_for(timeout) == std::future_status::ready;
}

bool LoopThread::Stop(milliseconds timeout) {
  if (!thread_.joinable()) return true;
  io_.stop();
  if (ended_.get_future().wait_for(timeout) != std::future_status::ready) return false;
  thread_.join();
  return true;
}

}  // namespace acpd::server
