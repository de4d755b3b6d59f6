// Kernels: what PTX text declares, and the CPU code that runs in its place. PTX is not interpreted:
// only the names of its entries and the number of their parameters are read. The CPU code of an
// entry comes from the schedule files named by AUTOPAR_FAKE_SCHEDULE (a list with colons), whose
// kernels carry code for GPUs and for CPUs under one name, or from a test
// (autopar_fake_register_kernel).
#ifndef AUTOPAR_TEST_FAKE_CUDA_KERNELS_H_
#define AUTOPAR_TEST_FAKE_CUDA_KERNELS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fake {

// What a kernel may touch of one parameter: `bytes` bytes from the pointer on.
struct OperandShape {
  uint64_t bytes = 0;
  bool reads = false, writes = false;
  bool is_scratch = false;  // written, undefined before
};

// A kernel as it is known by name, on every device.
struct KernelCodeOnHost {
  std::string name;
  std::vector<OperandShape> operands;
  // Runs the whole kernel on pointers that the CPU can use, one per operand.
  std::function<void(void* const* buffers)> run;
};

// One `.entry` of a PTX text.
struct PtxEntry {
  std::string name;
  int parameters = 0;
  bool parameters_are_64_bit = true;
  int max_threads = 1024;  // .maxntid
};

// The entries of a PTX text; false, with a sentence, if it is not PTX.
bool ParsePtx(std::string_view text, std::vector<PtxEntry>* entries, std::string* error);

// Host code by kernel name.
class HostCode {
 public:
  HostCode();
  ~HostCode();
  // Reads the kernels of a schedule file. False, with a sentence.
  bool ReadSchedule(const std::string& path, std::string* error);
  void Register(KernelCodeOnHost kernel);
  const KernelCodeOnHost* Find(const std::string& name) const;

 private:
  struct Files;
  std::map<std::string, std::unique_ptr<KernelCodeOnHost>> kernels_;
  std::unique_ptr<Files> files_;
};

}  // namespace fake

#endif  // AUTOPAR_TEST_FAKE_CUDA_KERNELS_H_
