// A machine: devices and the links between them, as the machine file (JSON) says it. Used by the compiler to plan and
// by the runtime to emulate link speeds. Plain data; times in nanoseconds, sizes in bytes, rates per second.
#ifndef AUTOPAR_RUNTIME_MACHINE_MACHINE_H_
#define AUTOPAR_RUNTIME_MACHINE_MACHINE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/ids.h"

namespace autopar {

// cpu: this host's cores. cuda: a GPU. virtual: an emulated GPU with its own memory space, backed by some cores.
enum class DeviceKind : uint8_t { kCpu = 0, kCuda = 1, kVirtual = 2 };

std::string_view DeviceKindName(DeviceKind kind);

struct Device {
  std::string name;
  DeviceKind kind = DeviceKind::kCpu;
  uint32_t host = 0;     // machine in a cluster; one process drives one host
  uint32_t cores = 1;    // cpu, virtual: cores that work for it
  // virtual, cpu: pinned to cores [first_core, first_core + cores), counted among the cores that the process may use
  // (its affinity), modulo their number; -1: not pinned.
  int32_t first_core = -1;
  uint32_t streams = 1;  // most compute streams that a plan may use
  std::string arch;      // cuda: "sm_90"
  uint64_t memory_bytes = 0;        // 0: unlimited
  std::map<std::string, double> peak_flops;  // by element type name, of the whole device; empty: tabled by kind
  uint64_t memory_bytes_per_s = 0;  // 0: tabled by kind
  int64_t launch_ns = 0;
  int64_t wait_ns = 0;
};

struct Link {
  DeviceId from;
  DeviceId to;
  uint64_t bytes_per_s = 0;  // > 0
  int64_t latency_ns = 0;
  std::vector<uint32_t> engines;  // indices into Machine::engines, all occupied during a transfer; none: never queues
  bool emulated = false;          // virtual devices: a copy takes at least its modelled time
};

struct Machine {
  std::vector<Device> devices;
  std::vector<Link> links;            // at most one per ordered pair
  std::vector<std::string> engines;   // names, in order of first appearance

  // Invalid id if there is none.
  DeviceId FindDevice(std::string_view name) const;
  LinkId FindLink(DeviceId from, DeviceId to) const;
  // First device of kind cpu; invalid if there is none.
  DeviceId HostDevice() const;
};

// ceil(bytes * 1e9 / bytes_per_s) + latency, exact in integers. No queueing.
int64_t TransferNs(const Link& link, uint64_t bytes);

// Reads the JSON form. The error names the field: "devices[1].memory_bytes: ...".
absl::StatusOr<Machine> ParseMachine(std::string_view json);
// What ParseMachine checks beyond JSON itself, for machines that come from elsewhere (a schedule file): at least one
// device, names (letters, digits, _ . -; unique), limits of every number, link ends and engines that exist, at most one
// link per ordered pair. The error names the field in the same way.
absl::Status CheckMachine(const Machine& machine);
// Canonical JSON: parsing it again gives an equal machine, equal machines print equally.
std::string PrintMachine(const Machine& machine);
// "host", "virtual:N", "cuda:N", a GPU of data_sheets.cc with a number ("h100-sxm:8"), or the path of a JSON file.
absl::StatusOr<Machine> LoadMachine(std::string_view spec);
// 64-bit hash of the canonical JSON: the fingerprint that a schedule carries.
uint64_t MachineFingerprint(const Machine& machine);

// This host: cpu0 with the cores and the memory that the process may use (affinity, control groups), and the NVIDIA GPUs
// that its driver lists and CUDA_VISIBLE_DEVICES leaves, all with tabled rates. Reads the environment, /proc and /sys only
// (well below a millisecond) and measures nothing.
Machine HostMachine();
// Cores that this process may use: its affinity, cut by a control group's quota (rounded up). At least 1.
uint32_t UsableCores();

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_MACHINE_MACHINE_H_
