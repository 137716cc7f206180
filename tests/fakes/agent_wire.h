#ifndef ACPD_TESTS_FAKES_AGENT_WIRE_H_
#define ACPD_TESTS_FAKES_AGENT_WIRE_H_

#include <string>
#include <string_view>

namespace acpd::fakes {

// Every line that went over the agent's stdin and stdout, byte for byte, for tests/schema: a file
// of this process's own in the folder that ACPD_TEST_WIRE names. A line of the file is `<` and what
// the agent received, `>` and what it sent, or (for a line over 1 MiB) `#` and its direction. What
// was sent stands in front of what answers it. One thread.
class AgentWire {
 public:
  // With the folder of ACPD_TEST_WIRE; without it nothing is kept.
  AgentWire();
  ~AgentWire();
  AgentWire(const AgentWire&) = delete;
  AgentWire& operator=(const AgentWire&) = delete;

  // A line without its newline.
  void Received(std::string_view line) { Write('<', line, line.size()); }
  // To be called before the bytes are written; they need not end with a line.
  void Sent(std::string_view bytes);

 private:
  void Write(char direction, std::string_view line, size_t size);

  int fd_ = -1;
  std::string unended_;  // sent, without its newline so far; not more than is kept of a line
  size_t unended_size_ = 0;
};

}  // namespace acpd::fakes

#endif  // ACPD_TESTS_FAKES_AGENT_WIRE_H_
