#include "test/runtime/executor/random_program.h"

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace autopar {
namespace {

// A value and where its copies lie. Every location is complete when its event has happened.
struct Located {
  Region region;
  StreamId stream;
  EventId event;  // invalid: there from the start
};

struct Value {
  uint64_t bytes = 0;
  std::map<DeviceId, Located> locations;
};

class Generator {
 public:
  Generator(uint64_t graph_seed, const RandomPlacement& placement)
      : builder_(TestMachine(placement.gpus)),
        placement_(placement),
        graph_random_(graph_seed),
        place_random_(placement.seed) {}

  ScheduleBuilder Generate(uint32_t tasks) {
    constexpr DeviceId kCpu{0};
    TensorType type{ElementType::kI8, {kRandomProgramBytes}};
    Region argument = builder_.Whole(builder_.Argument(type));
    values_.push_back({argument.row_bytes, {{kCpu, {argument, StreamId(), EventId()}}}});
    SpaceId result = builder_.Result(type);
    for (uint32_t i = 0; i <= placement_.gpus; ++i) {
      arenas_.push_back(builder_.Arena(DeviceId(i), 0));
      arena_bytes_.push_back(0);
    }
    for (uint32_t i = 0; i < tasks; ++i) AddTask(i, tasks, result);
    for (size_t i = 0; i < arenas_.size(); ++i) {
      builder_.function().spaces[arenas_[i].index()].bytes = arena_bytes_[i];
    }
    return std::move(builder_);
  }

 private:
  uint64_t Random(std::mt19937_64& random, uint64_t below) { return random() % below; }

  StreamId Stream(DeviceId device, uint32_t ordinal) {
    auto [entry, is_new] = compute_.try_emplace({device, ordinal});
    if (is_new) entry->second = builder_.Compute(device, ordinal);
    return entry->second;
  }

  Region Reserve(DeviceId device, uint64_t bytes) {
    uint64_t& end = arena_bytes_[device.index()];
    Region region = builder_.Piece(arenas_[device.index()], end, bytes);
    end += (bytes + 63) / 64 * 64;
    return region;
  }

  void WaitFor(StreamId stream, const Located& located) {
    if (located.event.valid() && located.stream != stream && !placement_.drop_waits) {
      builder_.Wait(stream, located.event);
    }
  }

  // Where `value` can be read on `device`: copies it there over the link if need be.
  Located Bring(Value& value, DeviceId device) {
    auto found = value.locations.find(device);
    if (found != value.locations.end()) return found->second;
    auto [from_device, from] = *value.locations.begin();
    auto [entry, is_new] = copies_.try_emplace({from_device, device});
    if (is_new) entry->second = builder_.CopyStream(from_device, device);
    WaitFor(entry->second, from);
    Located to{Reserve(device, value.bytes), entry->second, EventId()};
    builder_.Copy(to.stream, from.region, to.region);
    to.event = builder_.Record(to.stream);
    value.locations[device] = to;
    return to;
  }

  // The last task reads all values that nobody read.
  void AddTask(uint32_t index, uint32_t tasks, SpaceId result) {
    bool is_last = index + 1 == tasks;
    std::vector<size_t> operands;
    if (is_last) {
      for (size_t i = 0; i < values_.size(); ++i) {
        if (read_.count(i) == 0) operands.push_back(i);
      }
    } else {
      uint64_t count = 1 + Random(graph_random_, 3);
      for (uint64_t i = 0; i < count; ++i) {
        size_t newest = values_.size() - 1;
        operands.push_back(newest - Random(graph_random_, std::min<size_t>(values_.size(), 12)));
      }
    }
    uint64_t bytes = is_last ? kRandomProgramBytes : 1 + Random(graph_random_, 3000);
    DeviceId device(0);
    uint32_t ordinal = 0;
    if (placement_.seed != 0) {
      device = DeviceId(is_last ? 0 : Random(place_random_, placement_.gpus + 1));
      ordinal = static_cast<uint32_t>(Random(place_random_, placement_.streams));
    }
    StreamId stream = Stream(device, ordinal);
    std::vector<Region> reads;
    std::vector<uint64_t> read_bytes;
    for (size_t operand : operands) {
      read_[operand] = true;
      Located located = Bring(values_[operand], device);
      WaitFor(stream, located);
      reads.push_back(located.region);
      read_bytes.push_back(located.region.row_bytes);
    }
    Region output = is_last ? builder_.Whole(result) : Reserve(device, bytes);
    KernelId kernel = builder_.Synthetic("task" + std::to_string(index), read_bytes, {bytes});
    builder_.Launch(stream, kernel, reads, {output}, placement_.duration_ns);
    values_.push_back({bytes, {{device, {output, stream, builder_.Record(stream)}}}});
  }

  ScheduleBuilder builder_;
  RandomPlacement placement_;
  std::mt19937_64 graph_random_, place_random_;
  std::vector<Value> values_;
  std::map<size_t, bool> read_;
  std::vector<SpaceId> arenas_;
  std::vector<uint64_t> arena_bytes_;
  std::map<std::pair<DeviceId, uint32_t>, StreamId> compute_;
  std::map<std::pair<DeviceId, DeviceId>, StreamId> copies_;
};

}  // namespace

ScheduleBuilder RandomProgram(uint64_t graph_seed, uint32_t tasks,
                              const RandomPlacement& placement) {
  return Generator(graph_seed, placement).Generate(tasks);
}

}  // namespace autopar
