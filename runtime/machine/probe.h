// What the operating system lets this process use. Private to this folder.
#ifndef AUTOPAR_RUNTIME_MACHINE_PROBE_H_
#define AUTOPAR_RUNTIME_MACHINE_PROBE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace autopar {

// Bytes of memory that the process may use: the machine's, cut by control groups. 0 if nothing can
// be found out.
uint64_t UsableMemoryBytes();

// The parts that tests feed with made-up files.
// Cores of "max 100000" or "150000 100000" (cgroup v2's cpu.max), rounded up; 0: no limit.
uint32_t CoresOfCpuMax(std::string_view text);
// Bytes of "max" or "1073741824"; 0: no limit.
uint64_t BytesOfMemoryMax(std::string_view text);
// The folder of `controller` ("cpu"; "" for version 2) in the text of /proc/self/cgroup; empty: not
// found.
std::string CgroupFolder(std::string_view self_cgroup, std::string_view controller);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_MACHINE_PROBE_H_
