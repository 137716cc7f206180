#include "cli/turn_terminal.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "cli/commands.h"
#include "cli/event_feed.h"
#include "cli/event_words.h"

namespace acpd::cli {
namespace {

using acpd::v1::ProgressEvent;

// The time a Cancel has to reach acpd when nobody waits for what becomes of it.
constexpr std::chrono::seconds kCancelOnItsWay{1};

void SendCancel(SessionService::Stub* stub, const std::string& turn_id,
                grpc::ClientContext* context) {
  acpd::v1::CancelRequest request;
  request.set_turn_id(turn_id);
  request.set_reason("Ctrl-C at acpctl");
  acpd::v1::CancelResponse response;
  const grpc::Status status = stub->Cancel(context, request, &response);
  // CANCELLED is our own doing: the turn's end came first, or the second Ctrl-C.
  if (status.error_code() != grpc::StatusCode::CANCELLED) Report(status, *context);
}

}  // namespace

TurnTerminal::TurnTerminal(const Settings& settings, Interrupts* interrupts,
                           SessionService::Stub* stub)
    : settings_(settings),
      interrupts_(interrupts),
      stub_(stub),
      printer_(settings, EventPrinter::Scope::kTurn),
      prompt_(settings, stub) {}

TurnTerminal::~TurnTerminal() {
  if (!cancel_.valid()) return;
  if (cancel_.wait_for(kCancelOnItsWay) != std::future_status::ready) cancel_context_->TryCancel();
  cancel_.wait();
}

int TurnTerminal::Follow(const acpd::v1::ChatStreamRequest& request) {
  EventFeed feed([&] { return stub_->ChatStream(&context_, request); }, &context_);
  while (!feed.ended() && !leaving_) {
    pollfd fds[] = {
        {feed.fd(), POLLIN, 0}, {interrupts_->fd(), POLLIN, 0}, {prompt_.fd(), POLLIN, 0}};
    if (poll(fds, 3, -1) < 0) continue;
    if (fds[0].revents != 0) {
      for (const ProgressEvent& event : feed.Take()) Handle(event);
    }
    if (fds[1].revents != 0) OnInterrupt();
    if (fds[2].revents != 0 && prompt_.asking()) prompt_.OnInput();
    AskNext();
  }
  printer_.EndText();
  return leaving_ ? kCancelled : ExitCode(feed.status());
}

int TurnTerminal::ExitCode(const grpc::Status& status) const {
  if (result_) return ExitCodeFor(*result_);
  if (!status.ok()) {
    const int code = Report(status, context_);
    WatchOptions rest;
    rest.session = session_id_;
    rest.until_turn = turn_id_;
    if (!turn_id_.empty()) PrintHowToGoOn(settings_, status, rest, position_);
    return code;
  }
  std::fprintf(stderr, "acpctl: the stream ended before the turn's end was seen\n");
  return kTurnNotOk;
}

void TurnTerminal::Handle(const ProgressEvent& event) {
  position_ = std::max(position_, event.position());
  if (event.has_chat_accepted()) {
    const auto& accepted = event.chat_accepted().response();
    turn_id_ = accepted.turn_id();
    session_id_ = accepted.session_id();
    if (!settings_.json) {
      std::fprintf(stderr, "session: %s\nturn: %s\n", accepted.session_id().c_str(),
                   turn_id_.c_str());
    }
    CancelTurn();
  }
  // The session's earlier turns may still run.
  const bool foreign = !event.turn_id().empty() && event.turn_id() != turn_id_;
  if (foreign && !settings_.json) return;
  if (event.has_question_resolved()) prompt_.Withdraw(event.question_resolved());
  printer_.Print(event);
  questions_.See(event);
  if (event.has_turn_ended() && !foreign) result_ = event.turn_ended().result();
}

// Only after all that has come was seen: the next event may be the answer.
void TurnTerminal::AskNext() {
  while (!settings_.json && !cancelling_ && !prompt_.asking()) {
    const auto question = questions_.Take();
    if (!question) return;
    if (prompt_.CanAsk()) {
      prompt_.Ask(*question);
    } else {
      printer_.PrintHowToAnswer(*question);
    }
  }
}

void TurnTerminal::OnInterrupt() {
  if (!interrupts_->Take()) return;
  printer_.EndText();
  prompt_.Drop();
  leaving_ = cancelling_;
  cancelling_ = true;
  if (leaving_) return;
  std::fprintf(stderr, "* cancelling the turn; Ctrl-C again leaves without waiting\n");
  CancelTurn();
}

// As soon as Ctrl-C was pressed and the turn is known. Asynchronous: the stream tells how it came
// out.
void TurnTerminal::CancelTurn() {
  if (!cancelling_ || turn_id_.empty() || cancel_.valid()) return;
  cancel_context_ = NewContext(settings_, kShortCall);
  cancel_ = std::async(std::launch::async, SendCancel, stub_, turn_id_, cancel_context_.get());
}

}  // namespace acpd::cli
