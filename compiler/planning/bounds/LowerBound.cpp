#include "compiler/planning/bounds/LowerBound.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "compiler/planning/bounds/BoundModel.h"
#include "compiler/planning/bounds/DestructiveTest.h"
#include "compiler/planning/bounds/HeadsAndTails.h"
#include "compiler/planning/bounds/WorkBounds.h"

namespace autopar::planning {

namespace {

Prices pricesOfAll(const BoundModel &model) {
  std::vector<uint32_t> tasks(model.graph().taskCount());
  std::iota(tasks.begin(), tasks.end(), 0);
  return findPrices(model, tasks);
}

LowerBound pathBound(const BoundModel &model, const HeadsAndTails &times) {
  return {"critical path", std::max(times.longestNs, model.inputsLand())};
}

/// A bound under improvement. Every bound that is raised here is a limit that was refuted, plus
/// one.
class Raiser {
public:
  Raiser(const BoundModel &model, int64_t knownNs, const BoundOptions &options)
      : model(model), known(knownNs), upper(options.upperNs), effort(options.effort),
        tasks(model.graph().taskCount()) {
    constexpr uint64_t limits[] = {1'000'000, 5'000'000, 100'000'000, 1'000'000'000};
    stepsLeft = limits[std::clamp(effort, 0, 3)];
    std::iota(tasks.begin(), tasks.end(), 0);
  }

  int64_t run(const HeadsAndTails &times, const Prices &prices) {
    {
      DestructiveTest test(model, times, pricesToTry(model, prices));
      raise(test, /*shave=*/false);
      if (effort >= 2 && !model.hasEqualDevices())
        raise(test, /*shave=*/true);
    }
    if (!model.hasEqualDevices())
      return known;
    std::vector<uint32_t> order = anchors();
    constexpr size_t kFew = 3;
    if (effort < 2)
      order.resize(std::min(order.size(), effort == 0 ? 0 : kFew));
    for (bool shave : {false, true}) {
      if (shave && effort < 2)
        break;
      for (uint32_t anchor : order)
        if (!isDone())
          raiseWith(anchor, shave);
    }
    return known;
  }

private:
  bool isDone() const { return known >= upper || stepsLeft == 0; }
  void spend(uint64_t steps) { stepsLeft -= std::min(stepsLeft, steps); }

  void raiseWith(uint32_t anchor, bool shave) {
    BoundModel split(model, TaskId(size_t(anchor)));
    HeadsAndTails times = computeHeadsAndTails(split);
    spend(tasks.size() * split.classCount() * 100);
    DestructiveTest test(split, times, pricesToTry(split, findPrices(split, tasks)));
    raise(test, shave);
  }

  static std::vector<Prices> pricesToTry(const BoundModel &model, const Prices &prices) {
    std::vector<Prices> list = {prices};
    if (model.classCount() > 1)
      list.push_back(equalPrices(model));
    return list;
  }

  /// Tasks in the order in which to name their devices: those that most others lie before or
  /// behind, then those with the most edges.
  std::vector<uint32_t> anchors() const {
    const TaskGraph &graph = model.graph();
    const size_t words = (tasks.size() + 63) / 64;
    std::vector<uint64_t> before(tasks.size() * words, 0); // [task][word]
    std::vector<uint64_t> score(tasks.size(), 0);
    constexpr uint64_t kPerRelative = 1'000'000;
    for (TaskId task : graph.topologicalOrder()) {
      uint64_t *own = &before[task.index() * words];
      for (ValueId operand : graph.operands(task))
        if (TaskId producer = graph.value(operand).producer; producer.valid()) {
          for (size_t word = 0; word < words; ++word)
            own[word] |= before[producer.index() * words + word];
          own[producer.index() / 64] |= uint64_t{1} << producer.index() % 64;
          ++score[task.index()];
          ++score[producer.index()];
        }
      for (size_t word = 0; word < words; ++word)
        for (uint64_t bits = own[word]; bits != 0; bits &= bits - 1) {
          score[task.index()] += kPerRelative;
          score[word * 64 + size_t(std::countr_zero(bits))] += kPerRelative;
        }
    }
    std::vector<uint32_t> order = tasks;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return score[a] > score[b]; });
    return order;
  }

  bool refutes(DestructiveTest &test, int64_t limit, bool shave) {
    const uint64_t before = test.steps();
    const bool refuted = test.refutes(limit, shave);
    spend(test.steps() - before);
    return refuted;
  }

  void raise(DestructiveTest &test, bool shave) {
    if (isDone())
      return;
    if (upper < kNoUpperBound && refutes(test, upper - 1, shave)) {
      known = upper;
      return;
    }
    // Most tests show nothing new, which one try tells. Else double the step until a limit stands,
    // then halve.
    int64_t standing = upper;
    for (int64_t step = 1; known < standing && stepsLeft > 0;
         step = std::max(2 * step, known / 256)) {
      const int64_t limit = std::min(known + step, standing) - 1;
      if (!refutes(test, limit, shave)) {
        standing = limit;
        break;
      }
      known = limit + 1;
    }
    while (known < standing && stepsLeft > 0) {
      const int64_t limit = known + (standing - known) / 2;
      if (refutes(test, limit, shave))
        known = limit + 1;
      else
        standing = limit;
    }
  }

  const BoundModel &model;
  int64_t known, upper;
  int effort;
  std::vector<uint32_t> tasks;
  uint64_t stepsLeft;
};

} // namespace

LowerBound criticalPathBound(const TaskGraph &graph, const MachineModel &machine) {
  BoundModel model(graph, machine);
  return pathBound(model, computeHeadsAndTails(model));
}

LowerBound areaBound(const TaskGraph &graph, const MachineModel &machine) {
  BoundModel model(graph, machine);
  WorkBound bound = workBound(model, pricesOfAll(model));
  return {bound.name, bound.ns};
}

std::vector<LowerBound> lowerBounds(const TaskGraph &graph, const Machine &machine,
                                    const BoundOptions &options) {
  MachineModel machineModel(machine, /*maxStreams=*/0);
  BoundModel model(graph, machineModel);
  HeadsAndTails times = computeHeadsAndTails(model);
  Prices prices = pricesOfAll(model);
  std::vector<LowerBound> bounds = {pathBound(model, times)};
  auto add = [&](const WorkBound &bound) { bounds.push_back({bound.name, bound.ns}); };
  add(workBound(model, prices));
  add(intervalBound(model, times, prices));
  bounds.push_back(linkTrafficBound(graph, machineModel));
  int64_t known = 0;
  for (const LowerBound &bound : bounds)
    known = std::max(known, bound.ns);
  bounds.push_back({"forced co-location", 0});
  if (DestructiveTest::isSensible(model) && known < options.upperNs)
    bounds.back().ns = Raiser(model, known, options).run(times, prices);
  return bounds;
}

LowerBound lowerBound(const TaskGraph &graph, const Machine &machine, const BoundOptions &options) {
  LowerBound best;
  for (LowerBound &bound : lowerBounds(graph, machine, options))
    if (best.name.empty() || bound.ns > best.ns)
      best = std::move(bound);
  return best;
}

} // namespace autopar::planning
