// Measured task times, as `autopar-run --profile=FILE` writes them:
//   {"tasks": {"matmul_0": {"cpu": 812345, "gpu0": 40211}}}
// A time is in nanoseconds, by a device's name or kind. Keys other than "tasks" are ignored.
#ifndef AUTOPAR_COMPILER_TASKS_PROFILE_H
#define AUTOPAR_COMPILER_TASKS_PROFILE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringMap.h"

#include <string>
#include <utility>

namespace mlir::autopar {

class Profile {
public:
  /// Reads the file. On failure emits one error at `loc` that names the file and the place in it.
  static FailureOr<Profile> read(StringRef path, Location loc);

  /// `estimated` with the measured times of the task in place of the estimated ones; null when nothing was measured. A
  /// time of one device does not speak for the others of its kind.
  DictionaryAttr find(StringRef label, DictionaryAttr estimated) const;

private:
  llvm::StringMap<SmallVector<std::pair<std::string, double>>> tasks;
};

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_TASKS_PROFILE_H
