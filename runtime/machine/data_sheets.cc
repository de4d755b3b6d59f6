// Peaks, not what a program reaches. Where a sheet gives a figure "with sparsity", half of it;
// where it gives a link's bandwidth in both directions together, half of it for each; f64 with the
// tensor cores that have it; f32 without TF32. What is a choice and not a vendor's figure says so.
#include "runtime/machine/data_sheets.h"

namespace autopar {
namespace {

constexpr uint64_t kGB = 1'000'000'000;
constexpr uint64_t kTB = 1'000 * kGB;
constexpr double kTera = 1e12;

constexpr DataSheet kSheets[] = {
    // NVIDIA A100 80GB SXM: "NVIDIA A100 Tensor Core GPU" data sheet: 80 GB HBM2e, 2,039 GB/s; FP32
    // 19.5, FP64 tensor 19.5, FP16 and BF16 312 TFLOPS, INT8 624 TOPS; NVLink 600 GB/s, PCIe Gen4
    // 64 GB/s. Host: NVIDIA DGX A100 data sheet: two AMD EPYC 7742, 128 cores, 2 TB; of these, AMD:
    // 204.8 GB/s a socket.
    {.preset = "a100-sxm",
     .model = "NVIDIA A100-SXM4-80GB",
     .arch = "sm_80",
     .memory_bytes = 80 * kGB,
     .memory_bytes_per_s = 2'039 * kGB,
     .f32 = 19.5 * kTera,
     .f64 = 19.5 * kTera,
     .f16 = 312 * kTera,
     .i8 = 624 * kTera,
     .pcie_bytes_per_s = 32 * kGB,
     .nvlink_bytes_per_s = 300 * kGB,
     .has_pcie_peers = false,
     .host_cores = 128,
     .host_memory_bytes = 2 * kTB,
     .host_bytes_per_s = 409'600'000'000},
    // NVIDIA H100 SXM: "NVIDIA H100 Tensor Core GPU" data sheet: 80 GB, 3.35 TB/s; FP32 67, FP64
    // tensor 67, FP16 and BF16 1,979 TFLOPS and INT8 3,958 TOPS with sparsity; NVLink 900 GB/s,
    // PCIe Gen5 128 GB/s. Host: NVIDIA DGX H100 data sheet: two Intel Xeon Platinum 8480C, 112
    // cores, 2 TB; of these, Intel: 8 channels of DDR5-4800 a socket.
    {.preset = "h100-sxm",
     .model = "NVIDIA H100 80GB HBM3",
     .arch = "sm_90",
     .memory_bytes = 80 * kGB,
     .memory_bytes_per_s = 3'350 * kGB,
     .f32 = 67 * kTera,
     .f64 = 67 * kTera,
     .f16 = 989.5 * kTera,
     .i8 = 1'979 * kTera,
     .pcie_bytes_per_s = 64 * kGB,
     .nvlink_bytes_per_s = 450 * kGB,
     .has_pcie_peers = false,
     .host_cores = 112,
     .host_memory_bytes = 2 * kTB,
     .host_bytes_per_s = 614'400'000'000},
    // NVIDIA H200 SXM: "NVIDIA H200 Tensor Core GPU" data sheet: 141 GB HBM3e, 4.8 TB/s; the rest
    // as the H100. Host: as the DGX H100 (so NVIDIA's MLPerf systems with it).
    {.preset = "h200-sxm",
     .model = "NVIDIA H200",
     .arch = "sm_90",
     .memory_bytes = 141 * kGB,
     .memory_bytes_per_s = 4'800 * kGB,
     .f32 = 67 * kTera,
     .f64 = 67 * kTera,
     .f16 = 989.5 * kTera,
     .i8 = 1'979 * kTera,
     .pcie_bytes_per_s = 64 * kGB,
     .nvlink_bytes_per_s = 450 * kGB,
     .has_pcie_peers = false,
     .host_cores = 112,
     .host_memory_bytes = 2 * kTB,
     .host_bytes_per_s = 614'400'000'000},
    // NVIDIA B200, an eighth of what NVIDIA gives for eight: DGX B200 user guide and data sheet:
    // 1,440 GB, 64 TB/s, NVLink 14.4 TB/s, PCIe Gen5; HGX B200 specifications: FP32 600, FP64 296
    // TFLOPS, FP16 and BF16 36 PFLOPS and INT8 72 POPS with sparsity (the Blackwell architecture
    // brief says 80 and 40 TFLOPS a GPU instead of 75 and 37). Host: DGX B200: two Intel Xeon
    // Platinum 8570, 112 cores, 2 TB; of these, Intel: 8 channels of DDR5-5600 a socket.
    {.preset = "b200",
     .model = "NVIDIA B200",
     .arch = "sm_100",
     .memory_bytes = 180 * kGB,
     .memory_bytes_per_s = 8'000 * kGB,
     .f32 = 75 * kTera,
     .f64 = 37 * kTera,
     .f16 = 2'250 * kTera,
     .i8 = 4'500 * kTera,
     .pcie_bytes_per_s = 64 * kGB,
     .nvlink_bytes_per_s = 900 * kGB,
     .has_pcie_peers = false,
     .host_cores = 112,
     .host_memory_bytes = 2 * kTB,
     .host_bytes_per_s = 716'800'000'000},
    // NVIDIA L40S: "NVIDIA L40S" data sheet: 48 GB GDDR6, 864 GB/s; FP32 91.6, FP16 and BF16 362.05
    // TFLOPS (733 with sparsity), INT8 733 TOPS; PCIe Gen4 x16, 64 GB/s; no NVLink. FP64 at 1/64 of
    // FP32: "NVIDIA Ada GPU architecture" white paper. Host: a choice.
    {.preset = "l40s",
     .model = "NVIDIA L40S",
     .arch = "sm_89",
     .memory_bytes = 48 * kGB,
     .memory_bytes_per_s = 864 * kGB,
     .f32 = 91.6 * kTera,
     .f64 = 91.6 * kTera / 64,
     .f16 = 362.05 * kTera,
     .i8 = 733 * kTera,
     .pcie_bytes_per_s = 32 * kGB,
     .nvlink_bytes_per_s = 0,
     .has_pcie_peers = true,
     .host_cores = 64,
     .host_memory_bytes = 512 * kGB,
     .host_bytes_per_s = 0},
    // NVIDIA GeForce RTX 4090: "NVIDIA Ada GPU architecture" white paper: 24 GB GDDR6X, 1,008 GB/s;
    // FP32 82.6, FP16 and BF16 165.2 TFLOPS (FP32 accumulation), INT8 660.6 TOPS, FP64 at 1/64 of
    // FP32; PCIe Gen4 x16, no NVLink. No copies from one to another either, as NVIDIA says on its
    // developer forum. Host: a choice.
    {.preset = "rtx4090",
     .model = "NVIDIA GeForce RTX 4090",
     .arch = "sm_89",
     .memory_bytes = 24 * kGB,
     .memory_bytes_per_s = 1'008 * kGB,
     .f32 = 82.6 * kTera,
     .f64 = 82.6 * kTera / 64,
     .f16 = 165.2 * kTera,
     .i8 = 660.6 * kTera,
     .pcie_bytes_per_s = 32 * kGB,
     .nvlink_bytes_per_s = 0,
     .has_pcie_peers = false,
     .host_cores = 16,
     .host_memory_bytes = 128 * kGB,
     .host_bytes_per_s = 0},
};

}  // namespace

absl::Span<const DataSheet> DataSheets() { return kSheets; }

}  // namespace autopar
