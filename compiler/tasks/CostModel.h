// The roofline cost model: what a task does (Work), and how long a device needs for it. Of other tasks it knows nothing.
// Times are nanoseconds, as double; free functions without state, safe in any thread.
#ifndef AUTOPAR_COMPILER_TASKS_COSTMODEL_H
#define AUTOPAR_COMPILER_TASKS_COSTMODEL_H

#include "dialect/Autopar.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/machine/machine.h"

#include <cstdint>
#include <string>

namespace mlir::autopar {

/// What a kernel does, independent of the device that does it.
struct Work {
  double productFlops = 0;  ///< of matmuls, f32; grown where a product is too thin to reach the peak
  double coreNs = 0;        ///< everything else, on one core of the tabled CPU, compute only
  double bytes = 0;         ///< read from and written to the device's memory
  double elements = 0;      ///< of the largest result, or of what a reduction reads
  int64_t tiles = 1;        ///< independent pieces; 0: nothing to do

  bool operator==(const Work &) const = default;
};

/// Elements of a tensor; 0 for a token. Saturates far above every tensor that fits a memory.
double elementCount(Type type);
/// Bytes of a value as it is stored (i1 takes a byte); 0 for a token.
double storedBytes(Type type);

/// Compute part (productFlops, coreNs) of one level-1 op.
Work workOfOp(Operation *op);
/// Of a whole task: its ops, and the traffic of its operands and results alone, since what is inside stays in registers.
/// `tiles` as its kernel is cut. Fails for a body that is no kernel, and says why in a fragment.
FailureOr<Work> workOfTask(TaskOp task, std::string *why = nullptr);

/// Time of `work` on one core of the tabled CPU, with its traffic. A yardstick for fusion that no machine changes.
double yardstickNs(const Work &work);
/// Bytes that every call of a function touches anew: its arguments and results. What lies in buffers may be in a cache when
/// it is read again; of these bytes only what a cache can keep from call to call is.
double bytesPerCall(func::FuncOp function);
/// Time of `work` when alone on `device`, without the launch, which the planner adds to every task alike. `callBytes`: see
/// bytesPerCall.
double costNs(const Work &work, const ::autopar::Device &device, double callBytes);
/// Share of the device that it fills, in (0, 1].
double occupancyOf(const Work &work, const ::autopar::Device &device);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_TASKS_COSTMODEL_H
