// All ops in one file, for mlir-tblgen.
include "dialect/TensorOps.td"
include "dialect/TaskOps.td"
include "dialect/KernelOps.td"
include "dialect/ScheduleOps.td"
