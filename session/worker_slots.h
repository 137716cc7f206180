#ifndef ACPD_SESSION_WORKER_SLOTS_H_
#define ACPD_SESSION_WORKER_SLOTS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace acpd::session {

// How many workers there may be, in all and of one project, and who is next when there is no slot:
// first come first served, though nobody waits behind one whose project has its share. It starts
// and ends no worker itself. Loop thread only. Owned by the manager's core; slots may outlive it.
class WorkerSlots {
 private:
  struct State;

 public:
  struct Limits {
    size_t in_all = 64;
    size_t per_project = 32;
  };

  // A slot that is held or waited for. Dropping it gives it back, or the wait up.
  class Slot {
   public:
    Slot(std::weak_ptr<State> state, std::string project, std::function<void()> on_held);
    ~Slot();
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    bool held() const { return held_; }

   private:
    friend class WorkerSlots;
    std::weak_ptr<State> state_;
    const std::string project_;
    std::function<void()> on_held_;
    bool held_ = false;
  };
  using SlotPtr = std::shared_ptr<Slot>;

  explicit WorkerSlots(Limits limits);

  // At once, over the limits if need be: for a worker that is there already.
  SlotPtr Hold(const std::string& project);
  // In its turn: held on return, or `on_held` is called once it is.
  SlotPtr Ask(const std::string& project, std::function<void()> on_held);

  // Which of the workers that may be closed have to be, so that as many as possible of those who
  // wait get a slot. `idle`: their projects, in the order in which they are to go; `closing`: the
  // projects of the workers that are being closed already. Indices into `idle`.
  std::vector<size_t> ToClose(const std::vector<std::string>& idle,
                              const std::vector<std::string>& closing) const;

  // The one who has waited longest looks after room for all.
  bool IsFirst(const SlotPtr& slot) const;
  size_t held() const;
  size_t waiting() const;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace acpd::session

#endif  // ACPD_SESSION_WORKER_SLOTS_H_
