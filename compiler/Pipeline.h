// The whole compiler as one pass pipeline, from a tensor program to a schedule in IR.
#ifndef AUTOPAR_COMPILER_PIPELINE_H
#define AUTOPAR_COMPILER_PIPELINE_H

#include "mlir/Pass/PassManager.h"
#include <optional>
#include <string>

namespace mlir::autopar {

/// The stages in running order: one folder of compiler/ each.
enum class Stage { Import, Tasks, Planning, Transfers, Memory, Waits, Codegen, Schedule };

/// "import", "tasks", ...
StringRef stageName(Stage stage);
std::optional<Stage> parseStage(StringRef name);
/// "import, tasks, planning, ...", for messages.
std::string stageNames();

/// What the command line decides. The defaults are autopar-opt's.
struct PipelineOptions {
  std::string machine;      ///< "host", "virtual:N", "cuda:N", "h100-sxm:N", a file; empty: the module's own, else "host"
  bool ignorePins = false;  ///< drop every autopar.device
  bool fuse = true;         ///< false: one op a task
  std::string profile;      ///< measured task times (JSON file), or empty
  unsigned effort = 1;      ///< 0 to 3
  std::string planner;      ///< one planner by name, or empty: the best of several
  unsigned maxStreams = 0;  ///< compute streams a device; 0: as many as the machine has
  std::string targetCpu = "native";
  Stage stopAfter = Stage::Schedule;
};

/// Adds one pass that runs the stages from the one after the module's `autopar.stage` (absent: from the first) up to
/// `stopAfter`, and records in `autopar.stage` how far it came. So a module printed after any stage can be resumed.
void buildPipeline(OpPassManager &pm, const PipelineOptions &options);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_PIPELINE_H
