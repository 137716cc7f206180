// What a turn asks for before and in its session/prompt: its settings, and the prompt's content
// (https://agentclientprotocol.com/protocol/prompt-turn, content).
#include <utility>

#include "session/session.h"
#include "session/setup_settings.h"

namespace acpd::session {
namespace {

constexpr size_t kLongPrompt = 256u << 10;

}  // namespace

// Fails the turn, not the session, which is ready.
awaitable<absl::Status> Session::PreparePrompt(TurnPtr turn) {
  if (!IsWanted(turn)) co_return absl::OkStatus();
  if (worker_) {
    const absl::Status taken = CheckContent(turn->request.content, worker_->initialize.prompt);
    if (!taken.ok()) co_return taken;
  }
  const absl::Status applied = co_await ApplyAsked(turn);
  const bool wanted = applied.ok() && worker_ && IsWanted(turn) && !turn->row.setup_only;
  if (wanted) co_await MakePromptLine(turn);
  co_return applied;
}

// Media in base64 take their time: what is long is not made on the loop.
awaitable<void> Session::MakePromptLine(TurnPtr turn) {
  turn->prompt_id = worker_->NextId();
  std::vector<acp::ContentBlock> blocks = BlocksOf(turn);
  size_t bytes = 0;
  for (const acp::ContentBlock& block : blocks) bytes += block.text.size() + block.data.size();
  std::function<std::string()> make = [id = turn->prompt_id, session_id = row_.agent_session_id,
                                       blocks = std::move(blocks), trace = turn->request.trace] {
    return acp::PromptLine(id, session_id, blocks, trace);
  };
  if (bytes <= kLongPrompt) {
    turn->prompt_line = make();
    co_return;
  }
  turn->prompt_line = co_await OnPool<std::string>(*core_.deps.pool, std::move(make));
}

// The record of a lost conversation goes before what the caller sent, and once.
std::vector<acp::ContentBlock> Session::BlocksOf(const TurnPtr& turn) const {
  std::vector<acp::ContentBlock> blocks;
  for (const std::string& text : {row_.transcript, turn->row.prompt}) {
    if (text.empty()) continue;
    acp::ContentBlock& block = blocks.emplace_back();
    block.text = text;
  }
  blocks.insert(blocks.end(), turn->request.content.begin(), turn->request.content.end());
  return blocks;
}

}  // namespace acpd::session
