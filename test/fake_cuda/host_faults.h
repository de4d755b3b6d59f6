// Host accesses to memory that the host must not touch: device memory, and pinned memory while a
// copy is pending. They end in SIGSEGV; the handler says what was touched and which operations are
// pending, and ends the process (exit status 86) or, with fault=continue, lets the access through.
#ifndef AUTOPAR_TEST_FAKE_CUDA_HOST_FAULTS_H_
#define AUTOPAR_TEST_FAKE_CUDA_HOST_FAULTS_H_

namespace fake {

constexpr int kHostFaultStatus = 86;

// Faults elsewhere go to the handler that was there before.
void InstallHostFaultHandler();

}  // namespace fake

#endif  // AUTOPAR_TEST_FAKE_CUDA_HOST_FAULTS_H_
