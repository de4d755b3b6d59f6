// GPUs, and the servers that they sit in, as data sheets describe them. Private to this folder.
#ifndef AUTOPAR_RUNTIME_MACHINE_DATA_SHEETS_H_
#define AUTOPAR_RUNTIME_MACHINE_DATA_SHEETS_H_

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"

namespace autopar {

struct DataSheet {
  std::string_view preset;  // "h100-sxm"
  std::string_view model;   // as the driver names it: "NVIDIA H100 80GB HBM3"
  const char* arch;
  uint64_t memory_bytes, memory_bytes_per_s;
  // Operations per second, dense. f16: of bf16 too, accumulated in f32.
  double f32, f64, f16, i8;
  uint64_t pcie_bytes_per_s;    // to and from the host, each direction
  uint64_t nvlink_bytes_per_s;  // each direction, over a switch that joins all GPUs; 0: no NVLink
  bool has_pcie_peers;          // without NVLink: copies between GPUs need not stop at the host
  uint32_t host_cores;
  uint64_t host_memory_bytes;
  uint64_t host_bytes_per_s;  // 0: as tabled for cores
};

// Most GPUs of one server.
inline constexpr uint32_t kMostDataSheetGpus = 8;

absl::Span<const DataSheet> DataSheets();

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_MACHINE_DATA_SHEETS_H_
