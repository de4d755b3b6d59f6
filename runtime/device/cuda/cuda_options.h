// What a program may ask of its CUDA devices.
#ifndef AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_OPTIONS_H_
#define AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_OPTIONS_H_

#include <cstdint>
#include <string>

namespace autopar {

// Whether runs of commands without the host are replayed as CUDA graphs. kAuto: where a function is one
// such run.
enum class CudaGraphMode : uint8_t { kAuto, kOn, kOff };

struct CudaOptions {
  std::string cudart_path;  // empty: AUTOPAR_CUDA_LIBRARY, else where libraries are
  bool tf32 = false;    // products may round their factors to TF32
  CudaGraphMode graph = CudaGraphMode::kAuto;
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_CUDA_CUDA_OPTIONS_H_
