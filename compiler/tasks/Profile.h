// Measured task times, as `autopar-run --profile=FILE` writes them:
//   {"function": "main", "tasks": {"matmul_0": {"cpu": 812345, "gpu0": 40211}}}
// A time is in nanoseconds, by a device's name or kind. Without "function" it is of every function. Other keys are ignored.
#ifndef AUTOPAR_COMPILER_TASKS_PROFILE_H
#define AUTOPAR_COMPILER_TASKS_PROFILE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringMap.h"
#include "runtime/machine/machine.h"

#include <string>
#include <utility>

namespace mlir::autopar {

class Profile {
public:
  /// Reads the file. On failure emits one error at `loc` that names the file and the place in it.
  static FailureOr<Profile> read(StringRef path, Location loc);

  /// Whether the times are of this function.
  bool isOf(StringRef functionName) const { return function.empty() || function == functionName; }
  /// `estimated` with the measured times of the task in place of the estimated ones; null when nothing was measured on a
  /// device that the machine has. The time of a kind is that of all its devices without one of their own; a time of one
  /// device does not speak for the others of its kind.
  DictionaryAttr find(StringRef label, DictionaryAttr estimated, const ::autopar::Machine &machine) const;
  /// The labels that it has times for, sorted.
  SmallVector<StringRef> labels() const;
  /// Empty: of every function.
  StringRef functionName() const { return function; }

private:
  std::string function;
  llvm::StringMap<SmallVector<std::pair<std::string, double>>> tasks;
};

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_TASKS_PROFILE_H
