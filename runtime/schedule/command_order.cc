#include "runtime/schedule/command_order.h"

#include <algorithm>

namespace autopar {

CommandOrder::CommandOrder(const Function& function)
    : function_(function), waits_left_(function.event_count), published_(function.event_count) {
  constexpr uint32_t kNone = 0xffffffffu;
  std::vector<uint32_t> number_of(function.streams.size(), kNone);
  std::vector<uint32_t> length_of;
  stream_of_.reserve(function.commands.size());
  position_of_.reserve(function.commands.size());
  for (const Command& command : function.commands) {
    uint32_t& number = number_of[command.stream.index()];
    if (number == kNone) {
      number = static_cast<uint32_t>(length_of.size());
      length_of.push_back(0);
    }
    stream_of_.push_back(number);
    position_of_.push_back(++length_of[number]);
    if (command.kind == CommandKind::kWait) ++waits_left_[command.event.index()];
  }
  clocks_.assign(length_of.size(), Clock(length_of.size()));
}

void CommandOrder::Advance() {
  ++current_;  // from the largest number to 0, at the first call
  const Command& command = function_.commands[current_];
  Clock& clock = clocks_[stream_of_[current_]];
  clock_ = &clock;
  // A stream runs its commands in order: all before this one have finished.
  clock[stream_of_[current_]] = position_of_[current_] - 1;
  if (command.kind == CommandKind::kRecord && waits_left_[command.event.index()] != 0) {
    published_[command.event.index()] = clock;
  } else if (command.kind == CommandKind::kWait) {
    Clock& published = published_[command.event.index()];
    std::transform(clock.begin(), clock.end(), published.begin(), clock.begin(),
                   [](uint32_t own, uint32_t other) { return std::max(own, other); });
    if (--waits_left_[command.event.index()] == 0) Clock().swap(published);
  }
}

}  // namespace autopar
