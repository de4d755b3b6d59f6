// Compiling a .mlir program with the autopar-opt that lies beside this binary.
#ifndef AUTOPAR_TOOLS_AUTOPAR_RUN_COMPILE_H_
#define AUTOPAR_TOOLS_AUTOPAR_RUN_COMPILE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace autopar {

// A schedule file in a folder of its own; both are removed with the object.
class TemporarySchedule {
 public:
  explicit TemporarySchedule(std::string folder)
      : folder_(std::move(folder)), path_(folder_ + "/program.sched") {}
  TemporarySchedule(const TemporarySchedule&) = delete;
  TemporarySchedule& operator=(const TemporarySchedule&) = delete;
  ~TemporarySchedule();
  const std::string& path() const { return path_; }

 private:
  std::string folder_, path_;
};

// Blocks until autopar-opt has ended; what it prints goes to standard error as it comes. `machine`:
// "" for its default.
absl::StatusOr<std::unique_ptr<TemporarySchedule>> CompileProgram(const std::string& program,
                                                                  const std::string& machine);

}  // namespace autopar

#endif  // AUTOPAR_TOOLS_AUTOPAR_RUN_COMPILE_H_
