// The constructive planners by name, on the graph and on its reverse, and the best of what they
// find.
#ifndef AUTOPAR_COMPILER_PLANNING_PORTFOLIO_H
#define AUTOPAR_COMPILER_PLANNING_PORTFOLIO_H

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/planning/model/Plan.h"
#include "compiler/planning/model/Problem.h"
#include "compiler/planning/model/Reversal.h"

namespace autopar::planning {

/// Keeps the shortest plan; of equal ones the first. A plan of `enoughNs` is good enough to stop.
class BestPlan {
public:
  explicit BestPlan(int64_t enoughNs) : enoughNs(enoughNs) {}

  /// What all plans get as their serialNs.
  void setSerial(int64_t ns);

  /// Whether to keep the shortest plan of each planner from now on.
  void keepRunnersUp(bool keep) { keepsRunnersUp = keep; }
  /// The best plan, then those of other planners and other lengths, the shortest first; at most
  /// `most` in all.
  std::vector<Plan> starts(size_t most) const;

  /// Every task has been placed. The builder is used up. Whether it was shorter.
  bool offer(ScheduleBuilder &builder, std::string_view planner);
  bool offer(std::optional<Plan> plan);
  bool empty() const { return !best; }
  /// Of what has been offered nothing shorter exists.
  void setProved() { best->provedOptimal = true; }
  bool isEnough() const { return best && (best->provedOptimal || best->makespanNs <= enoughNs); }
  int64_t makespanNs() const {
    return best ? best->makespanNs : std::numeric_limits<int64_t>::max();
  }
  int64_t enough() const { return enoughNs; }
  void raiseEnough(int64_t ns) { enoughNs = std::max(enoughNs, ns); }
  const Plan &plan() const { return *best; }
  Plan take() { return *std::move(best); }

private:
  int64_t enoughNs, serialNs = 0;
  std::optional<Plan> best;
  bool keepsRunnersUp = false;
  std::vector<Plan> runnersUp; // one of each planner, in the order in which these came
};

/// Runs constructive planners on one problem, which it refers to.
class Portfolio {
public:
  explicit Portfolio(const Problem &problem) : problem(problem) {}

  /// "heft", "heft-harmonic", "peft", … in the order in which they pay, each followed by its
  /// "reverse-" form: the same planner on the reversed graph, its plan mirrored and timed forward.
  static const std::vector<std::string> &names();

  /// Runs the planner `name` and offers what it finds; stops early when `best` is good enough.
  void run(std::string_view name, BestPlan &best);

  /// All planners that are worth their time on this many tasks and have not run yet, until `best`
  /// is good enough.
  void runAll(BestPlan &best);

private:
  Problem problem;
  std::vector<std::string> done;
  bool triedReversing = false;
  std::unique_ptr<ReversedProblem> reversed; // made when first needed
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_PORTFOLIO_H
