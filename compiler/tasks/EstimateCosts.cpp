// Reads: autopar.machine, the bodies of tasks, the profile (--profile: measured times).
// Writes: cost_ns, occupancy (where below 1), tile_count of every task that has no cost_ns yet.
//
// A cost that is given in the program stays; a measured one beats both. Devices of one kind share the kind's key when
// they need the same time. Attributes are built once per distinct piece of work.

#include "compiler/MachineAttr.h"
#include "compiler/Passes.h"
#include "compiler/tasks/CostModel.h"
#include "compiler/tasks/Profile.h"
#include "compiler/tasks/VerifyTasks.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <tuple>

namespace mlir::autopar {

#define GEN_PASS_DEF_ESTIMATECOSTSPASS
#include "compiler/Passes.h.inc"

namespace {

StringRef toRef(std::string_view text) { return StringRef(text.data(), text.size()); }

/// Cut to six digits, which print as they are and not as hexadecimal bits. Downwards, so that shares of a device that sum
/// to 1 still do.
double printable(double value) {
  if (value == 0)
    return 0;
  double digits = std::pow(10.0, 5 - std::floor(std::log10(value)));
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.5e", std::floor(value * digits) / digits);
  return std::strtod(text.c_str(), nullptr);
}

/// The attributes of one distinct piece of work.
struct CostAttrs {
  DictionaryAttr costNs;
  DictionaryAttr occupancy; ///< null: 1 everywhere
  IntegerAttr tileCount;
};

class CostWriter {
public:
  CostWriter(func::FuncOp function, const ::autopar::Machine &machine)
      : builder(function.getContext()), machine(machine), callBytes(bytesPerCall(function)) {}

  const CostAttrs &attrsFor(const Work &work) {
    auto key = std::make_tuple(work.productFlops, work.coreNs, work.bytes, work.elements, work.tiles);
    auto [entry, isNew] = known.try_emplace(key);
    if (isNew)
      entry->second = build(work);
    return entry->second;
  }

private:
  CostAttrs build(const Work &work) {
    SmallVector<double> costs, shares;
    for (const ::autopar::Device &device : machine.devices) {
      costs.push_back(printable(costNs(work, device, callBytes)));
      shares.push_back(printable(occupancyOf(work, device)));
    }
    CostAttrs attrs;
    attrs.costNs = perDevice(costs);
    if (!llvm::all_of(shares, [](double share) { return share == 1; }))
      attrs.occupancy = perDevice(shares);
    attrs.tileCount = builder.getI64IntegerAttr(work.tiles);
    return attrs;
  }

  /// One entry per kind of device where its devices agree, else one per device.
  DictionaryAttr perDevice(ArrayRef<double> values) {
    std::map<::autopar::DeviceKind, std::pair<double, bool>> kinds; // value, whether all agree
    for (auto [device, value] : llvm::zip_equal(machine.devices, values)) {
      auto [entry, isNew] = kinds.try_emplace(device.kind, value, true);
      entry->second.second &= isNew || entry->second.first == value;
    }
    SmallVector<NamedAttribute> entries;
    for (auto [device, value] : llvm::zip_equal(machine.devices, values))
      if (!kinds[device.kind].second)
        entries.push_back(builder.getNamedAttr(device.name, builder.getF64FloatAttr(value)));
    for (auto &[kind, agreed] : kinds)
      if (agreed.second)
        entries.push_back(builder.getNamedAttr(toRef(::autopar::DeviceKindName(kind)),
                                               builder.getF64FloatAttr(agreed.first)));
    return builder.getDictionaryAttr(entries);
  }

  Builder builder;
  const ::autopar::Machine &machine;
  const double callBytes;
  std::map<std::tuple<double, double, double, double, int64_t>, CostAttrs> known;
};

class EstimateCosts : public impl::EstimateCostsPassBase<EstimateCosts> {
public:
  using EstimateCostsPassBase::EstimateCostsPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    FailureOr<::autopar::Machine> machine = getMachine(function);
    // The stage ends here: nothing below changes what verifyTasks looks at.
    if (failed(machine) || failed(verifyTasks(function)))
      return signalPassFailure();
    std::optional<Profile> measured;
    if (!profile.empty()) {
      FailureOr<Profile> read = Profile::read(profile, function.getLoc());
      if (failed(read))
        return signalPassFailure();
      if (read->isOf(function.getSymName()))
        measured = *std::move(read);
    }
    llvm::StringSet<> profiled;
    CostWriter writer(function, *machine);
    for (TaskOp task : function.getOps<TaskOp>()) {
      if (!task.getCostNsAttr()) {
        std::string why;
        FailureOr<Work> work = workOfTask(task, &why);
        if (failed(work)) {
          task.emitOpError("is more than one kernel: ") << why << "; split it into several tasks";
          return signalPassFailure();
        }
        writeAttrs(task, writer.attrsFor(*work));
      }
      if (measured)
        if (DictionaryAttr times = measured->find(task.getLabel(), task.getCostNsAttr(), *machine)) {
          task.setCostNsAttr(times);
          profiled.insert(task.getLabel());
        }
    }
    if (measured)
      warnOfUnused(function, *measured, profiled);
  }

private:
  /// A profile of another program, or of this one fused otherwise, would else be followed in part without a word.
  void warnOfUnused(func::FuncOp function, const Profile &measured, const llvm::StringSet<> &used) {
    SmallVector<StringRef> labels = measured.labels();
    size_t all = labels.size();
    llvm::erase_if(labels, [&](StringRef label) { return used.contains(label); });
    // One that names no function may be of the others.
    if (labels.empty() || (measured.functionName().empty() && labels.size() < all))
      return;
    auto warning = function.emitWarning() << "profile '" << profile << "': " << labels.size() << " of its " << all
                                          << " entries name no task of '" << function.getSymName()
                                          << "', or no device of the machine; the first is '" << labels.front() << "'";
    warning.attachNote() << "measure the program as it is compiled now: the same --fuse, the same source";
  }

  static void writeAttrs(TaskOp task, const CostAttrs &attrs) {
    task.setCostNsAttr(attrs.costNs);
    if (attrs.occupancy)
      task.setOccupancyAttr(attrs.occupancy);
    task.setTileCountAttr(attrs.tileCount);
  }
};

} // namespace
} // namespace mlir::autopar
