#include "test/fake_cuda/kernels.h"

#include <cctype>
#include <utility>

#include "runtime/device/host/cpu_features.h"
#include "runtime/device/host/elf_library.h"
#include "runtime/schedule/schedule.h"
#include "runtime/schedule/schedule_file.h"

namespace fake {
namespace {

using autopar::CodeFormat;
using autopar::Kernel;
using autopar::KernelCode;
using autopar::KernelKind;
using autopar::Schedule;

// The next word from `at` on, which moves behind it: an identifier or one other character.
std::string_view NextWord(std::string_view text, size_t* at) {
  auto is_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.' ||
           c == '%';
  };
  while (*at < text.size()) {
    if (std::isspace(static_cast<unsigned char>(text[*at]))) {
      ++*at;
    } else if (text.substr(*at, 2) == "//") {
      *at = std::min(text.find('\n', *at), text.size());
    } else if (text.substr(*at, 2) == "/*") {
      size_t end = text.find("*/", *at);
      *at = end == text.npos ? text.size() : end + 2;
    } else {
      break;
    }
  }
  size_t begin = *at;
  while (*at < text.size() && is_name(text[*at])) ++*at;
  if (*at == begin && *at < text.size()) ++*at;
  return text.substr(begin, *at - begin);
}

// Operands of launches on a GPU are contiguous (docs/schedule-format.md).
std::vector<OperandShape> ShapesOf(const Kernel& kernel) {
  std::vector<OperandShape> shapes(kernel.operand_bytes.size());
  for (size_t i = 0; i < shapes.size(); ++i) {
    shapes[i].bytes = kernel.operand_bytes[i];
    shapes[i].reads = i < kernel.reads;
    shapes[i].writes = !shapes[i].reads;
    shapes[i].is_scratch = i >= size_t{kernel.reads} + kernel.writes;
  }
  return shapes;
}

}  // namespace

struct HostCode::Files {
  std::vector<std::shared_ptr<const autopar::ScheduleFile>> schedules;
  std::vector<std::unique_ptr<autopar::ElfLibrary>> libraries;
};

HostCode::HostCode() : files_(std::make_unique<Files>()) {}
HostCode::~HostCode() = default;

void HostCode::Register(KernelCodeOnHost kernel) {
  std::string name = kernel.name;
  kernels_[name] = std::make_unique<KernelCodeOnHost>(std::move(kernel));
}

const KernelCodeOnHost* HostCode::Find(const std::string& name) const {
  auto found = kernels_.find(name);
  return found == kernels_.end() ? nullptr : found->second.get();
}

bool HostCode::ReadSchedule(const std::string& path, std::string* error) {
  auto file = autopar::ReadScheduleFile(path);
  if (!file.ok()) {
    *error = std::string(file.status().message());
    return false;
  }
  files_->schedules.push_back(*file);
  const Schedule& schedule = (*file)->schedule();
  std::map<uint32_t, autopar::ElfLibrary*> loaded;
  for (uint32_t i = 0; i < schedule.kernels.size(); ++i) {
    const Kernel& kernel = schedule.kernels[i];
    const KernelCode* cpu = nullptr;
    bool is_on_gpu = false;
    for (const KernelCode& code : kernel.codes) {
      const autopar::CodeModule& module = schedule.modules[code.module];
      if (module.format == CodeFormat::kPtx) is_on_gpu = true;
      if (module.format == CodeFormat::kElf && autopar::MissingCpuFeatures(module.features).empty())
        cpu = &code;
    }
    if (!is_on_gpu) continue;
    KernelCodeOnHost host{kernel.name, ShapesOf(kernel), nullptr};
    if (cpu != nullptr) {
      autopar::ElfLibrary*& library = loaded[cpu->module];
      if (library == nullptr) {
        auto elf = autopar::ElfLibrary::Load(schedule.modules[cpu->module].image, path);
        if (!elf.ok()) return *error = std::string(elf.status().message()), false;
        library = elf->get();
        files_->libraries.push_back(std::move(*elf));
      }
      auto symbol = library->FindSymbol(cpu->symbol);
      if (!symbol.ok()) return *error = std::string(symbol.status().message()), false;
      if (kernel.kind == KernelKind::kNative) {
        auto native = reinterpret_cast<autopar::NativeKernelFn>(*symbol);
        host.run = [native, tiles = kernel.tile_count](void* const* buffers) {
          if (tiles > 0) native(buffers, 0, tiles);
        };
      } else if (kernel.kind == KernelKind::kMatmul) {
        // What follows a product on the CPU tile by tile is one kernel over the whole product on a
        // GPU.
        auto epilogue = reinterpret_cast<autopar::EpilogueFn>(*symbol);
        host.run = [epilogue, p = kernel.matmul](void* const* buffers) {
          for (int64_t b = 0; b < p.batch; ++b) epilogue(buffers, b * p.m, (b + 1) * p.m, 0, p.n);
        };
        // It rewrites the product; it may read the two factors too: tanh(a*b + a).
        if (kernel.reads < host.operands.size()) host.operands[kernel.reads].reads = true;
      }
    }
    Register(std::move(host));
  }
  return true;
}

bool ParsePtx(std::string_view text, std::vector<PtxEntry>* entries, std::string* error) {
  size_t at = 0;
  bool has_version = false;
  while (at < text.size()) {
    std::string_view word = NextWord(text, &at);
    if (word == ".version") has_version = true;
    if (word != ".entry") continue;
    PtxEntry entry;
    entry.name = std::string(NextWord(text, &at));
    word = NextWord(text, &at);
    while (word != "{" && !word.empty()) {
      if (word == ".param") {
        ++entry.parameters;
        std::string_view type = NextWord(text, &at);
        if (type != ".u64" && type != ".b64" && type != ".s64") entry.parameters_are_64_bit = false;
      } else if (word == ".maxntid") {
        entry.max_threads = std::atoi(std::string(NextWord(text, &at)).c_str());
      }
      word = NextWord(text, &at);
    }
    entries->push_back(std::move(entry));
  }
  if (has_version && !entries->empty()) return true;
  *error =
      has_version ? "the PTX text has no .entry" : "the image is not PTX text: it has no .version";
  return false;
}

}  // namespace fake
