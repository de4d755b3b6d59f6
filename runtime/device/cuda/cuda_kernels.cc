#include "runtime/device/cuda/cuda_kernels.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/device/cuda/cuda_status.h"

namespace autopar {

uint32_t RunnableTarget(std::string_view target, uint32_t capability) {
  constexpr std::string_view kPrefix = "sm_";
  if (target.substr(0, kPrefix.size()) != kPrefix) return 0;
  target.remove_prefix(kPrefix.size());
  uint32_t number = 0;
  const auto result = std::from_chars(target.data(), target.data() + target.size(), number);
  if (result.ec != std::errc()) return 0;
  const std::string_view suffix(result.ptr, static_cast<size_t>(target.data() + target.size() - result.ptr));
  if (suffix.empty()) return number <= capability ? number : 0;
  return number == capability ? number : 0;  // features of one architecture
}

CudaKernels::CudaKernels(const Schedule& schedule, const CudaApi& cuda)
    : schedule_(schedule), cuda_(cuda), libraries_(schedule.modules.size(), nullptr) {}

CudaKernels::~CudaKernels() {
  for (cudaLibrary_t library : libraries_) {
    if (library != nullptr) cuda_.cudaLibraryUnload(library);
  }
}

absl::StatusOr<std::unique_ptr<CudaKernel>> CudaKernels::Prepare(KernelId id, const CudaContext& context) {
  const Kernel& description = schedule_.kernels[id.index()];
  auto kernel = std::make_unique<CudaKernel>();
  kernel->description = &description;
  kernel->is_product = description.kind == KernelKind::kMatmul;
  if (description.kind == KernelKind::kSynthetic) {
    return absl::UnimplementedError(absl::StrCat(
        "kernel '", description.name, "' is synthetic, which a GPU cannot run; map ", context.name,
        " with --device=", context.name, "=virtual:0"));
  }
  // Never launched, or a product without an epilogue.
  if (description.tile_count == 0 || (kernel->is_product && description.codes.empty())) return kernel;
  AUTOPAR_ASSIGN_OR_RETURN(const KernelCode* code, ChooseCode(description, context));
  AUTOPAR_ASSIGN_OR_RETURN(cudaLibrary_t library, LoadModule(code->module, context));
  const std::string what = absl::StrCat("kernel '", description.name, "'");
  AUTOPAR_RETURN_IF_ERROR(
      context.Error(cuda_.cudaLibraryGetKernel(&kernel->function, library, code->symbol.c_str()),
                    absl::StrCat("finding ", what)));
  kernel->grid = code->grid;
  kernel->block = code->block;
  AUTOPAR_RETURN_IF_ERROR(context.MakeCurrent());
  cudaFuncAttributes attributes;
  std::memset(&attributes, 0, sizeof attributes);
  AUTOPAR_RETURN_IF_ERROR(context.Error(
      cuda_.cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel->function)),
      absl::StrCat("loading ", what)));
  if (attributes.maxThreadsPerBlock > 0 &&
      kernel->block > static_cast<uint32_t>(attributes.maxThreadsPerBlock)) {
    return absl::FailedPreconditionError(absl::StrCat(
        what, " is launched with blocks of ", kernel->block, " threads, but ", context.name,
        " runs it with at most ", attributes.maxThreadsPerBlock));
  }
  return kernel;
}

absl::StatusOr<const KernelCode*> CudaKernels::ChooseCode(const Kernel& kernel,
                                                          const CudaContext& context) const {
  const KernelCode* best = nullptr;
  uint32_t newest = 0;
  std::string others;
  for (const KernelCode& code : kernel.codes) {
    const CodeModule& module = schedule_.modules[code.module];
    if (module.format != CodeFormat::kPtx) continue;
    const uint32_t target = RunnableTarget(module.target, context.capability);
    if (target == 0) absl::StrAppend(&others, others.empty() ? "" : ", ", module.target);
    if (target > newest) {
      newest = target;
      best = &code;
    }
  }
  if (best != nullptr) return best;
  if (others.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "kernel '", kernel.name, "' has no code for a GPU; compile the program for a machine with one "
        "(--machine=cuda:1), or map ", context.name, " with --device=", context.name, "=virtual:0"));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "kernel '", kernel.name, "' has code for ", others, ", but ", context.name, " is an sm_",
      context.capability, "; compile the program for this machine"));
}

absl::StatusOr<cudaLibrary_t> CudaKernels::LoadModule(uint32_t module, const CudaContext& context) {
  cudaLibrary_t& library = libraries_[module];
  if (library != nullptr) return library;
  const CodeModule& description = schedule_.modules[module];
  if (description.image.empty() || description.image.back() != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("module ", module, " is PTX text that does not end with a zero byte"));
  }
  AUTOPAR_RETURN_IF_ERROR(context.MakeCurrent());
  std::string log(8192, '\0');
  cudaJitOption options[] = {cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  cudaLibrary_t loaded = nullptr;
  const cudaError_t code =
      cuda_.cudaLibraryLoadData(&loaded, description.image.data(), options, values, 2, nullptr, nullptr, 0);
  if (code != cudaSuccess) {
    absl::Status status = context.Error(
        code, absl::StrCat("assembling module ", module, " (PTX for ", description.target, ")"));
    log.resize(std::min(log.find('\0'), log.size()));
    std::replace(log.begin(), log.end(), '\n', ' ');
    if (log.empty()) return status;
    return absl::Status(status.code(), absl::StrCat(status.message(), "; the assembler says: ", log));
  }
  library = loaded;
  return library;
}

}  // namespace autopar
