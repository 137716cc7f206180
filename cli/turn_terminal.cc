#include "cli/turn_terminal.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>

namespace acpd::cli {

using acpd::v1::ProgressEvent;

// Bounded: the reading thread waits while the terminal is behind.
struct TurnTerminal::Feed {
  static constexpr size_t kMost = 1024;

  std::mutex mutex;
  std::condition_variable room;
  std::deque<ProgressEvent> events;
  bool ended = false;
  bool abandoned = false;
  grpc::Status status;
  int wake = eventfd(0, EFD_CLOEXEC);

  ~Feed() { close(wake); }
  void Wake() const {
    const uint64_t one = 1;
    if (write(wake, &one, sizeof one) < 0) std::abort();
  }
};

TurnTerminal::TurnTerminal(const Settings& settings, SessionService::Stub* stub)
    : settings_(settings),
      stub_(stub),
      printer_(settings.json, false),
      interactive_(isatty(STDIN_FILENO) == 1) {
  // Before any thread is made, so that all of them leave SIGINT to the signalfd.
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGINT);
  pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  signals_ = signalfd(-1, &mask, SFD_CLOEXEC);
}

TurnTerminal::~TurnTerminal() {
  if (canceller_.joinable()) {
    cancel_context_->TryCancel();
    canceller_.join();
  }
  close(signals_);
}

int TurnTerminal::Follow(const acpd::v1::ChatStreamRequest& request) {
  Feed feed;
  const auto stream = stub_->ChatStream(&context_, request);
  std::thread reader([&] {
    ProgressEvent event;
    while (stream->Read(&event)) {
      std::unique_lock<std::mutex> lock(feed.mutex);
      feed.room.wait(lock, [&] { return feed.events.size() < Feed::kMost || feed.abandoned; });
      feed.events.push_back(std::move(event));
      feed.Wake();
    }
    const grpc::Status status = stream->Finish();
    std::lock_guard<std::mutex> lock(feed.mutex);
    feed.status = status;
    feed.ended = true;
    feed.Wake();
  });
  bool ended = false;
  while (!ended && interrupts_ < 2) {
    const bool wants_input = question_.has_value() && input_open_ && !settings_.json;
    pollfd fds[3] = {{feed.wake, POLLIN, 0},
                     {signals_, POLLIN, 0},
                     {wants_input ? STDIN_FILENO : -1, POLLIN, 0}};
    if (poll(fds, 3, -1) < 0) continue;
    if (fds[0].revents != 0) {
      uint64_t count = 0;
      if (read(feed.wake, &count, sizeof count) < 0) count = 0;
      std::deque<ProgressEvent> events;
      {
        std::lock_guard<std::mutex> lock(feed.mutex);
        events.swap(feed.events);
        ended = feed.ended;
      }
      feed.room.notify_all();
      for (const ProgressEvent& event : events) Handle(event);
    }
    if (fds[1].revents != 0) OnInterrupt();
    if (fds[2].revents != 0) OnInput();
  }
  if (!ended) {
    {
      std::lock_guard<std::mutex> lock(feed.mutex);
      feed.abandoned = true;
    }
    feed.room.notify_all();
    context_.TryCancel();
  }
  reader.join();
  printer_.EndText();
  if (!ended) return kCancelled;
  if (result_) return ExitCodeFor(*result_);
  return Report(feed.status, context_);
}

void TurnTerminal::Handle(const ProgressEvent& event) {
  if (event.has_chat_accepted()) {
    session_id_ = event.chat_accepted().response().session_id();
    turn_id_ = event.chat_accepted().response().turn_id();
    if (!settings_.json) std::fprintf(stderr, "session: %s\n", session_id_.c_str());
  }
  if (event.has_session_replaced()) session_id_ = event.session_replaced().new_session_id();
  printer_.Print(event);
  if (event.has_permission_requested()) Ask(event);
  if (event.has_question_resolved() && question_ &&
      question_->permission_requested().question_id() == event.question_resolved().question_id()) {
    question_.reset();
  }
  if (event.has_turn_ended() && event.turn_id() == turn_id_) result_ = event.turn_ended().result();
}

void TurnTerminal::Ask(const ProgressEvent& event) {
  question_ = event;
  if (settings_.json) return;
  const auto& request = event.permission_requested();
  if (!interactive_) {
    std::fprintf(stderr, "  answer with: acpctl respond %s %s OPTION\n", event.session_id().c_str(),
                 request.question_id().c_str());
  }
  for (int i = 0; i < request.options_size(); ++i) {
    std::fprintf(stderr, "  %d) %s (%s)\n", i + 1, request.options(i).name().c_str(),
                 request.options(i).option_id().c_str());
  }
  if (interactive_) std::fprintf(stderr, "  your choice [1-%d]: ", request.options_size());
}

void TurnTerminal::OnInput() {
  char bytes[512];
  const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
  if (got <= 0) {
    // Nobody there: the question's time-out answers.
    input_open_ = false;
    return;
  }
  input_.append(bytes, static_cast<size_t>(got));
  size_t end;
  while ((end = input_.find('\n')) != std::string::npos) {
    const std::string line = input_.substr(0, end);
    input_.erase(0, end + 1);
    Answer(line);
  }
}

void TurnTerminal::Answer(const std::string& line) {
  if (!question_) return;
  const auto& request = question_->permission_requested();
  std::string option_id;
  for (int i = 0; i < request.options_size(); ++i) {
    if (line == std::to_string(i + 1) || line == request.options(i).option_id()) {
      option_id = request.options(i).option_id();
    }
  }
  if (option_id.empty()) {
    std::fprintf(stderr, "  please type a number from 1 to %d: ", request.options_size());
    return;
  }
  acpd::v1::RespondRequest respond;
  respond.set_session_id(question_->session_id());
  respond.set_question_id(request.question_id());
  respond.set_option_id(option_id);
  acpd::v1::RespondResponse response;
  const auto context = NewContext(kShortCall);
  Report(stub_->Respond(context.get(), respond, &response), *context);
  question_.reset();
}

void TurnTerminal::OnInterrupt() {
  signalfd_siginfo info;
  if (read(signals_, &info, sizeof info) < 0) return;
  ++interrupts_;
  printer_.EndText();
  if (turn_id_.empty() || interrupts_ > 1) {
    interrupts_ = 2;
    return;
  }
  std::fprintf(stderr, "* cancelling the turn; Ctrl-C again leaves without waiting\n");
  // Asynchronous: the stream tells how it came out.
  cancel_context_ = NewContext(kShortCall);
  canceller_ = std::thread([stub = stub_, turn_id = turn_id_, context = cancel_context_.get()] {
    acpd::v1::CancelRequest cancel;
    cancel.set_turn_id(turn_id);
    cancel.set_reason("Ctrl-C at acpctl");
    acpd::v1::CancelResponse response;
    stub->Cancel(context, cancel, &response);
  });
}

}  // namespace acpd::cli
