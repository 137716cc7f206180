#include "tests/chaos/answerer.h"

namespace acpd::chaos {
namespace {

using std::chrono::steady_clock;

constexpr size_t kMostQuestions = 200;

std::string ReasonOrOk(const e2e::Called<e2e::api::RespondResponse>& called) {
  if (called.ok()) return "OK";
  return std::to_string(called.code()) + " " + called.reason();
}

}  // namespace

Answerer::Answerer(const Stage& stage, int number)
    : Actor(stage, number), client_(stage.site->Connect()) {}

void Answerer::Asked(const e2e::Event& event) {
  if (!event.has_permission_requested()) return;
  Add({event.session_id(), event.permission_requested().question_id(), steady_clock::now()});
}

void Answerer::Add(Question question) {
  const std::lock_guard lock(mutex_);
  questions_.push_back(std::move(question));
  if (questions_.size() > kMostQuestions) questions_.pop_front();
}

std::optional<Answerer::Question> Answerer::Next() {
  const std::lock_guard lock(mutex_);
  for (auto it = questions_.begin(); it != questions_.end(); ++it) {
    if (it->due > steady_clock::now()) continue;
    const Question question = *it;
    questions_.erase(it);
    return question;
  }
  return std::nullopt;
}

void Answerer::Run() {
  while (stage_.stop->Sleep(dice_.Pause(10, 200))) {
    auto question = Next();
    if (!question) continue;
    if (dice_.Chance(75)) {
      Answer(*question);
    } else {
      // Later than question_timeout; after a restart of acpd the question may still be open.
      question->due = steady_clock::now() + dice_.Pause(1'000, 6'000);
      Add(*std::move(question));
    }
  }
}

void Answerer::Answer(const Question& question) {
  const std::string option = dice_.Chance(50) ? "yes" : "no";
  const auto first = client_->Respond(question.session_id, question.question_id, option);
  stage_.tally->Count("answers to questions: " + ReasonOrOk(first));
  if (!first.ok() || !dice_.Chance(30)) return;
  const auto again = client_->Respond(question.session_id, question.question_id, option);
  if (again.reason() == "ALREADY_ANSWERED") {
    stage_.tally->Violation("I1 answers", "the same answer again to question " +
                                              question.question_id + " of session " +
                                              question.session_id + ": ALREADY_ANSWERED");
  }
}

}  // namespace acpd::chaos
