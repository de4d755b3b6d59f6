// What searches for a time at which all engines of a link are free have found out: stretches in
// which there is none. Bookings only take room away, so that this stays true, and the next search
// need not go there again. Without it a search that begins far behind the frontier walks over the
// same fragments as those before it, and the walks grow with the graph.
//
// Durations are in classes of an eighth of an octave; a class has one stretch, the one that reaches
// furthest or what it has grown to. In ticks. Not synchronised.
#ifndef AUTOPAR_COMPILER_PLANNING_MODEL_RULEDOUT_H
#define AUTOPAR_COMPILER_PLANNING_MODEL_RULEDOUT_H

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace autopar::planning {

class RuledOut {
public:
  /// No earlier than `from`; nothing as long as `duration` can start between `from` and it.
  int64_t skip(int64_t from, int64_t duration) const {
    if (stretches.empty())
      return from;
    const uint32_t own = classOf(duration);
    const uint32_t least = own > kLookedAt ? own - kLookedAt : 0;
    // What is too short for a class is too short for longer ones.
    for (uint32_t at = own + 1; at-- > least;)
      if (stretches[at].begin <= from && from < stretches[at].end)
        from = stretches[at].end, at = own + 1; // others may lead on
    return from;
  }

  /// Nothing as long as `duration` can start in [from, until).
  void note(int64_t from, int64_t until, int64_t duration) {
    if (stretches.empty())
      stretches.resize(kClasses);
    Stretch &own = stretches[classOf(duration - 1) + 1]; // all of its class are as long
    if (from > own.end || until < own.begin) {
      if (until > own.end)
        own = {from, until};
    } else {
      own = {std::min(own.begin, from), std::max(own.end, until)};
    }
  }

private:
  struct Stretch {
    int64_t begin = 0, end = 0;
  };
  static constexpr uint32_t kSteps = 8; // in an octave
  static constexpr uint32_t kClasses = 64 * kSteps + 1;
  static constexpr uint32_t kLookedAt = 2 * kSteps;

  /// Ascending with `duration` >= 0.
  static uint32_t classOf(int64_t duration) {
    const uint64_t ticks = uint64_t(duration);
    if (ticks < kSteps)
      return uint32_t(ticks);
    const uint32_t octave = uint32_t(std::bit_width(ticks)) - 4; // kSteps <= ticks >> octave < 2 kSteps
    return octave * kSteps + uint32_t(ticks >> octave);
  }

  std::vector<Stretch> stretches; // by class; empty: nothing has been noted
};

} // namespace autopar::planning

#endif // AUTOPAR_COMPILER_PLANNING_MODEL_RULEDOUT_H
