// Heads and tails: how early a task can start on a device, and how long the program lasts at least
// after it, when nothing queues.
//
// Join rule: of the predecessors of a task, some are on its device, where they take turns, and the
// others send their values. Whichever are local, all of them are that send later than the latest
// one that is not: so only the splits "the k with the latest arrival are local" need be looked at.
// Tails are heads of the graph turned round (fork rule).
//
// Gate rule: where all links into a device share an engine, what is not made there passes it one
// value after the other. Whatever the split, one of the two takes at least as long as in the best
// split of divisible work.
#ifndef AUTOPAR_COMPILER_PLANNING_BOUNDS_HEADSANDTAILS_H
#define AUTOPAR_COMPILER_PLANNING_BOUNDS_HEADSANDTAILS_H

#include <cstdint>
#include <vector>

#include "compiler/planning/bounds/BoundModel.h"

namespace autopar::planning {

struct HeadsAndTails {
  std::vector<int64_t> head; ///< [task][class]: earliest start there; kNever where it cannot run.
  std::vector<int64_t> tail; ///< [task][class]: least time from its finish there to the end.
  int64_t longestNs = 0;     ///< max over tasks of min over classes of head + duration + tail.
};

/// O((tasks + edges) classes² + edges log degree); on big problems classes instead of their square.
HeadsAndTails computeHeadsAndTails(const BoundModel &model);

/// One predecessor (for heads) or successor (for tails).
struct Neighbour {
  int64_t release; ///< Its head on the device in question.
  int64_t finish;  ///< Its head + duration there; kNever: it cannot be there.
  int64_t work;    ///< What it takes of the device's time.
  int64_t remote; ///< When its values are there if it is elsewhere; kNever: it cannot be elsewhere.
};
/// What is made on a device, or enters it.
struct GateItem {
  double work;    ///< If it is made there; infinite: it cannot be.
  double passage; ///< If it is made elsewhere; infinite: it cannot be.
};
/// The gate rule: least time for all items. Sorts `items`.
double gateTime(std::vector<GateItem> &items);

/// The join rule. Sorts `list`.
int64_t joinTime(std::vector<Neighbour> &list);

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_BOUNDS_HEADSANDTAILS_H
