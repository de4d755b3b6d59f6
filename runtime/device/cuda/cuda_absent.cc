// The CUDA device of a build without the toolkit's headers: sentences.
#include "runtime/device/cuda/cuda.h"

namespace autopar {
namespace {

absl::Status Absent() {
  return absl::FailedPreconditionError(
      "this build has no CUDA device: it was made without the headers of a CUDA toolkit (12.8 or newer)");
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaDevices>> CudaDevices::Open(const Schedule&, const CudaOptions&,
                                                               std::vector<CudaPlacement>) {
  return Absent();
}

absl::StatusOr<std::vector<FoundGpu>> FindGpus(const std::string&) { return Absent(); }

}  // namespace autopar
