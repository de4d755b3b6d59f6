#include "compiler/planning/Report.h"

#include <set>

#include "compiler/MachineAttr.h"
#include "compiler/planning/FunctionTasks.h"
#include "compiler/planning/PlanAttr.h"
#include "compiler/planning/ReportFigures.h"
#include "compiler/planning/model/PlanValidator.h"
#include "dialect/Autopar.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace mlir::autopar;
namespace planning = ::autopar::planning;
using ::autopar::DeviceId;
using ::autopar::Machine;

namespace {

/// How far `func` has come: what the report can say depends on it.
struct Progress {
  bool transfersInserted = false, memoryPlanned = false, waitsInserted = false;
};

Progress progressOf(func::FuncOp func) {
  Progress progress;
  auto stage = func->getParentOfType<ModuleOp>()->getAttrOfType<StringAttr>(
      AutoparDialect::getStageAttrName());
  // Passes run one by one leave no stage: then the ops tell.
  bool hasRecord = !func.getOps<RecordOp>().empty(),
       hasTransfer = !func.getOps<TransferOp>().empty();
  bool hasBuffers = false;
  for (TaskOp task : func.getOps<TaskOp>())
    hasBuffers |= task.getBuffers().has_value();
  for (SyntheticTaskOp task : func.getOps<SyntheticTaskOp>())
    hasBuffers |= task.getBuffers().has_value();
  StringRef reached = stage ? stage.getValue() : StringRef();
  progress.waitsInserted = hasRecord || reached == "waits";
  progress.memoryPlanned = hasBuffers || progress.waitsInserted || reached == "memory";
  progress.transfersInserted = hasTransfer || progress.memoryPlanned || reached == "transfers";
  return progress;
}

DeviceId deviceNamed(const Machine &machine, StringRef name) {
  return machine.FindDevice({name.data(), name.size()});
}

/// The plan as the ops of `func` say it.
FailureOr<planning::Plan> readPlan(func::FuncOp func, const Machine &machine,
                                   const FunctionTasks &tasks, const PlanAttr &attr,
                                   const Progress &progress) {
  planning::Plan plan;
  for (Operation *op : tasks.tasks) {
    auto task = dyn_cast<TaskOp>(op);
    PlacementAttr place =
        task ? task.getPlacementAttr() : cast<SyntheticTaskOp>(op).getPlacementAttr();
    DeviceId device = place ? deviceNamed(machine, place.getDevice()) : DeviceId();
    if (!device.valid())
      return op->emitOpError("has no placement on a device of the machine");
    plan.tasks.push_back({device, static_cast<uint32_t>(place.getStream()), place.getStartNs(),
                          place.getFinishNs()});
  }
  auto addTransfer = [&](planning::ValueId value, DeviceId from, DeviceId to, int64_t startNs,
                         int64_t finishNs) {
    planning::PlannedTransfer transfer{value,   from,    to, machine.FindLink(from, to),
                                       startNs, finishNs};
    if (!transfer.link.valid() || value.index() >= tasks.values.size())
      return false;
    plan.transfers.push_back(transfer);
    return true;
  };
  if (progress.transfersInserted) {
    for (Operation *op : tasks.transfers) {
      auto transfer = cast<TransferOp>(op);
      if (!addTransfer(tasks.valueIds.lookup(transfer.getResult()),
                       deviceNamed(machine, transfer.getFrom()),
                       deviceNamed(machine, transfer.getTo()), transfer.getStartNs(),
                       transfer.getFinishNs()))
        return op->emitOpError("goes over no link of the machine");
    }
  } else {
    ArrayRef<int64_t> numbers = attr.transfers;
    for (; !numbers.empty(); numbers = numbers.drop_front(PlanAttr::numbersPerTransfer)) {
      int64_t devices = machine.devices.size();
      bool known =
          numbers[1] >= 0 && numbers[1] < devices && numbers[2] >= 0 && numbers[2] < devices;
      if (!known || !addTransfer(planning::ValueId(numbers[0]), DeviceId(numbers[1]),
                                 DeviceId(numbers[2]), numbers[3], numbers[4]))
        return func.emitError("autopar.plan has a transfer between devices that no link joins");
    }
  }
  for (const planning::TaskPlacement &place : plan.tasks)
    plan.makespanNs = std::max(plan.makespanNs, place.finishNs);
  for (const planning::PlannedTransfer &transfer : plan.transfers)
    plan.makespanNs = std::max(plan.makespanNs, transfer.finishNs);
  return plan;
}

/// A module that was printed may have been edited since: figures and reasons of a plan that cannot
/// be would be wrong.
LogicalResult verifyPlan(func::FuncOp func, const Machine &machine,
                         const planning::TaskGraph &graph, const planning::Plan &plan,
                         const PlanAttr &attr) {
  std::string problem;
  if (absl::Status valid = planning::validatePlan(graph, machine, plan, attr.maxStreams);
      !valid.ok())
    problem = std::string(valid.message());
  else if (attr.lowerBoundNs < 0 || attr.lowerBoundNs > plan.makespanNs)
    problem = "its lower bound is " + std::to_string(attr.lowerBoundNs) +
              " ns, but its last task or copy ends at " + std::to_string(plan.makespanNs) + " ns";
  else if (attr.serialNs < 0)
    problem = "its time on one device is negative";
  else
    return success();
  auto error = func.emitError() << "the plan of '" << func.getSymName()
                                << "' does not hold: " << problem;
  error.attachNote() << "placements or autopar.plan were edited after planning; plan the program "
                        "again to report on it";
  return failure();
}

/// Time in which at least one task of `device` runs, by device.
std::vector<int64_t> busyTimes(const planning::Plan &plan, size_t devices) {
  std::vector<const planning::TaskPlacement *> order;
  for (const planning::TaskPlacement &place : plan.tasks)
    order.push_back(&place);
  llvm::sort(order, [](const auto *a, const auto *b) { return a->startNs < b->startNs; });
  std::vector<int64_t> busy(devices, 0), until(devices, 0);
  for (const planning::TaskPlacement *place : order) {
    size_t device = place->device.index();
    busy[device] += std::max<int64_t>(0, place->finishNs - std::max(place->startNs, until[device]));
    until[device] = std::max(until[device], place->finishNs);
  }
  return busy;
}

/// `withChanges`: plans again on changed machines to find what would help.
FailureOr<Figures> collect(func::FuncOp func, const Machine &machine, bool withChanges) {
  std::optional<PlanAttr> attr = getPlan(func);
  if (!attr) {
    auto error = func.emitError() << "'" << func.getSymName() << "' has no plan to report on";
    error.attachNote() << "run --autopar-plan-schedule first";
    return failure();
  }
  FailureOr<FunctionTasks> tasks = readFunctionTasks(func, machine);
  if (failed(tasks))
    return failure();
  Progress progress = progressOf(func);
  FailureOr<planning::Plan> plan = readPlan(func, machine, *tasks, *attr, progress);
  if (failed(plan))
    return failure();
  if (failed(verifyPlan(func, machine, tasks->graph, *plan, *attr)))
    return failure();

  Figures figures;
  figures.function = func.getSymName();
  figures.planner = attr->planner;
  figures.bindingBound = attr->bindingBound;
  figures.makespanNs = plan->makespanNs;
  figures.lowerBoundNs = attr->lowerBoundNs;
  figures.serialNs = attr->serialNs;
  figures.tasks = plan->tasks.size();
  figures.transfers = plan->transfers.size();
  for (const planning::PlannedTransfer &transfer : plan->transfers)
    figures.transferBytes += tasks->graph.value(transfer.value).bytes;
  if (progress.waitsInserted)
    figures.waits = llvm::range_size(func.getOps<WaitOp>());

  std::set<std::pair<DeviceId, uint32_t>> streams;
  for (const planning::TaskPlacement &place : plan->tasks)
    streams.insert({place.device, place.stream});
  figures.streams = streams.size();
  std::vector<int64_t> busy = busyTimes(*plan, machine.devices.size());
  for (auto [device, busyNs] : llvm::zip_equal(machine.devices, busy))
    figures.devices.push_back({device.name, busyNs, 0, std::nullopt});
  for (auto [device, stream] : streams)
    ++figures.devices[device.index()].streams;
  if (progress.memoryPlanned) {
    FailureOr<std::vector<MemoryStats>> memory = computeMemoryStats(func);
    if (failed(memory))
      return failure();
    for (auto [device, stats] : llvm::zip_equal(figures.devices, *memory))
      device.memory = stats;
  }
  plan->busyNs = std::move(busy);
  constexpr double longGap = 0.05;
  constexpr size_t mostChanges = 3;
  figures.explanations = planning::explainCriticalPath(tasks->graph, machine, *plan);
  figures.gaps = planning::explainIdleGaps(tasks->graph, machine, *plan, longGap);
  if (withChanges)
    figures.changes = planning::changesThatHelp(tasks->graph, machine, *plan, mostChanges);
  return figures;
}

} // namespace

LogicalResult mlir::autopar::writeReport(ModuleOp module, StringRef path, bool text) {
  FailureOr<Machine> machine = getMachine(module);
  if (failed(machine))
    return failure();
  std::vector<Figures> all;
  for (func::FuncOp func : module.getOps<func::FuncOp>()) {
    if (func.isDeclaration())
      continue;
    FailureOr<Figures> figures = collect(func, *machine, /*withChanges=*/text);
    if (failed(figures))
      return failure();
    all.push_back(*std::move(figures));
  }
  if (path == "-") {
    for (const Figures &figures : all)
      printReportAsJson(llvm::outs(), figures);
  } else if (!path.empty()) {
    std::string message;
    std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(path, &message);
    if (!file)
      return module.emitError("the report cannot be written: ") << message;
    for (const Figures &figures : all)
      printReportAsJson(file->os(), figures);
    file->os().flush();
    if (file->os().has_error()) {
      std::string why = file->os().error().message();
      file->os().clear_error();
      return module.emitError("the report cannot be written to '") << path << "': " << why;
    }
    file->keep();
  }
  if (text)
    for (const Figures &figures : all)
      printReportAsText(llvm::outs(), figures);
  llvm::outs().flush();
  return success();
}
