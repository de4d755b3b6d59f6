// What the operating system lets this process use. Private to this folder.
#ifndef AUTOPAR_RUNTIME_MACHINE_PROBE_H_
#define AUTOPAR_RUNTIME_MACHINE_PROBE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/machine/machine.h"

namespace autopar {

// Bytes of memory that the process may use: the machine's, cut by control groups. 0 if nothing can
// be found out.
uint64_t UsableMemoryBytes();

// A GPU that NVIDIA's driver knows.
struct InstalledGpu {
  std::string model;  // "NVIDIA H200"
  std::string uuid;   // "GPU-b3ba…"; empty: not told
};
// Those that a program on this host sees: all, or what CUDA_VISIBLE_DEVICES leaves, in its order.
std::vector<InstalledGpu> VisibleGpus();

// The parts that tests feed with made-up files.
// What lies below the driver's folder ("/proc/driver/nvidia/gpus"), by PCI address; none where there
// is no driver.
std::vector<InstalledGpu> InstalledGpus(const std::string& folder);
// HostMachine() where these are the visible GPUs. A model that no data sheet is known of is described
// as a GPU of "cuda:N" is.
Machine HostMachineWith(const std::vector<InstalledGpu>& gpus);
// What `list` ("1,0", "GPU-b3,GPU-c4") leaves of `gpus`: as CUDA does, up to the first entry that is
// none of them. Null: all.
std::vector<InstalledGpu> SelectGpus(const std::vector<InstalledGpu>& gpus, const char* list);
// Cores of "max 100000" or "150000 100000" (cgroup v2's cpu.max), rounded up; 0: no limit.
uint32_t CoresOfCpuMax(std::string_view text);
// Bytes of "max" or "1073741824"; 0: no limit.
uint64_t BytesOfMemoryMax(std::string_view text);
// The folder of `controller` ("cpu"; "" for version 2) in the text of /proc/self/cgroup; empty: not
// found.
std::string CgroupFolder(std::string_view self_cgroup, std::string_view controller);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_MACHINE_PROBE_H_
