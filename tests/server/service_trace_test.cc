#include <gtest/gtest.h>

#include "server/call.h"
#include "server/trace.h"
#include "tests/server/service_harness.h"

namespace acpd::server {
namespace {

constexpr char kParent[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

using Entries = std::vector<std::pair<std::string, std::string>>;

acp::TraceContext Trace(const Entries& entries) {
  std::multimap<grpc::string_ref, grpc::string_ref> metadata;
  for (const auto& [key, value] : entries) metadata.emplace(key, value);
  return TraceFrom(metadata);
}

TEST(TraceTest, IsTakenAsItCame) {
  EXPECT_TRUE(Trace({}).empty());
  const acp::TraceContext trace = {kParent, "vendor=1,other=2", "user=7; x=%20y"};
  EXPECT_EQ(Trace({{"baggage", trace.baggage},
                   {"traceparent", kParent},
                   {"tracestate", trace.tracestate},
                   {"user-agent", "x"}}),
            trace);
  EXPECT_EQ(Trace({{"traceparent", kParent}}).traceparent, kParent);
}

TEST(TraceTest, AMalformedParentIsNoneAndHasNoState) {
  const std::string parent = kParent;
  const std::string malformed[] = {
      "",
      "x",
      parent + "0",
      parent.substr(1),
      parent.substr(0, 54),
      "0G" + parent.substr(2),
      "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
      "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e473600f067aa0ba902b7-0-1",
      " " + parent,
      parent + "\n",
  };
  for (const std::string& text : malformed) {
    const acp::TraceContext trace =
        Trace({{"traceparent", text}, {"tracestate", "a=1"}, {"baggage", "b=2"}});
    EXPECT_EQ(trace, (acp::TraceContext{"", "", "b=2"})) << text;
  }
  EXPECT_EQ(Trace({{"traceparent", kParent}, {"traceparent", kParent}}).traceparent, "")
      << "one of two is nobody's";
  EXPECT_EQ(Trace({{"tracestate", "a=1"}}).tracestate, "");
}

// At, under and over the limit.
TEST(TraceTest, StateAndBaggageAreBounded) {
  for (const size_t size : {511, 512, 513}) {
    const std::string text(size, 's');
    EXPECT_EQ(Trace({{"traceparent", kParent}, {"tracestate", text}}).tracestate,
              size <= 512 ? text : "");
  }
  for (const size_t size : {8191, 8192, 8193}) {
    const std::string text(size, 'b');
    EXPECT_EQ(Trace({{"baggage", text}}).baggage, size <= 8192 ? text : "");
  }
}

TEST(TraceTest, OnlyPrintableAsciiIsTaken) {
  for (const char* text : {"a\nb", "a\x7f", "\xc3\xa4", "\t"}) {
    const acp::TraceContext trace =
        Trace({{"traceparent", kParent}, {"tracestate", text}, {"baggage", text}});
    EXPECT_EQ(trace, (acp::TraceContext{kParent, "", ""})) << text;
  }
  EXPECT_EQ(Trace({{"baggage", " ~"}}).baggage, " ~");
}

TEST(TraceTest, SeveralEntriesAreOneList) {
  EXPECT_EQ(Trace({{"traceparent", kParent}, {"tracestate", "a=1"}, {"tracestate", "b=2"}}),
            (acp::TraceContext{kParent, "a=1,b=2", ""}));
}

// A service that says what it understood.
class TraceService final : public v1::SessionService::CallbackService {
 public:
  grpc::ServerUnaryReactor* GetSession(grpc::CallbackServerContext* context,
                                       const v1::GetSessionRequest*,
                                       v1::Session* response) override {
    const acp::TraceContext trace = TraceFrom(*context);
    EXPECT_EQ(MakeCall(*context)->trace, trace);
    response->set_title(trace.traceparent + "|" + trace.tracestate + "|" + trace.baggage);
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

TEST(TraceTest, ComesWithTheCallsMetadata) {
  TraceService service;
  TestServer server(&service);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  context.AddMetadata("traceparent", kParent);
  context.AddMetadata("tracestate", "a=1");
  context.AddMetadata("baggage", "b=2");
  v1::Session session;
  ASSERT_TRUE(server.stub().GetSession(&context, v1::GetSessionRequest(), &session).ok());
  EXPECT_EQ(session.title(), std::string(kParent) + "|a=1|b=2");
}

}  // namespace
}  // namespace acpd::server
