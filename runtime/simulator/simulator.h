// Replays a schedule on the description of a machine: when would each command start and finish?
// Runs nothing.
//
// The model is the one in which plans are made (docs/planning.md), stated for commands:
//  - Commands are taken in issue order; a stream does one after the other.
//  - A launch takes its work plus the device's launch_ns. The work of a synthetic kernel is
//    Command::duration_ns; of any other, what was planned for the launch, without the launch_ns of
//    the machine that the schedule was made for.
//  - A copy over a link starts when its stream and all engines of the link are free, takes
//    TransferNs, and has the engines to itself; copies that share an engine go in issue order. A
//    copy of no bytes takes no time and no engine. A copy inside a device takes what was planned.
//  - An event happens when all that stands before its record on the stream has finished. A wait
//    holds its stream until then; on a compute stream wait_ns of the device longer, if the event
//    comes from a copy stream or another device.
//  - That a device is full is no rule here: the schedule says it by waits of reason capacity.
// One pass in issue order, written from this text alone: the simulator shares no code with
// compiler/planning, so that each is a test of the other.
#ifndef AUTOPAR_RUNTIME_SIMULATOR_SIMULATOR_H_
#define AUTOPAR_RUNTIME_SIMULATOR_SIMULATOR_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/machine/machine.h"
#include "runtime/schedule/schedule.h"

namespace autopar {

struct SimulatedSpan {
  int64_t start_ns = 0, finish_ns = 0;  // of a record or wait: both when its stream has got past it
};

// Times in nanoseconds from the start of the call. They stop at the largest int64_t instead of
// overflowing.
struct Simulation {
  int64_t makespan_ns = 0;              // when the last launch or copy has finished
  std::vector<SimulatedSpan> commands;  // by command
  std::vector<int64_t> device_busy_ns;  // by device of the machine: while at least one launch runs
  std::vector<int64_t> engine_busy_ns;  // by engine of the machine
};

// Replays `function` of `schedule` on `machine`: the schedule's own, or another one that has the
// same devices by name, with other overheads, links and engines. What runs on a device takes the
// same time there, however fast that device is said to be. The function must have passed
// CheckFunctionStructure, the machine CheckMachine. Errors: a device, a compute stream or a link
// that the function uses and the machine lacks. n log n in the number of commands.
absl::StatusOr<Simulation> Simulate(const Schedule& schedule, const Function& function,
                                    const Machine& machine);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_SIMULATOR_SIMULATOR_H_
