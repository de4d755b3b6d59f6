#include "test/fake_cuda/fake_cuda.h"

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "test/fake_cuda/api.h"
#include "test/fake_cuda/blas.h"
#include "test/fake_cuda/graph.h"

using namespace fake;

namespace {

std::string LineOf(const Report& report) {
  return std::string(Name(report.kind)) + ": " + report.text;
}

bool Matches(const Report& report, std::string_view prefix) {
  if (prefix.empty()) return report.kind != ReportKind::kError;
  return std::string_view(LineOf(report)).substr(0, prefix.size()) == prefix;
}

}  // namespace

FAKE_EXPORT int autopar_fake_configure(const char* text) {
  Options options;
  std::string error;
  if (!ParseOptions(text, &options, &error)) {
    std::fprintf(stderr, "%s\n", error.c_str());
    return 1;
  }
  World::Reset(options);
  return 0;
}

FAKE_EXPORT void autopar_fake_register_kernel(const char* name,
                                              const autopar_fake_operand* operands, size_t count,
                                              void (*run)(void* const*)) {
  std::lock_guard<std::recursive_mutex> lock(WorldMutex());
  KernelCodeOnHost kernel;
  kernel.name = name;
  kernel.run = run;
  for (size_t i = 0; i < count; ++i) {
    OperandShape shape;
    shape.bytes = operands[i].bytes;
    shape.is_scratch = (operands[i].access & AUTOPAR_FAKE_SCRATCH) != 0;
    shape.reads = (operands[i].access & AUTOPAR_FAKE_READ) != 0;
    shape.writes = shape.is_scratch || (operands[i].access & AUTOPAR_FAKE_WRITE) != 0;
    kernel.operands.push_back(shape);
  }
  World::Get().host_code.Register(std::move(kernel));
}

FAKE_EXPORT size_t autopar_fake_count(const char* prefix) {
  std::lock_guard<std::recursive_mutex> lock(WorldMutex());
  size_t count = 0;
  for (const Report& report : World::Get().reports.all()) count += Matches(report, prefix);
  return count;
}

FAKE_EXPORT const char* autopar_fake_report(const char* prefix, size_t index) {
  std::lock_guard<std::recursive_mutex> lock(WorldMutex());
  static std::string line;
  for (const Report& report : World::Get().reports.all()) {
    if (!Matches(report, prefix) || index-- > 0) continue;
    line = LineOf(report);
    return line.c_str();
  }
  return nullptr;
}

FAKE_EXPORT uint64_t autopar_fake_stat(const char* name) {
  std::lock_guard<std::recursive_mutex> lock(WorldMutex());
  for (const auto& [known, value] : Counters(World::Get().stats)) {
    if (std::string_view(known) == name) return value;
  }
  return 0;
}

FAKE_EXPORT void autopar_fake_report_leaks() {
  std::lock_guard<std::recursive_mutex> lock(WorldMutex());
  World::Get().ReportLeaks();
}

FAKE_EXPORT int autopar_fake_sticky(int device) {
  std::lock_guard<std::recursive_mutex> lock(WorldMutex());
  return World::Get().devices[device].sticky;
}
