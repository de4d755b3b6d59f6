// What a report says of one function, and its two forms. Private to the report.
#ifndef AUTOPAR_COMPILER_PLANNING_REPORTFIGURES_H
#define AUTOPAR_COMPILER_PLANNING_REPORTFIGURES_H

#include <optional>
#include <string>
#include <vector>

#include "compiler/memory/MemoryPlan.h"
#include "compiler/planning/explain/Explanation.h"
#include "compiler/planning/explain/WhatIf.h"

namespace mlir::autopar {

struct DeviceFigures {
  std::string name;
  int64_t busyNs = 0;
  uint32_t streams = 0;
  std::optional<MemoryStats> memory; ///< After the stage memory.
};

struct Figures {
  std::string function;
  std::string planner, bindingBound;
  int64_t makespanNs = 0, lowerBoundNs = 0, serialNs = 0;
  uint64_t tasks = 0, transfers = 0, transferBytes = 0;
  std::optional<uint64_t> waits; ///< After the stage waits.
  uint32_t streams = 0;
  std::vector<DeviceFigures> devices;
  std::vector<::autopar::planning::Explanation> explanations; ///< Of the longest path, last step first.
  std::vector<::autopar::planning::IdleGap> gaps;
  ::autopar::planning::MachineChanges changes; ///< For the text only.

  /// False where links or pins leave no way to run everything around one device, one task at a time.
  bool hasSerialPlan() const { return serialNs > 0 || makespanNs == 0; }
  bool isOptimal() const { return makespanNs == lowerBoundNs; }
  std::optional<double> gap() const {
    if (lowerBoundNs > 0)
      return static_cast<double>(makespanNs) / static_cast<double>(lowerBoundNs) - 1;
    if (makespanNs == 0)
      return 0;
    return std::nullopt;
  }
};

/// One JSON object on one line.
void printReportAsJson(raw_ostream &os, const Figures &figures);
/// One screen.
void printReportAsText(raw_ostream &os, const Figures &figures);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_PLANNING_REPORTFIGURES_H
