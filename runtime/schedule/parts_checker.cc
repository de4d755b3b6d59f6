#include "runtime/schedule/parts_checker.h"

#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/schedule/describe.h"

namespace autopar {
namespace {

using uint128 = unsigned __int128;

// The limits of every GPU since compute capability 3.0, in the first dimension.
constexpr uint32_t kMaxGrid = 0x7fffffff, kMaxBlock = 1024;

template <class... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status CheckMatmul(const std::string& name, const Kernel& kernel) {
  const MatmulParams& p = kernel.matmul;
  if (kernel.reads < 2 || kernel.writes != 1) {
    return Bad(name, " is a matmul with ", kernel.reads, " reads and ", kernel.writes,
               " writes; it needs its two factors and one product");
  }
  if (p.batch < 0 || p.m < 0 || p.n < 0 || p.k < 0 || p.tile_m <= 0 || p.tile_n <= 0) {
    return Bad(name, " has a negative size or an empty tile");
  }
  for (int64_t batch : {p.a_batch, p.b_batch}) {
    if (batch != p.batch && batch != 1) {
      return Bad(name, " has a factor of batch ", batch, "; it must be 1 or the product's, ",
                 p.batch);
    }
  }
  // Products of three 63-bit sizes may exceed 128 bits: the last factor is applied by division.
  const auto is_bytes_of = [](uint64_t bytes, int64_t batch, int64_t rows, int64_t columns) {
    if (batch == 0 || rows == 0 || columns == 0) return bytes == 0;
    const uint128 matrix = uint128{static_cast<uint64_t>(rows)} * static_cast<uint64_t>(columns);
    const uint64_t per_batch = bytes / 4 / static_cast<uint64_t>(batch);
    return matrix == per_batch && bytes % 4 == 0 && bytes / 4 % static_cast<uint64_t>(batch) == 0;
  };
  struct Operand {
    const char* what;
    uint64_t bytes;
    int64_t batch, rows, columns;
  };
  const Operand operands[] = {{"left factor", kernel.operand_bytes[0], p.a_batch, p.m, p.k},
                              {"right factor", kernel.operand_bytes[1], p.b_batch, p.k, p.n},
                              {"product", kernel.operand_bytes[kernel.reads], p.batch, p.m, p.n}};
  for (const Operand& operand : operands) {
    if (!is_bytes_of(operand.bytes, operand.batch, operand.rows, operand.columns)) {
      return Bad(name, " says that its ", operand.what, " has ", operand.bytes, " bytes, not ",
                 operand.batch, " x ", operand.rows, " x ", operand.columns,
                 " elements of 4 bytes");
    }
  }
  const std::optional<int64_t> tiles = MatmulTileCount(p);
  if (tiles != kernel.tile_count) {
    return Bad(name, " has ", kernel.tile_count, " tiles where its sizes make ",
               tiles ? absl::StrCat(*tiles) : std::string("too many"));
  }
  return absl::OkStatus();
}

absl::Status CheckKernel(const Schedule& schedule, const Kernel& kernel) {
  const std::string name = absl::StrCat("kernel ", Symbol(kernel.name));
  if (kernel.name.empty()) return Bad("a kernel has no name");
  if (kernel.kind > KernelKind::kSynthetic)
    return Bad(name, " has unknown kind ", static_cast<int>(kernel.kind));
  if (kernel.tile_count < 0) return Bad(name, " has ", kernel.tile_count, " tiles");
  const uint64_t operands = uint64_t{kernel.reads} + kernel.writes + kernel.scratch;
  if (kernel.operand_bytes.size() != operands) {
    return Bad(name, " has ", operands, " operands and sizes for ", kernel.operand_bytes.size());
  }
  for (const KernelCode& code : kernel.codes) {
    if (code.module >= schedule.modules.size()) {
      return Bad(name, " has code in module ", code.module, " of ", schedule.modules.size());
    }
    if (code.symbol.empty() || code.symbol.find('\0') != std::string::npos)
      return Bad(name, " has a code without a symbol");
    if (schedule.modules[code.module].format == CodeFormat::kElf) {
      if (code.grid != 0 || code.block != 0)
        return Bad(name, " has a grid for code that runs on a CPU");
    } else if (code.grid == 0 || code.grid > kMaxGrid || code.block == 0 ||
               code.block > kMaxBlock) {
      return Bad(name, " is launched with ", code.grid, " blocks of ", code.block,
                 " threads; it needs 1 to ", kMaxGrid, " of 1 to ", kMaxBlock);
    }
  }
  // One without tiles (empty tensors) is never called.
  if (kernel.kind == KernelKind::kNative && kernel.codes.empty() && kernel.tile_count != 0)
    return Bad(name, " is native and has no code");
  if (kernel.kind == KernelKind::kNative && kernel.tile_count == 0) {
    for (size_t i = kernel.reads; i < size_t{kernel.reads} + kernel.writes; ++i) {
      if (kernel.operand_bytes[i] != 0)
        return Bad(name, " has no tiles, so nothing would write its ", kernel.operand_bytes[i], " bytes");
    }
  }
  if (kernel.kind == KernelKind::kSynthetic && !kernel.codes.empty())
    return Bad(name, " is synthetic and has code");
  return kernel.kind == KernelKind::kMatmul ? CheckMatmul(name, kernel) : absl::OkStatus();
}

}  // namespace

absl::Status CheckScheduleParts(const Schedule& schedule) {
  AUTOPAR_RETURN_IF_ERROR(CheckMachine(schedule.machine));
  for (size_t i = 0; i < schedule.modules.size(); ++i) {
    const CodeModule& module = schedule.modules[i];
    if (module.format > CodeFormat::kPtx)
      return Bad("module ", i, " has unknown format ", static_cast<int>(module.format));
    if (module.image.empty()) return Bad("module ", i, " has no code");
    // A driver reads PTX up to the first zero.
    if (module.format == CodeFormat::kPtx && module.image.back() != 0)
      return Bad("module ", i, " is PTX text that does not end with a zero byte");
    for (const std::string& feature : module.features) {
      if (feature.empty() || feature.find(' ') != std::string::npos) {
        return Bad("module ", i, " asks for the processor feature ", Quoted(feature),
                   ", which is no name");
      }
    }
  }
  absl::flat_hash_set<std::string> names;
  for (const Kernel& kernel : schedule.kernels) {
    AUTOPAR_RETURN_IF_ERROR(CheckKernel(schedule, kernel));
    if (!names.insert(kernel.name).second)
      return Bad("two kernels are called ", Symbol(kernel.name));
  }
  names.clear();
  for (const Function& function : schedule.functions) {
    if (function.name.empty()) return Bad("a function has no name");
    if (!names.insert(function.name).second)
      return Bad("two functions are called ", Symbol(function.name));
  }
  return absl::OkStatus();
}

}  // namespace autopar
