#include "compiler/planning/lists/Lookahead.h"

#include <algorithm>

#include "compiler/planning/lists/Ranks.h"

namespace autopar::planning {

namespace {

class Lookahead {
public:
  Lookahead(const Problem &problem, size_t mostUsers, ScheduleBuilder &builder)
      : problem(problem), graph(problem.graph), numDevices(problem.machine.deviceCount()),
        mostUsers(mostUsers), builder(builder), groups(problem.graph),
        ranks(upwardRanks(problem, MeanCost::Arithmetic)),
        arrived(graph.taskCount() * numDevices, 0) {
    for (size_t value = 0; value < graph.valueCount(); ++value)
      if (DeviceId from = graph.value(ValueId(value)).residentDevice; from.valid())
        tellUsers(ValueId(value), from, 0);
  }

  bool run() {
    for (TaskId task : orderByRank(graph, ranks)) {
      DeviceId device = choose(task);
      if (!device.valid() || !builder.place(task, device))
        return false;
      groups.set(task, device);
      for (ValueId value : graph.produced(task))
        tellUsers(value, device, builder.finishOf(task));
    }
    return true;
  }

private:
  struct Score {
    int64_t users = ScheduleBuilder::kNoLimit; // finish of the latest user
    int64_t own = ScheduleBuilder::kNoLimit;
    auto operator<=>(const Score &) const = default;
  };
  /// A user of the task in hand, with one of the values that it takes from it (counted from 0).
  struct Use {
    TaskId user;
    uint32_t value;
    auto operator<=>(const Use &) const = default;
  };

  DeviceId choose(TaskId task) {
    collectUses(task);
    const DeviceId fixed = groups.find(task);
    DeviceId best;
    Score bestScore;
    for (size_t index = 0; index < numDevices; ++index) {
      DeviceId device(index);
      if (problem.table.duration(task, device) < 0 || (fixed.valid() && device != fixed))
        continue;
      ScheduleBuilder::Estimate estimate = builder.estimate(task, device);
      if (estimate.returned == ScheduleBuilder::kUnreachable)
        continue;
      Score score{estimate.returned, estimate.returned};
      estimateArrivals(task, device, estimate.finish);
      for (size_t use = 0; use < uses.size() && score.users <= bestScore.users;) {
        size_t next = use + 1;
        while (next < uses.size() && uses[next].user == uses[use].user)
          ++next;
        score.users =
            std::max(score.users, soonest({&uses[use], next - use}, task, device, estimate.finish));
        use = next;
      }
      if (!best.valid() || score < bestScore) {
        best = device;
        bestScore = score;
      }
    }
    return best;
  }

  /// The users of what `task` makes; the ones of highest rank if there are many.
  void collectUses(TaskId task) {
    uses.clear();
    std::span<const ValueId> values = graph.produced(task);
    for (uint32_t value = 0; value < values.size(); ++value)
      for (TaskId user : graph.users(values[value]))
        uses.push_back({user, value});
    if (uses.size() > mostUsers) {
      std::nth_element(uses.begin(), uses.begin() + ptrdiff_t(mostUsers), uses.end(),
                       [&](const Use &a, const Use &b) {
                         double ra = ranks[a.user.index()], rb = ranks[b.user.index()];
                         return ra != rb ? ra > rb : a < b;
                       });
      uses.resize(mostUsers);
    }
    if (values.size() > 1 || uses.size() == mostUsers)
      std::sort(uses.begin(), uses.end());
  }

  /// When each value that `task` makes can be where if it runs on `device` and ends at `finish`.
  void estimateArrivals(TaskId task, DeviceId device, int64_t finish) {
    if (uses.empty())
      return;
    arrivals.clear();
    for (ValueId value : graph.produced(task))
      for (size_t to = 0; to < numDevices; ++to)
        arrivals.push_back(builder.arrivalIfMade(value, device, finish, DeviceId(to)));
  }

  /// Earliest finish on any device of the user that all of `itsUses` name if `task` runs on
  /// `device` and ends at `finish`; operands whose producers have not been placed are left out.
  int64_t soonest(std::span<const Use> itsUses, TaskId task, DeviceId device, int64_t finish) {
    const TaskId user = itsUses.front().user;
    const uint32_t group = graph.task(user).colocationGroup;
    DeviceId only = groups.find(user);
    if (!only.valid() && group != kNoGroup && group == graph.task(task).colocationGroup)
      only = device;
    int64_t best = ScheduleBuilder::kNoLimit;
    for (size_t index = 0; index < numDevices; ++index) {
      DeviceId there(index);
      const int64_t duration = problem.table.duration(user, there);
      if (duration < 0 || (only.valid() && there != only))
        continue;
      int64_t ready = arrived[user.index() * numDevices + index];
      bool reachable = ready != ScheduleBuilder::kUnreachable;
      for (const Use &use : itsUses) {
        const int64_t arrival = arrivals[use.value * numDevices + index];
        reachable &= arrival != ScheduleBuilder::kUnreachable;
        ready = std::max(ready, arrival);
      }
      const int64_t rest = duration + homeTicks(problem, user, there);
      if (!reachable || ready + rest >= best)
        continue;
      int64_t start = builder.firstStart(user, there, ready);
      if (there == device)
        start = afterTask(user, task, device, finish, start);
      best = std::min(best, start + rest);
    }
    return best;
  }

  /// `start` of `user` on `device`, or later if it would overlap `task` (which ends there at
  /// `finish`) and both do not fit.
  int64_t afterTask(TaskId user, TaskId task, DeviceId device, int64_t finish,
                    int64_t start) const {
    const int64_t begin = finish - problem.table.duration(task, device);
    if (start >= finish || start + problem.table.duration(user, device) <= begin ||
        problem.table.share(user, device) + problem.table.share(task, device) <= kFullOccupancy)
      return start;
    return builder.firstStart(user, device, finish);
  }

  /// Notes for all users when `value`, made on `from`, can be where.
  void tellUsers(ValueId value, DeviceId from, int64_t made) {
    if (graph.users(value).empty())
      return;
    for (size_t index = 0; index < numDevices; ++index) {
      const int64_t arrival = builder.arrivalIfMade(value, from, made, DeviceId(index));
      for (TaskId user : graph.users(value)) {
        int64_t &time = arrived[user.index() * numDevices + index];
        if (time != ScheduleBuilder::kUnreachable)
          time = arrival == ScheduleBuilder::kUnreachable ? arrival : std::max(time, arrival);
      }
    }
  }

  const Problem &problem;
  const TaskGraph &graph;
  const size_t numDevices, mostUsers;
  ScheduleBuilder &builder;
  GroupDevices groups;
  const std::vector<double> ranks;
  std::vector<int64_t> arrived;  // [task][device]: when all operands made so far can be there
  std::vector<Use> uses;         // of the task in hand, by user
  std::vector<int64_t> arrivals; // [value of the task in hand][device]
};

} // namespace

bool placeLookahead(const Problem &problem, size_t mostUsers, ScheduleBuilder &builder) {
  return Lookahead(problem, mostUsers, builder).run();
}

} // namespace autopar::planning
