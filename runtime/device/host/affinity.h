// Which of this host's cores a thread may use.
#ifndef AUTOPAR_RUNTIME_DEVICE_HOST_AFFINITY_H_
#define AUTOPAR_RUNTIME_DEVICE_HOST_AFFINITY_H_

#include <cstddef>
#include <vector>

namespace autopar {

// The cores that the process was allowed when this was first called, ascending; never empty.
// "Core k of this host" means HostCores()[k % size].
const std::vector<int>& HostCores();

// Binds the calling thread to core `index` of HostCores(), modulo their number; false if the
// kernel refuses, which costs speed only.
bool PinThread(size_t index);
// Lets the calling thread run on all of HostCores(), whatever it inherited.
void UnpinThread();

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_HOST_AFFINITY_H_
