// The checker against a second opinion that is too slow for use and too simple to be wrong: every pair of commands,
// every byte. Random schedules over a few bytes, with strided regions of clashing pitches. Seeds are consecutive from 1.
#include <gtest/gtest.h>

#include <bitset>
#include <optional>
#include <random>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/schedule/access_map.h"
#include "runtime/schedule/checker.h"
#include "runtime/schedule/schedule_file.h"
#include "test/runtime/schedule/schedule_builder.h"

namespace autopar {
namespace {

constexpr size_t kBytes = 96;
using ByteSet = std::bitset<kBytes>;

ByteSet BytesOf(const Region& region) {
  ByteSet bytes;
  for (uint64_t row = 0; row < region.rows; ++row) {
    for (uint64_t i = 0; i < region.row_bytes; ++i) bytes.set(region.offset + row * region.row_stride + i);
  }
  return bytes;
}

// Happens-before as a set of pairs: a command follows its predecessor on the stream and, if a wait, the record.
std::vector<std::vector<bool>> Closure(const Function& function) {
  const size_t count = function.commands.size();
  std::vector<std::vector<bool>> before(count, std::vector<bool>(count));
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < i; ++j) {
      const Command &a = function.commands[j], &b = function.commands[i];
      const bool is_edge = a.stream == b.stream || (a.kind == CommandKind::kRecord && b.kind == CommandKind::kWait &&
                                                    a.event == b.event);
      if (!is_edge) continue;
      before[j][i] = true;
      for (size_t k = 0; k < j; ++k) {
        if (before[k][j]) before[k][i] = true;
      }
    }
  }
  return before;
}

struct Touch {
  uint32_t command;
  ByteSet bytes;
  bool is_write;
};

// The first command that is not safe, or none.
std::optional<uint32_t> SlowCheck(const Function& function) {
  const auto before = Closure(function);
  ByteSet defined;
  std::vector<Touch> touches;  // of the one arena
  for (uint32_t i = 0; i < function.commands.size(); ++i) {
    const Command& command = function.commands[i];
    for (const TokenEdge& edge : function.token_edges) {
      if (edge.after == i && !before[edge.before][i]) return i;
    }
    for (size_t k = 0; k < size_t{command.reads} + command.writes + command.scratch; ++k) {
      const Region& region = function.regions[command.first_region + k];
      const ByteSet bytes = BytesOf(region);
      const bool is_write = k >= command.reads, is_scratch = k >= size_t{command.reads} + command.writes;
      if (!is_write && (bytes & ~defined).any()) return i;
      for (const Touch& touch : touches) {
        if ((touch.bytes & bytes).none() || (!touch.is_write && !is_write)) continue;
        if (touch.command != i) {
          if (!before[touch.command][i]) return i;
        } else if (touch.is_write || is_scratch || touch.bytes != bytes) {
          return i;
        }
      }
      touches.push_back({i, bytes, is_write});
      if (is_write) defined = is_scratch ? defined & ~bytes : defined | bytes;
    }
  }
  return std::nullopt;
}

// Regions come from a small set, as those of a program do, so that accesses meet.
std::vector<Region> SomeRegions(std::mt19937& random, SpaceId arena) {
  const auto pick = [&](uint64_t low, uint64_t high) { return std::uniform_int_distribution<uint64_t>(low, high)(random); };
  const uint64_t pitches[] = {pick(2, 20), pick(2, 20)};
  std::vector<Region> regions;
  while (regions.size() < 6) {
    if (pick(0, 2) == 0) {
      const uint64_t offset = pick(0, kBytes), bytes = pick(0, kBytes - offset);
      regions.push_back(Bytes(arena, offset, bytes));
      continue;
    }
    const uint64_t pitch = pitches[pick(0, 1)], width = pick(1, pitch), rows = pick(1, kBytes / pitch);
    const uint64_t extent = (rows - 1) * pitch + width;
    regions.push_back(Strided(arena, pick(0, kBytes - extent), width, pitch, rows));
  }
  return regions;
}

