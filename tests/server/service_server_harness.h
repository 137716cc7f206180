#ifndef ACPD_TESTS_SERVER_SERVICE_SERVER_HARNESS_H_
#define ACPD_TESTS_SERVER_SERVICE_SERVER_HARNESS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acpd/v1/admin_service.grpc.pb.h"
#include "server/daemon_config.h"
#include "server/grpc_server.h"
#include "session/session_manager.h"
#include "tests/server/service_harness.h"

namespace acpd::server {

// The real server over the real manager, which has no sessions and no agents.
class RealServerTest : public ::testing::Test {
 protected:
  RealServerTest() {
    session::SessionManager::Dependencies parts;
    parts.loop = store_.loop().executor();
    parts.pool = &pool_;
    parts.store = store_.store();
    parts.log = store_.log();
    parts.codec = &store_.codec();
    parts.config = &config_;
    parts.now = [] { return session::WallTime{1'000'000}; };
    manager_ = std::make_unique<session::SessionManager>(parts);
  }
  ~RealServerTest() override {
    server_.reset();
    EXPECT_TRUE(store_.loop().Call([this] { manager_.reset(); }, kPatience));
  }
  // What a server of this test is made of.
  GrpcServer::Options Options(const std::vector<std::string>& listen) {
    GrpcServer::Options options;
    options.listen = listen;
    options.manager = manager_.get();
    options.log = store_.log();
    options.store = store_.store();
    options.config = &config_;
    options.loop = store_.loop().executor();
    options.stop = [this](std::optional<Workers> workers) {
      stops_.push_back(workers);
      return stops_.size() == 1;
    };
    return options;
  }
  absl::Status Start(const std::vector<std::string>& listen) {
    auto server = GrpcServer::Start(Options(listen));
    if (!server.ok()) return server.status();
    server_ = *std::move(server);
    channel_ = grpc::CreateChannel(server_->addresses()[0], grpc::InsecureChannelCredentials());
    stub_ = v1::SessionService::NewStub(channel_);
    admin_ = v1::AdminService::NewStub(channel_);
    return absl::OkStatus();
  }
  std::unique_ptr<grpc::ClientContext> NewContext() {
    auto context = std::make_unique<grpc::ClientContext>();
    context->set_deadline(std::chrono::system_clock::now() + kPatience);
    return context;
  }

  TestStore store_;
  asio::thread_pool pool_{1};
  DaemonConfig config_;
  std::vector<std::optional<Workers>> stops_;  // what was asked for, on the loop
  std::unique_ptr<session::SessionManager> manager_;
  std::unique_ptr<GrpcServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::SessionService::Stub> stub_;
  std::unique_ptr<v1::AdminService::Stub> admin_;
};

}  // namespace acpd::server

#endif  // ACPD_TESTS_SERVER_SERVICE_SERVER_HARNESS_H_
