// autopar-run's command line as plain data.
#ifndef AUTOPAR_TOOLS_AUTOPAR_RUN_FLAGS_H_
#define AUTOPAR_TOOLS_AUTOPAR_RUN_FLAGS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/device/cuda/cuda_options.h"
#include "runtime/io/compare.h"

namespace autopar {

// --simulate without a machine: the schedule's own. No file can have this name.
inline constexpr char kOwnMachine[] = ".";

struct Flags {
  std::string program;   // a .sched file, or a .mlir file that is compiled first
  std::string machine;   // "": the default; for compiling and describing
  std::string function;  // "": main, or the only one
  std::vector<std::string> inputs, outputs, expected_outputs;
  Tolerance tolerance;
  int64_t output_max_element_count = 1024;
  std::map<std::string, std::string> device_map;
  CudaOptions cuda;
  bool repeat_given = false;
  int64_t repeat = 1, warmup = 0;
  std::string trace, profile;  // files to write
  bool dump = false;
  std::string simulate;  // "": no; kOwnMachine, or a machine: replay on its description
  bool describe_machine = false;
  uint64_t delay_seed = 0;
  bool poison = false;
};

struct ParsedFlags {
  Flags flags;
  bool is_done = false;  // --help, --version: `text` is the whole answer
  std::string text;
};

// The error is a sentence. In a flag's name '-' and '_' are the same.
absl::StatusOr<ParsedFlags> ParseFlags(int argc, char** argv);

}  // namespace autopar

#endif  // AUTOPAR_TOOLS_AUTOPAR_RUN_FLAGS_H_
