#include "runtime/device/host/host_kernels.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"
#include "runtime/device/host/cpu_features.h"

namespace autopar {

HostKernels::HostKernels(const Schedule& schedule)
    : schedule_(schedule),
      libraries_(schedule.modules.size()),
      kernels_(schedule.kernels.size()) {}

HostKernels::~HostKernels() = default;

absl::StatusOr<const HostKernel*> HostKernels::Prepare(KernelId id) {
  std::unique_ptr<HostKernel>& slot = kernels_[id.index()];
  if (slot != nullptr) return slot.get();
  const Kernel& description = schedule_.kernels[id.index()];
  auto kernel = std::make_unique<HostKernel>();
  kernel->kind = description.kind;
  kernel->description = &description;
  kernel->tiles = description.tile_count;
  switch (description.kind) {
    case KernelKind::kNative: {
      if (kernel->tiles <= 0) break;  // never called: it needs no code
      AUTOPAR_ASSIGN_OR_RETURN(void* symbol, LoadSymbol(description));
      kernel->native = reinterpret_cast<NativeKernelFn>(symbol);
      break;
    }
    case KernelKind::kMatmul: {
      EpilogueFn epilogue = nullptr;
      if (!description.codes.empty()) {
        AUTOPAR_ASSIGN_OR_RETURN(void* symbol, LoadSymbol(description));
        epilogue = reinterpret_cast<EpilogueFn>(symbol);
      }
      if (description.reads < 2 || description.writes != 1) {
        return absl::InvalidArgumentError(absl::StrCat(
            "matmul kernel '", description.name, "' has ", description.reads, " reads and ",
            description.writes, " writes; it needs at least 2 reads and 1 write"));
      }
      AUTOPAR_ASSIGN_OR_RETURN(kernel->matmul,
                               matmuls_.Prepare(description.matmul, epilogue, description.name));
      kernel->tiles = kernel->matmul.tiles;
      break;
    }
    case KernelKind::kSynthetic:
      break;
  }
  slot = std::move(kernel);
  return slot.get();
}

absl::StatusOr<void*> HostKernels::LoadSymbol(const Kernel& kernel) {
  // The most demanding code that this processor can run: it uses the most of it.
  const KernelCode* best = nullptr;
  size_t best_features = 0;
  std::vector<std::string> missing;
  for (const KernelCode& code : kernel.codes) {
    const CodeModule& module = schedule_.modules[code.module];
    if (module.format != CodeFormat::kElf) continue;
    std::vector<std::string> lacking = MissingCpuFeatures(module.features);
    if (!lacking.empty()) {
      if (missing.empty() || lacking.size() < missing.size()) missing = std::move(lacking);
    } else if (best == nullptr || module.features.size() > best_features) {
      best = &code;
      best_features = module.features.size();
    }
  }
  if (best == nullptr && missing.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("kernel '", kernel.name,
                     "' has no machine code for a CPU; compile the program for a machine whose "
                     "devices can be run here"));
  }
  if (best == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        "kernel '", kernel.name, "' needs a processor with ", absl::StrJoin(missing, ", "),
        ", which this one lacks; compile with --target-cpu=native here, or for an older level"));
  }
  std::unique_ptr<ElfLibrary>& library = libraries_[best->module];
  if (library == nullptr) {
    const CodeModule& module = schedule_.modules[best->module];
    AUTOPAR_ASSIGN_OR_RETURN(library, ElfLibrary::Load(module.image, module.target));
  }
  return library->FindSymbol(best->symbol);
}

}  // namespace autopar
