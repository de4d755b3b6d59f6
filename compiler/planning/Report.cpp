#include "compiler/planning/Report.h"

#include <set>

#include "compiler/MachineAttr.h"
#include "compiler/memory/MemoryPlan.h"
#include "compiler/planning/Explanation.h"
#include "compiler/planning/FunctionTasks.h"
#include "compiler/planning/PlanAttr.h"
#include "dialect/Autopar.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace mlir::autopar;
namespace planning = ::autopar::planning;
using ::autopar::DeviceId;
using ::autopar::Machine;

namespace {

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
  std::vector<planning::Explanation> explanations;

  bool isOptimal() const { return makespanNs == lowerBoundNs; }
  std::optional<double> gap() const {
    if (lowerBoundNs > 0)
      return static_cast<double>(makespanNs) / static_cast<double>(lowerBoundNs) - 1;
    if (makespanNs == 0)
      return 0;
    return std::nullopt;
  }
};

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

FailureOr<Figures> collect(func::FuncOp func, const Machine &machine) {
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
  figures.explanations = planning::explainCriticalPath(tasks->graph, machine, *plan);
  return figures;
}

// ---- JSON
// ------------------------------------------------------------------------------------------------------

StringRef toRef(std::string_view text) { return StringRef(text.data(), text.size()); }

std::string toJsonText(StringRef text) {
  return llvm::json::isUTF8(text) ? text.str() : llvm::json::fixUTF8(text);
}

template <class T> llvm::json::Value orNull(const std::optional<T> &value) {
  return value ? llvm::json::Value(*value) : llvm::json::Value(nullptr);
}

void printJson(raw_ostream &os, const Figures &figures) {
  llvm::json::OStream json(os);
  json.object([&] {
    json.attribute("function", toJsonText(figures.function));
    json.attribute("predicted_makespan_ns", figures.makespanNs);
    json.attribute("lower_bound_ns", figures.lowerBoundNs);
    json.attribute("binding_bound", figures.bindingBound);
    json.attribute("gap", orNull(figures.gap()));
    json.attribute("optimal", figures.isOptimal());
    json.attribute("serial_ns", figures.serialNs);
    json.attribute("planner", figures.planner);
    json.attribute("tasks", figures.tasks);
    json.attribute("transfers", figures.transfers);
    json.attribute("transfer_bytes", figures.transferBytes);
    json.attribute("waits", orNull(figures.waits));
    json.attribute("streams", figures.streams);
    json.attributeArray("devices", [&] {
      for (const DeviceFigures &device : figures.devices)
        json.object([&] {
          json.attribute("name", toJsonText(device.name));
          json.attribute("busy_ns", device.busyNs);
          json.attribute("streams", device.streams);
          if (device.memory) {
            json.attribute("peak_bytes", device.memory->peakBytes);
            json.attribute("peak_lower_bound_bytes", device.memory->peakLowerBoundBytes);
          } else {
            json.attribute("peak_bytes", nullptr);
            json.attribute("peak_lower_bound_bytes", nullptr);
          }
        });
    });
    json.attributeArray("why_not_parallel", [&] {
      for (const planning::Explanation &entry : figures.explanations)
        json.object([&] {
          json.attribute("task", toJsonText(entry.task));
          json.attribute("waits_for", toJsonText(entry.waitsFor));
          json.attribute("reason", toRef(planning::causeName(entry.cause)));
        });
    });
  });
  os << '\n';
}

// ---- one screen
// ------------------------------------------------------------------------------------------------

std::string duration(int64_t ns) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (ns < 10'000)
    os << ns << " ns";
  else if (ns < 10'000'000)
    os << llvm::format("%.1f us", static_cast<double>(ns) / 1e3);
  else if (ns < 10'000'000'000)
    os << llvm::format("%.1f ms", static_cast<double>(ns) / 1e6);
  else
    os << llvm::format("%.2f s", static_cast<double>(ns) / 1e9);
  return text;
}

std::string size(uint64_t bytes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (bytes < 10'000)
    os << bytes << " B";
  else if (bytes < 10'000'000)
    os << llvm::format("%.1f kB", static_cast<double>(bytes) / 1e3);
  else if (bytes < 10'000'000'000)
    os << llvm::format("%.1f MB", static_cast<double>(bytes) / 1e6);
  else
    os << llvm::format("%.2f GB", static_cast<double>(bytes) / 1e9);
  return text;
}

std::string count(uint64_t number, StringRef noun) {
  return (Twine(number) + " " + noun + (number == 1 ? "" : "s")).str();
}

void printText(raw_ostream &os, const Figures &figures) {
  os << "function " << figures.function << ": " << count(figures.tasks, "task") << ", "
     << count(figures.transfers, "transfer") << " of " << size(figures.transferBytes);
  if (figures.waits)
    os << ", " << count(*figures.waits, "wait");
  os << "\n  predicted " << duration(figures.makespanNs) << " (planner " << figures.planner
     << "); best single device, one stream " << duration(figures.serialNs);
  if (figures.makespanNs > 0 && figures.serialNs > 0)
    os << llvm::format(", %.2f times as long", static_cast<double>(figures.serialNs) /
                                                   static_cast<double>(figures.makespanNs));
  os << "\n  bound     " << duration(figures.lowerBoundNs) << " (" << figures.bindingBound << ")";
  if (figures.isOptimal())
    os << ": the plan is optimal";
  else if (std::optional<double> gap = figures.gap())
    os << llvm::format(": at most %.1f %% could be gained", 100 * *gap / (1 + *gap));
  os << "\n";
  for (const DeviceFigures &device : figures.devices) {
    double load = figures.makespanNs > 0 ? 100 * static_cast<double>(device.busyNs) /
                                               static_cast<double>(figures.makespanNs)
                                         : 0;
    os << "  " << device.name << llvm::format(": busy %.1f %%, ", load)
       << count(device.streams, "stream");
    if (device.memory)
      os << ", " << size(device.memory->peakBytes) << " of memory";
    os << "\n";
  }
  if (figures.explanations.empty())
    return;
  constexpr size_t shown = 12;
  os << "  why not parallel (the longest path, last step first):\n";
  for (const planning::Explanation &entry : ArrayRef(figures.explanations).take_front(shown))
    os << "    '" << entry.task << "' waits for '" << entry.waitsFor
       << "': " << toRef(planning::causeName(entry.cause)) << "\n";
  if (figures.explanations.size() > shown)
    os << "    and " << figures.explanations.size() - shown << " steps before these\n";
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
    FailureOr<Figures> figures = collect(func, *machine);
    if (failed(figures))
      return failure();
    all.push_back(*std::move(figures));
  }
  if (path == "-") {
    for (const Figures &figures : all)
      printJson(llvm::outs(), figures);
  } else if (!path.empty()) {
    std::string message;
    std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(path, &message);
    if (!file)
      return module.emitError("the report cannot be written: ") << message;
    for (const Figures &figures : all)
      printJson(file->os(), figures);
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
      printText(llvm::outs(), figures);
  llvm::outs().flush();
  return success();
}