Schedule RandomSchedule(uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&](uint64_t low, uint64_t high) { return std::uniform_int_distribution<uint64_t>(low, high)(random); };
  ScheduleBuilder b;
  const SpaceId arena = b.Arena(ScheduleBuilder::kCpu, kBytes);
  std::vector<StreamId> streams;
  for (uint32_t i = 0; i < pick(1, 4); ++i) streams.push_back(b.Compute(ScheduleBuilder::kCpu, i));
  const auto stream = [&] { return streams[pick(0, streams.size() - 1)]; };
  const std::vector<Region> regions = SomeRegions(random, arena);
  const auto some = [&](uint64_t low, uint64_t high) {
    std::vector<Region> chosen;
    for (uint64_t i = pick(low, high); i > 0; --i) chosen.push_back(regions[pick(0, regions.size() - 1)]);
    return chosen;
  };
  if (pick(0, 3) != 0) {
    // Most read before a write: define everything first, for all streams.
    b.Launch(streams[0], {}, {Bytes(arena, 0, kBytes)});
    for (StreamId other : streams) b.Join(streams[0], other);
  }
  const uint64_t commands = pick(4, 40), joins = pick(0, 6);
  std::vector<EventId> events;
  std::vector<uint32_t> launches;
  while (b.function().commands.size() < commands) {
    if (pick(0, 6) < joins) {
      b.Join(stream(), stream());
    } else if (pick(0, 9) == 0) {
      b.Record(stream(), &events.emplace_back());
    } else if (pick(0, 9) == 0 && !events.empty()) {
      b.Wait(stream(), events[pick(0, events.size() - 1)]);
    } else {
      if (!launches.empty() && pick(0, 15) == 0) {
        b.Order(launches[pick(0, launches.size() - 1)], static_cast<uint32_t>(b.function().commands.size()));
      }
      launches.push_back(
          b.Launch(stream(), some(0, 2), some(0, 1), pick(0, 5) == 0 ? some(1, 1) : std::vector<Region>()));
    }
  }
  return b.schedule();
}

TEST(ScheduleCheckerFuzz, AgreesWithCheckingEveryByteOfEveryPair) {
  int accepted = 0, refused_late = 0;
  const uint32_t seeds = WantsFullTests() ? 1000000 : 10000;
  for (uint32_t seed = 1; seed <= seeds; ++seed) {
    const Schedule schedule = RandomSchedule(seed);
    const std::optional<uint32_t> first_bad = SlowCheck(schedule.functions[0]);
    const absl::Status status = CheckSchedule(schedule, 0);
    ASSERT_EQ(status.ok(), !first_bad.has_value())
        << "seed " << seed << ": " << status << (first_bad ? absl::StrCat("; command ", *first_bad, " is not safe") : "")
        << "\n" << DumpSchedule(schedule);
    if (first_bad) {
      ASSERT_TRUE(absl::StartsWith(std::string(status.message()), absl::StrCat("function 'main': command ", *first_bad, " ")))
          << "seed " << seed << ": " << status << "; the first command that is not safe is " << *first_bad << "\n"
          << DumpSchedule(schedule);
    }
    accepted += first_bad ? 0 : 1;
    refused_late += first_bad && *first_bad > 8 ? 1 : 0;
  }
  // The schedules must be worth checking: neither all bad nor all trivial.
  EXPECT_GT(accepted, static_cast<int>(seeds) / 20);
  EXPECT_GT(refused_late, static_cast<int>(seeds) / 20);
  std::printf("accepted %d, refused behind the first 8 commands %d, of %u\n", accepted, refused_late, seeds);
}

// Without a budget for taking rows apart the map may ask for too much order, never for too little.
TEST(ScheduleCheckerFuzz, MapWithoutBudgetMissesNothing) {
  int false_alarms = 0, faults = 0;
  for (uint32_t seed = 1; seed <= 10000; ++seed) {
    const Schedule schedule = RandomSchedule(seed);
    const Function& function = schedule.functions[0];
    std::optional<uint32_t> found;
    AccessMap map(kBytes, /*max_expanded_pieces=*/0);
    CommandOrder order(function);
    for (uint32_t i = 0; i < function.commands.size() && !found; ++i) {
      order.Advance();
      const Command& command = function.commands[i];
      const auto reads = absl::MakeConstSpan(function.regions).subspan(command.first_region, command.reads);
      for (size_t k = 0; k < size_t{command.reads} + command.writes + command.scratch && !found; ++k) {
        const AccessKind kind = k < command.reads                              ? AccessKind::kRead
                                : k < size_t{command.reads} + command.writes ? AccessKind::kWrite
                                                                               : AccessKind::kScratch;
        if (map.Access(function.regions[command.first_region + k], kind, order,
                       kind == AccessKind::kWrite ? reads : absl::Span<const Region>())) {
          found = i;
        }
      }
    }
    // Tokens are not the map's business.
    Function without_tokens = function;
    without_tokens.token_edges.clear();
    const std::optional<uint32_t> bad_access = SlowCheck(without_tokens);
    if (bad_access) {
      ++faults;
      ASSERT_TRUE(found && *found <= *bad_access) << "seed " << seed << "\n" << DumpSchedule(schedule);
    } else if (found) {
      ++false_alarms;
    }
  }
  EXPECT_GT(faults, 1000);
  EXPECT_LT(false_alarms, 10000 / 20);
  std::printf("faults %d, false alarms %d\n", faults, false_alarms);
}

}  // namespace
}  // namespace autopar
