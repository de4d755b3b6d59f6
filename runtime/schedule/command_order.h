// Happens-before between the commands of one function, as seen from the command under check. One
// vector clock per stream: entry t of stream s says how many commands of stream t have certainly
// finished when the next command of s starts. A record publishes its stream's clock, a wait joins
// the published one into its own. Walks forward through the issue order once; the function must
// have passed CheckFunctionStructure.
#ifndef AUTOPAR_RUNTIME_SCHEDULE_COMMAND_ORDER_H_
#define AUTOPAR_RUNTIME_SCHEDULE_COMMAND_ORDER_H_

#include <cstdint>
#include <vector>

#include "runtime/schedule/schedule.h"

namespace autopar {

class CommandOrder {
 public:
  explicit CommandOrder(const Function& function);

  // Steps to the next command; the first call steps to command 0. Time and memory: O(active
  // streams) for a record or a wait, O(1) otherwise. A published clock is kept only until its last
  // wait.
  void Advance();
  uint32_t current() const { return current_; }

  // Has `earlier` (a command before the current one in issue order) finished whenever the current
  // one starts?
  bool IsBefore(uint32_t earlier) const {
    return (*clock_)[stream_of_[earlier]] >= position_of_[earlier];
  }
  // Number of the command's stream among those that have commands.
  uint32_t StreamOf(uint32_t command) const { return stream_of_[command]; }

 private:
  using Clock = std::vector<uint32_t>;

  const Function& function_;
  std::vector<uint32_t> stream_of_;    // by command
  std::vector<uint32_t> position_of_;  // by command: 1 for the first of its stream
  std::vector<uint32_t> waits_left_;   // by event
  std::vector<Clock> published_;       // by event
  std::vector<Clock> clocks_;          // by stream
  const Clock* clock_ = nullptr;       // of the current command's stream
  uint32_t current_ = 0xffffffffu;
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_SCHEDULE_COMMAND_ORDER_H_
