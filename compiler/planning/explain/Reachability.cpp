#include "compiler/planning/explain/Reachability.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace autopar::planning {

namespace {

/// The devices of each task that it may run on and its operands can get to, whatever their producers choose.
class Reachability {
public:
  explicit Reachability(const Problem &problem)
      : problem(problem), devices(problem.graph.taskCount()) {}

  std::string explain() {
    const TaskGraph &graph = problem.graph;
    for (TaskId task : graph.topologicalOrder()) {
      const std::vector<DeviceId> allowed = allowedFor(task);
      for (DeviceId device : allowed)
        if (std::all_of(graph.operands(task).begin(), graph.operands(task).end(),
                        [&](ValueId operand) { return reaches(operand, device); }))
          devices[task.index()].push_back(device);
      if (!devices[task.index()].empty())
        continue;
      for (ValueId operand : graph.operands(task))
        if (std::none_of(allowed.begin(), allowed.end(),
                         [&](DeviceId device) { return reaches(operand, device); }))
          return absl::StrCat(nameOf(operand), " cannot reach '", graph.task(task).label, "' (on ",
                              listOf(allowed),
                              "): no link and no way over the host device leads there");
      return absl::StrCat("no device that may run '", graph.task(task).label, "' (", listOf(allowed),
                          ") can be reached by all of its operands, since links are missing");
    }
    return "some value cannot reach a device that needs it, since no link and no way over the host "
           "device leads there";
  }

private:
  std::vector<DeviceId> allowedFor(TaskId task) const {
    std::vector<DeviceId> allowed;
    for (size_t device = 0; device < problem.machine.deviceCount(); ++device)
      if (problem.table.duration(task, DeviceId(device)) >= 0)
        allowed.push_back(DeviceId(device));
    return allowed;
  }

  bool reaches(ValueId id, DeviceId device) const {
    const Value &value = problem.graph.value(id);
    auto leadsThere = [&](DeviceId from) {
      return from == device || problem.machine.route(from, device).exists();
    };
    if (!value.needsTransfer())
      return true;
    if (!value.producer.valid())
      return !value.residentDevice.valid() || leadsThere(value.residentDevice);
    const std::vector<DeviceId> &from = devices[value.producer.index()];
    return std::any_of(from.begin(), from.end(), leadsThere);
  }

  std::string nameOf(ValueId id) const {
    const Value &value = problem.graph.value(id);
    if (value.producer.valid())
      return absl::StrCat("the result of '", problem.graph.task(value.producer).label, "' (on ",
                          listOf(devices[value.producer.index()]), ")");
    // The arguments of the program are its first values.
    return absl::StrCat("program input #", id.value, " (on ", listOf({value.residentDevice}), ")");
  }

  std::string listOf(const std::vector<DeviceId> &list) const {
    constexpr size_t kShown = 4;
    std::vector<std::string> names;
    for (size_t index = 0; index < std::min(list.size(), kShown); ++index)
      names.push_back(problem.machine.device(list[index]).name);
    return absl::StrCat(absl::StrJoin(names, " or "), list.size() > kShown ? " or others" : "");
  }

  const Problem &problem;
  std::vector<std::vector<DeviceId>> devices; // by task
};

} // namespace

std::string whatCannotReach(const Problem &problem) { return Reachability(problem).explain(); }

} // namespace autopar::planning
