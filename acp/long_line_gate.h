#ifndef ACPD_ACP_LONG_LINE_GATE_H_
#define ACPD_ACP_LONG_LINE_GATE_H_

#include <list>
#include <memory>

#include "acp/asio.h"
#include "acp/signal.h"

namespace acpd::acp {

// Bounds what long lines cost in all: only so many connections at once put together a line of which
// more than `long_line` bytes have come. The others are not read, so their agents block; they come
// in the order in which they asked. A holder that has said nothing for `stall`, or has been at it
// for `longest`, gives way to those that wait, so that no agent can keep the others out. Loop
// thread only. Shared by the connections.
class LongLineGate {
 public:
  struct Limits {
    size_t places = 2;
    size_t long_line = 1u << 20;
    milliseconds stall{1000};
    milliseconds longest{10'000};
  };
  explicit LongLineGate(asio::any_io_executor loop) : LongLineGate(std::move(loop), Limits()) {}
  LongLineGate(asio::any_io_executor loop, Limits limits)
      : limits_(limits), changed_(std::move(loop)) {}

  // One connection at the gate. It may outlive no loop that waits in it.
  class Place {
   public:
    explicit Place(std::shared_ptr<LongLineGate> gate) : gate_(std::move(gate)) {}  // null: no gate
    ~Place() { Leave(); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // To be awaited before each read, with the bytes that are held of the line at hand: returns
    // when more of it may be read, or after Close.
    awaitable<void> WaitToRead(size_t pending);
    // Gives up the place and wakes WaitToRead, now and for ever.
    void Close();

   private:
    friend class LongLineGate;
    void Leave();

    std::shared_ptr<LongLineGate> gate_;
    bool closed_ = false;
    bool holds_ = false;
    SteadyTime since_{};  // when it got its place
    SteadyTime heard_{};  // when something came last
  };

 private:
  bool TryEnter(Place* place);
  void MakeOthersGiveWay(SteadyTime now);

  Limits limits_;
  std::list<Place*> holders_;
  std::list<Place*> waiting_;
  Signal changed_;
};

}  // namespace acpd::acp

#endif  // ACPD_ACP_LONG_LINE_GATE_H_
