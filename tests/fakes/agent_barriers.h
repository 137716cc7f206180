#ifndef ACPD_TESTS_FAKES_AGENT_BARRIERS_H_
#define ACPD_TESTS_FAKES_AGENT_BARRIERS_H_

#include <string>

namespace acpd::fakes {

// The agent's side of the barriers: NAME.reached says that it stands there, NAME.release lets it go
// on. The test's side is e2e::Barriers.
class AgentBarriers {
 public:
  explicit AgentBarriers(std::string folder) : folder_(std::move(folder)) {}
  void Reach(const std::string& name) const;
  bool Released(const std::string& name) const;

 private:
  std::string folder_;
};

}  // namespace acpd::fakes

#endif  // ACPD_TESTS_FAKES_AGENT_BARRIERS_H_
