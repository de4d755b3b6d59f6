#include "compiler/planning/LowerBound.h"

#include <algorithm>
#include <numeric>

#include "compiler/planning/BoundModel.h"
#include "compiler/planning/DestructiveTest.h"
#include "compiler/planning/HeadsAndTails.h"
#include "compiler/planning/WorkBounds.h"

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

/// Raises `known`, a bound, as far as limits can be refuted, but not above `upperNs`.
LowerBound destructiveBound(const BoundModel &model, const HeadsAndTails &times,
                            const Prices &prices, int64_t known, int64_t upperNs) {
  LowerBound bound{"forced co-location", 0};
  if (!DestructiveTest::isSensible(model) || known >= upperNs)
    return bound;
  DestructiveTest test(model, times, {prices, equalPrices(model)});
  if (upperNs < kNever && test.refutes(upperNs - 1))
    return {bound.name, upperNs};
  // Double the step until a limit stands, then halve.
  constexpr uint64_t kMostSteps = 20'000'000;
  int64_t refuted = known - 1, standing = upperNs;
  for (int64_t limit = known, step = std::max<int64_t>(1, known / 128); limit < standing;
       limit += step, step *= 2) {
    if (!test.refutes(limit) || test.steps() > kMostSteps) {
      standing = limit;
      break;
    }
    refuted = limit;
  }
  while (standing - refuted > 1 && test.steps() < kMostSteps) {
    const int64_t limit = refuted + (standing - refuted) / 2;
    (test.refutes(limit) ? refuted : standing) = limit;
  }
  bound.ns = refuted + 1;
  return bound;
}

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
                                    int64_t upperNs) {
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
  bounds.push_back(destructiveBound(model, times, prices, known, upperNs));
  return bounds;
}

LowerBound lowerBound(const TaskGraph &graph, const Machine &machine, int64_t upperNs) {
  LowerBound best;
  for (LowerBound &bound : lowerBounds(graph, machine, upperNs))
    if (best.name.empty() || bound.ns > best.ns)
      best = std::move(bound);
  return best;
}

} // namespace autopar::planning
