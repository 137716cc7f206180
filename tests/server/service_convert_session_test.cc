#include <gtest/gtest.h>

#include "server/convert.h"

namespace acpd::server {
namespace {

TEST(ConvertSessionTest, SessionViews) {
  session::SessionView view;
  view.session_id = "s";
  view.state = session::SessionState::kWaiting;
  view.queued.resize(2);
  view.worker = session::WorkerView{"w", 77, 1'000'000};
  view.usage.total_tokens = 9;
  view.labels = {{"a", "b"}};
  view.available_modes = {{"m", "Mode", "does"}};
  v1::ProgressEvent question;
  question.set_seq(3);
  question.mutable_permission_requested()->set_question_id("q");
  view.open_question_events = {question.SerializeAsString()};
  v1::Session full, basic;
  ToProto(view, SessionDetail::kFull, &full);
  ToProto(view, SessionDetail::kBasic, &basic);
  EXPECT_EQ(full.state(), v1::Session::STATE_WAITING);
  EXPECT_EQ(full.queued_size(), 2);
  EXPECT_EQ(full.worker().pid(), 77);
  EXPECT_EQ(full.usage().total_tokens(), 9u);
  EXPECT_EQ(full.available_modes(0).mode_id(), "m");
  EXPECT_EQ(full.open_questions(0).permission_requested().question_id(), "q");
  EXPECT_EQ(basic.queued_size() + basic.open_questions_size() + basic.available_modes_size(), 0);
  EXPECT_FALSE(basic.has_worker() || basic.has_usage());
  EXPECT_EQ(basic.labels().at("a"), "b");
}

session::SessionView SessionWithOptions() {
  session::SessionView view;
  acp::ConfigOption model;
  model.id = "model";
  model.name = "Model";
  model.description = "which";
  model.category = "model";
  model.select = "big";
  model.choices = {{"big", "Big", "slow", "new"}, {"small", "Small", "", ""}};
  acp::ConfigOption fast;
  fast.id = "fast";
  fast.is_boolean = true;
  view.config_options = {model, fast};
  view.available_commands_json = R"([{"name":"web"}])";
  view.available_modes = {{"m", "Mode", "does"}};
  return view;
}

TEST(ConvertSessionTest, SessionsHaveOptionsAndCommands) {
  v1::Session full, basic;
  ToProto(SessionWithOptions(), SessionDetail::kFull, &full);
  ToProto(SessionWithOptions(), SessionDetail::kBasic, &basic);
  ASSERT_EQ(full.config_options_size(), 2);
  const v1::ConfigOption& model = full.config_options(0);
  EXPECT_EQ(model.config_id(), "model");
  EXPECT_EQ(model.name(), "Model");
  EXPECT_EQ(model.description(), "which");
  EXPECT_EQ(model.category(), "model");
  EXPECT_EQ(model.select(), "big");
  ASSERT_EQ(model.choices_size(), 2);
  EXPECT_EQ(model.choices(0).value(), "big");
  EXPECT_EQ(model.choices(0).name(), "Big");
  EXPECT_EQ(model.choices(0).description(), "slow");
  EXPECT_EQ(model.choices(0).group(), "new");
  EXPECT_EQ(full.config_options(1).current_case(), v1::ConfigOption::kBoolean)
      << "false is a value too";
  EXPECT_EQ(full.available_commands_json(), R"([{"name":"web"}])");
  EXPECT_EQ(basic.config_options_size(), 0);
  EXPECT_EQ(basic.available_commands_json(), "");
}

TEST(ConvertSessionTest, ADetailIsAddedByItsName) {
  v1::Session out;
  AddDetail(SessionWithOptions(), "title", &out);
  AddDetail(SessionWithOptions(), "", &out);
  EXPECT_EQ(out.ByteSizeLong(), 0u);
  AddDetail(SessionWithOptions(), "config_options", &out);
  EXPECT_EQ(out.config_options_size(), 2);
  EXPECT_EQ(out.available_modes_size(), 0);
  // Every name is one of a field.
  for (const char* name : {"queued", "open_questions", "available_modes", "config_options",
                           "available_commands_json", "usage", "worker"}) {
    EXPECT_NE(v1::Session::descriptor()->FindFieldByName(name), nullptr) << name;
  }
}

// At, under and over the limits.
TEST(ConvertSessionTest, OptionsAndCommandsHave256KiB) {
  session::SessionView view;
  for (const size_t size : {kMaxJson - 1, kMaxJson, kMaxJson + 1}) {
    view.available_commands_json.assign(size, ' ');
    v1::Session out;
    ToProto(view, SessionDetail::kFull, &out);
    EXPECT_EQ(out.available_commands_json().size(), size <= kMaxJson ? size : 0u);
  }
  view.config_options.resize(3);
  for (auto& option : view.config_options) {
    option.id = "o";
    option.choices.resize(100, {"v", "n", std::string(1000, 'd'), ""});
  }
  v1::Session out;
  ToProto(view, SessionDetail::kFull, &out);
  ASSERT_EQ(out.config_options_size(), 3) << "the last with what fits of its choices";
  EXPECT_EQ(out.config_options(1).choices_size(), 100);
  EXPECT_LT(out.config_options(2).choices_size(), 70);
  EXPECT_GT(out.config_options(2).choices_size(), 50);
  size_t bytes = 0;
  for (const auto& option : out.config_options()) bytes += option.ByteSizeLong();
  EXPECT_LE(bytes, kMaxOptionBytes + (4u << 10));
}

}  // namespace
}  // namespace acpd::server
