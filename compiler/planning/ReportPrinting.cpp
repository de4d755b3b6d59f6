#include "compiler/planning/ReportFigures.h"

#include <array>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::autopar;
namespace planning = ::autopar::planning;

namespace {

// ---- JSON
// ------------------------------------------------------------------------------------------------------

StringRef toRef(std::string_view text) { return StringRef(text.data(), text.size()); }

std::string toJsonText(StringRef text) {
  return llvm::json::isUTF8(text) ? text.str() : llvm::json::fixUTF8(text);
}

template <class T> llvm::json::Value orNull(const std::optional<T> &value) {
  return value ? llvm::json::Value(*value) : llvm::json::Value(nullptr);
}

void printReason(llvm::json::OStream &json, const planning::Explanation &entry) {
  json.attribute("task", toJsonText(entry.task));
  json.attribute("waits_for", toJsonText(entry.waitsFor));
  json.attribute("reason", toRef(planning::causeName(entry.cause)));
}

// ---- one screen
// ------------------------------------------------------------------------------------------------

/// A number with one of four units, each a thousand of the one before: whole up to 10,000 of the first.
std::string withUnit(double number, const std::array<StringRef, 4> &units) {
  std::string text;
  llvm::raw_string_ostream os(text);
  size_t unit = 0;
  double scaled = number;
  for (; scaled >= 10'000 && unit + 1 < units.size(); ++unit)
    scaled /= 1'000;
  os << llvm::format(unit == 0 ? "%.0f " : unit + 1 == units.size() ? "%.2f " : "%.1f ", scaled) << units[unit];
  return text;
}

std::string duration(int64_t ns) { return withUnit(static_cast<double>(ns), {"ns", "us", "ms", "s"}); }
std::string size(uint64_t bytes) { return withUnit(static_cast<double>(bytes), {"B", "kB", "MB", "GB"}); }

std::string count(uint64_t number, StringRef noun) {
  return (Twine(number) + " " + noun + (number == 1 ? "" : "s")).str();
}

void printPath(raw_ostream &os, const Figures &figures) {
  constexpr size_t shown = 8;
  if (figures.explanations.empty())
    return;
  os << "  why not parallel (the longest path, last step first):\n";
  for (const planning::Explanation &entry : ArrayRef(figures.explanations).take_front(shown))
    os << "    '" << entry.task << "' waits for '" << entry.waitsFor
       << "': " << toRef(planning::causeName(entry.cause)) << "\n";
  if (figures.explanations.size() > shown)
    os << "    and " << count(figures.explanations.size() - shown, "step") << " before these\n";
}

/// The longest gaps first.
void printGaps(raw_ostream &os, const Figures &figures) {
  constexpr size_t shown = 4;
  std::vector<const planning::IdleGap *> gaps;
  for (const planning::IdleGap &gap : figures.gaps)
    gaps.push_back(&gap);
  llvm::stable_sort(gaps, [](const planning::IdleGap *a, const planning::IdleGap *b) {
    return a->finishNs - a->startNs > b->finishNs - b->startNs;
  });
  if (!gaps.empty())
    os << "  idle for a twentieth of the time and more:\n";
  for (const planning::IdleGap *gap : ArrayRef(gaps).take_front(shown)) {
    os << "    " << figures.devices[gap->device.index()].name << " for "
       << duration(gap->finishNs - gap->startNs) << " from " << duration(gap->startNs);
    if (!gap->reason.task.empty())
      os << ", '" << gap->reason.task << "'";
    if (!gap->reason.waitsFor.empty())
      os << " waits for '" << gap->reason.waitsFor << "'";
    os << ": " << toRef(planning::causeName(gap->reason.cause)) << "\n";
  }
  if (gaps.size() > shown)
    os << "    and " << count(gaps.size() - shown, "shorter one") << "\n";
}

void printChanges(raw_ostream &os, const Figures &figures) {
  if (figures.makespanNs == 0)
    return;
  const planning::MachineChanges &changes = figures.changes;
  if (changes.tried.empty()) {
    os << "  no other machine was tried\n";
    return;
  }
  if (changes.best.empty()) {
    constexpr size_t shown = 8;
    os << "  no other machine that was tried would help by 1 %:\n    ";
    llvm::interleave(ArrayRef(changes.tried).take_front(shown), os, "; ");
    if (changes.tried.size() > shown)
      os << "; and " << count(changes.tried.size() - shown, "other");
    os << "\n";
    return;
  }
  os << "  what would help (each planned again):\n";
  for (const planning::MachineChange &change : changes.best)
    os << "    " << change.what << ": " << duration(change.makespanNs)
       << llvm::format(", %.2f times as fast\n",
                       static_cast<double>(figures.makespanNs) /
                           static_cast<double>(std::max<int64_t>(1, change.makespanNs)));
}

} // namespace

void mlir::autopar::printReportAsJson(raw_ostream &os, const Figures &figures) {
  llvm::json::OStream json(os);
  json.object([&] {
    json.attribute("function", toJsonText(figures.function));
    json.attribute("predicted_makespan_ns", figures.makespanNs);
    json.attribute("lower_bound_ns", figures.lowerBoundNs);
    json.attribute("binding_bound", figures.bindingBound);
    json.attribute("gap", orNull(figures.gap()));
    json.attribute("optimal", figures.isOptimal());
    json.attribute("serial_ns", figures.hasSerialPlan() ? llvm::json::Value(figures.serialNs)
                                                        : llvm::json::Value(nullptr));
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
        json.object([&] { printReason(json, entry); });
    });
    json.attributeArray("idle", [&] {
      for (const planning::IdleGap &gap : figures.gaps)
        json.object([&] {
          json.attribute("device", toJsonText(figures.devices[gap.device.index()].name));
          json.attribute("start_ns", gap.startNs);
          json.attribute("finish_ns", gap.finishNs);
          printReason(json, gap.reason);
        });
    });
  });
  os << '\n';
}

void mlir::autopar::printReportAsText(raw_ostream &os, const Figures &figures) {
  os << "function " << figures.function << ": " << count(figures.tasks, "task") << ", "
     << count(figures.transfers, "transfer") << " of " << size(figures.transferBytes);
  if (figures.waits)
    os << ", " << count(*figures.waits, "wait");
  os << "\n  predicted " << duration(figures.makespanNs) << " (planner " << figures.planner;
  // Pins and what one device cannot run make it a plan of several.
  if (StringRef(figures.planner).starts_with("one-device") &&
      llvm::count_if(figures.devices, [](const DeviceFigures &device) { return device.streams > 0; }) > 1)
    os << ": all that may choose on one device";
  os << "); best single device, one stream ";
  if (!figures.hasSerialPlan())
    os << "impossible";
  else if (figures.serialNs < figures.makespanNs)
    os << duration(figures.serialNs) << ", which does not fit the memory";
  else
    os << duration(figures.serialNs);
  if (figures.makespanNs > 0 && figures.hasSerialPlan())
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
  printPath(os, figures);
  printGaps(os, figures);
  printChanges(os, figures);
}
