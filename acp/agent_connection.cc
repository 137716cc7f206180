#include "acp/agent_connection.h"

#include <optional>
#include <utility>

namespace acpd::acp {
namespace {

// Lines up to this size are parsed on the loop.
constexpr size_t kLongLine = 256u << 10;
// What the link promises behind a chunk.
constexpr size_t kChunkPadding = 64;
// The worker keeps the longest line and this much more before the agent has to wait.
constexpr uint64_t kWindowBeyondLine = 1u << 20;

}  // namespace

// Outlives the connection until its reader has ended: the reader holds it, and looks at `handler`
// after each wait and each call, since any of them may have closed the connection.
struct AgentConnection::State {
  State(asio::any_io_executor loop, asio::thread_pool& pool, std::unique_ptr<WorkerLink> link,
        AgentHandler* handler, Options options)
      : loop(std::move(loop)),
        pool(pool),
        link(std::move(link)),
        handler(handler),
        options(options),
        parser(options.max_depth),
        splitter(options.max_line),
        long_line(options.long_lines) {}

  static awaitable<void> Run(std::shared_ptr<State> self);
  awaitable<void> Take(LinkEvent event);
  void TakeTerminal(LinkEvent event);
  awaitable<void> TakeStdout(StdoutChunk chunk);
  awaitable<void> TakeExit(WorkerExit exit);
  awaitable<void> TakeLine(LineSplitter::Line line);
  awaitable<Message> ParseOnPool(std::string_view line, bool padded);
  void Dispatch(const Message& message, std::string_view line);
  void ReportConsumed();
  void ReportConsumed(uint64_t consumed, const std::string& discard);
  void Lose(const std::string& why);

