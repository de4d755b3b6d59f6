// The contents page: every pass, in running order. The story of why they stand in this order is in Pipeline.cpp.
#ifndef AUTOPAR_PASSES_TD
#define AUTOPAR_PASSES_TD

include "mlir/Pass/PassBase.td"

// ---- import/: what does the program say in autopar's words? ---------------------------------------------------------

def InlineCallsPass : Pass<"autopar-inline-calls", "::mlir::ModuleOp"> {
  let summary = "Inline every func.call and erase private functions";
}

def UnrollLoopsPass : Pass<"autopar-unroll-loops", "::mlir::func::FuncOp"> {
  let summary = "Unroll scf.for with constant bounds";
  let options = [Option<"maxOps", "max-ops", "int64_t", "10000", "Most ops that unrolling may make in one function">];
}

def CheckProgramPass : Pass<"autopar-check-program", "::mlir::ModuleOp"> {
  let summary = "Refuse what the later stages cannot take, with one sentence an op";
}

// ---- tasks/: what is one unit of work, what does it cost where? -----------------------------------------------------

def AttachMachinePass : Pass<"autopar-attach-machine", "::mlir::ModuleOp"> {
  let summary = "Write the machine that is planned for into the module";
  let options = [Option<"machine", "machine", "std::string", "\"\"",
                        "host, virtual:N, cuda:N, h100-sxm:N, ... or a machine file; empty: the module's own, else host">,
                 Option<"ignorePins", "ignore-pins", "bool", "false", "Drop every autopar.device attribute">];
}

def FormTasksPass : Pass<"autopar-form-tasks", "::mlir::func::FuncOp"> {
  let summary = "Group tensor ops into tasks";
  let options = [Option<"fuse", "fuse", "bool", "true", "Fuse elementwise chains, reductions' producers and epilogues">];
}

def EstimateCostsPass : Pass<"autopar-estimate-costs", "::mlir::func::FuncOp"> {
  let summary = "Cut tasks into tiles and estimate their cost on each device";
  let options = [Option<"profile", "profile", "std::string", "\"\"", "Measured task times that override the model">];
}

// ---- planning/: which device, which stream, when? -------------------------------------------------------------------

def PlanSchedulePass : Pass<"autopar-plan-schedule", "::mlir::func::FuncOp"> {
  let summary = "Assign each task a device, a stream and a time";
  let options = [Option<"effort", "effort", "unsigned", "1", "0 to 3">,
                 Option<"planner", "planner", "std::string", "\"\"", "One planner by name instead of the best of several">,
                 Option<"maxStreams", "max-streams", "unsigned", "0", "Most compute streams a device; 0: the machine's">];
}

// ---- transfers/: how do the bytes get there? ------------------------------------------------------------------------

def InsertTransfersPass : Pass<"autopar-insert-transfers", "::mlir::func::FuncOp"> {
  let summary = "Make every crossing of devices an explicit transfer";
}

// ---- memory/: where does each buffer live? --------------------------------------------------------------------------

def PlanMemoryPass : Pass<"autopar-plan-memory", "::mlir::func::FuncOp"> {
  let summary = "Give every value a place in an arena, under happens-before";
}

// ---- waits/: who waits for whom, and why? ---------------------------------------------------------------------------

def InsertWaitsPass : Pass<"autopar-insert-waits", "::mlir::func::FuncOp"> {
  let summary = "Order the ops by issue and insert the fewest records and waits";
}

// ---- codegen/: what machine code is each kernel? --------------------------------------------------------------------

def OutlineKernelsPass : Pass<"autopar-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Move each distinct task body into an autopar.kernel";
}

def CompileKernelsPass : Pass<"autopar-compile-kernels", "::mlir::ModuleOp"> {
  let summary = "Generate machine code for the kernels";
  let options = [Option<"targetCpu", "target-cpu", "std::string", "\"native\"", "native, x86-64-v3, …">,
                 Option<"gpuArch", "gpu-arch", "std::string", "\"\"",
                        "sm_75, sm_90, …: code for that GPU too, whatever the machine; empty: the machine's, if it has one">];
}

// ---- schedule/: what, in which issue order? -------------------------------------------------------------------------

def LowerToSchedulePass : Pass<"autopar-lower-to-schedule", "::mlir::ModuleOp"> {
  let summary = "Turn each function into an autopar.schedule";
}

#endif  // AUTOPAR_PASSES_TD
