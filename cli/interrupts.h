#ifndef ACPD_CLI_INTERRUPTS_H_
#define ACPD_CLI_INTERRUPTS_H_

namespace acpd::cli {

// Makes Ctrl-C (SIGINT) something to read instead of the end of acpctl. Has to be made before
// anything of gRPC: only threads that are made afterwards leave the signal to it. SIGINT stays
// blocked when it is gone, so that a late Ctrl-C does not change the exit code. Where SIGINT was
// ignored (a script's background job), it still is.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Readable when Ctrl-C was pressed.
  int fd() const { return fd_; }
  // False: it was not. Several that come at once are one.
  bool Take();

 private:
  int fd_;
};

}  // namespace acpd::cli

#endif  // ACPD_CLI_INTERRUPTS_H_
