#ifndef ACPD_TESTS_CLI_TERMINAL_H_
#define ACPD_TESTS_CLI_TERMINAL_H_

#include <string>

namespace acpd::cli {

// A terminal (a pty) and the person before it.
class Terminal {
 public:
  static constexpr char kCtrlC[] = "\x03";
  static constexpr char kCtrlD[] = "\x04";

  Terminal();  // throws std::runtime_error
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // For Process::Options::terminal.
  const std::string& path() const { return path_; }
  void Type(const std::string& keys);

 private:
  int fd_;
  std::string path_;
};

}  // namespace acpd::cli

#endif  // ACPD_TESTS_CLI_TERMINAL_H_