  asio::any_io_executor loop;
  asio::thread_pool& pool;
  std::unique_ptr<WorkerLink> link;
  AgentHandler* handler;  // null: closed, or its last call was made
  Options options;
  MessageParser parser;
  LineSplitter splitter;
  LongLineGate::Place long_line;
  uint64_t next_offset = 0;       // of the agent's stdout: where the next chunk must begin
  uint64_t line_begin = 0;        // where the line at hand begins
  uint64_t reported = 0;          // the last offset given to OnConsumed
  bool reported_discard = false;  // with it, a line that is being thrown away
};

awaitable<void> AgentConnection::State::Run(std::shared_ptr<State> self) {
  while (self->handler != nullptr) {
    self->handler->OnReading(false);
    co_await self->handler->WaitForRoom();
    if (self->handler == nullptr) break;
    co_await self->long_line.WaitToRead(self->splitter.pending_bytes());
    if (self->handler == nullptr) break;
    self->handler->OnReading(true);
    absl::StatusOr<LinkEvent> event = co_await self->link->Read();
    if (self->handler == nullptr) break;
    if (!event.ok()) {
      self->Lose(std::string(event.status().message()));
      break;
    }
    co_await self->Take(*std::move(event));
  }
}

awaitable<void> AgentConnection::State::Take(LinkEvent event) {
  if (const auto* chunk = std::get_if<StdoutChunk>(&event)) {
    co_await TakeStdout(*chunk);
  } else if (auto* exit = std::get_if<WorkerExit>(&event)) {
    co_await TakeExit(std::move(*exit));
  } else if (const auto* hello = std::get_if<Hello>(&event)) {
    handler->OnHello(*hello);
  } else if (const auto* stderr_chunk = std::get_if<StderrChunk>(&event)) {
    handler->OnStderr(stderr_chunk->bytes);
  } else if (const auto* done = std::get_if<StdinDone>(&event)) {
    handler->OnStdinDone(done->seq);
  } else {
    TakeTerminal(std::move(event));
  }
}

void AgentConnection::State::TakeTerminal(LinkEvent event) {
  if (const auto* state = std::get_if<TerminalState>(&event)) {
    handler->OnTerminalState(*state);
  } else if (const auto* output = std::get_if<TerminalOutput>(&event)) {
    handler->OnTerminalOutput(*output);
  } else if (auto* snapshot = std::get_if<TerminalSnapshot>(&event)) {
    handler->OnTerminalSnapshot(std::move(*snapshot));
  }
}

awaitable<void> AgentConnection::State::TakeStdout(StdoutChunk chunk) {
  if (chunk.offset != next_offset) {
    Lose("The worker's output goes on at byte " + std::to_string(chunk.offset) + " instead of " +
         std::to_string(next_offset) + ".");
    co_return;
  }
  next_offset += chunk.bytes.size();
  splitter.Feed(chunk.bytes, kChunkPadding);
  LineSplitter::Line line;
  while (handler != nullptr) {
    line_begin = splitter.consumed();
    if (!splitter.Next(&line)) break;
    if (line.text.size() > kLongLine) {
      co_await TakeLine(line);
    } else if (line.oversize) {
      handler->OnOversize(line.discarded);
    } else {
      Dispatch(parser.Parse(line.text, line.padded), line.text);
    }
  }
  ReportConsumed();
  // The loop's other work has its turn.
  co_await asio::post(loop, use_awaitable);
}

awaitable<void> AgentConnection::State::TakeExit(WorkerExit exit) {
  LineSplitter::Line line;
  line_begin = splitter.consumed();
  if (splitter.Finish(&line)) co_await TakeLine(line);
  ReportConsumed();
  long_line.Close();
  if (AgentHandler* last = std::exchange(handler, nullptr)) last->OnExit(exit);
}

awaitable<void> AgentConnection::State::TakeLine(LineSplitter::Line line) {
  if (line.oversize) {
    handler->OnOversize(line.discarded);
    co_return;
  }
  // The coroutine is a call of a member, and no lambda: GCC 12 frees the captures of one too early.
  const Message message = co_await asio::co_spawn(
      pool.get_executor(), ParseOnPool(line.text, line.padded), use_awaitable);
  Dispatch(message, line.text);
  if (line.text.size() > kLongLine) parser.Shrink();
}

awaitable<Message> AgentConnection::State::ParseOnPool(std::string_view line, bool padded) {
  co_return parser.Parse(line, padded);
}

void AgentConnection::State::Dispatch(const Message& message, std::string_view line) {
  if (handler == nullptr) return;
  handler->OnLine(line);
  switch (message.kind) {
    case Message::Kind::kUpdate:
      return handler->OnUpdate(message.update);
    case Message::Kind::kNotification:
      return handler->OnNotification(message);
    case Message::Kind::kRequest:
      return handler->OnRequest(message);
    case Message::Kind::kResult:
    case Message::Kind::kError:
      // What an answer brings about may have to reach the disk first: readers of the updates before
      // it do not wait for that.
      ReportConsumed(line_begin, {});
      return handler->OnAnswer(message);
    case Message::Kind::kNotJson:
      return handler->OnNoise(line);
    case Message::Kind::kInvalid:
      break;
  }
  if (!message.too_deep) return handler->OnNoise(line);
  // What is too deep is answered for like what is too long.
  handler->OnOversize({line.size(), std::string(message.id), std::string(message.method)});
}

void AgentConnection::State::ReportConsumed() {
  ReportConsumed(splitter.consumed(), splitter.discarded());
}

void AgentConnection::State::ReportConsumed(uint64_t consumed, const std::string& discard) {
  if (handler == nullptr) return;
  if (consumed == reported && discard.empty() != reported_discard) return;
  reported = consumed;
  reported_discard = !discard.empty();
  handler->OnConsumed(consumed, discard);
}

void AgentConnection::State::Lose(const std::string& why) {
  long_line.Close();
  if (AgentHandler* last = std::exchange(handler, nullptr)) last->OnLost(why);
}

AgentConnection::AgentConnection(asio::any_io_executor loop, asio::thread_pool& pool,
                                 std::unique_ptr<WorkerLink> link, AgentHandler* handler,
                                 Options options)
    : state_(std::make_shared<State>(std::move(loop), pool, std::move(link), handler, options)) {}

AgentConnection::~AgentConnection() { Close(); }

void AgentConnection::Start(uint64_t generation, uint64_t from_offset, std::string discard) {
  state_->splitter = LineSplitter(state_->options.max_line, from_offset, discard);
  state_->reported_discard = !discard.empty();
  state_->next_offset = from_offset;
  state_->reported = from_offset;
  state_->link->SendAttach({generation, from_offset, state_->options.max_line + kWindowBeyondLine});
  Spawn(state_->loop, State::Run(state_),
        [state = state_](const std::string& what) { state->Lose("Reading failed: " + what); });
}

void AgentConnection::SendLine(uint64_t seq, std::string_view line) {
  state_->link->SendStdin(seq, line);
}

void AgentConnection::Acknowledge(uint64_t offset) { state_->link->SendAck(offset); }

void AgentConnection::AcknowledgeExit() { state_->link->SendAckExit(); }

void AgentConnection::Stop(milliseconds grace) { state_->link->SendStop(grace); }

void AgentConnection::OpenTerminal(uint64_t number, uint64_t limit, TerminalSpec spec) {
  state_->link->SendTerminalOpen({number, limit, std::move(spec)});
}

void AgentConnection::WatchTerminal(uint64_t number, uint64_t from_offset) {
  state_->link->SendTerminalWatch(number, from_offset);
}

void AgentConnection::ReadTerminal(uint64_t number, uint64_t tag) {
  state_->link->SendTerminalRead(number, tag);
}

void AgentConnection::KillTerminal(uint64_t number) { state_->link->SendTerminalKill(number); }

void AgentConnection::ReleaseTerminal(uint64_t number) {
  state_->link->SendTerminalRelease(number);
}

void AgentConnection::Close() {
  state_->handler = nullptr;
  state_->long_line.Close();
  state_->link->Close();
}

}  // namespace acpd::acp
