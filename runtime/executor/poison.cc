#include "runtime/executor/poison.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace autopar {
namespace {

// Calls use(command index, region) for every region that a command may write.
template <class Use>
void ForEachWrite(const Function& function, const Use& use) {
  for (uint32_t i = 0; i < function.commands.size(); ++i) {
    const Command& command = function.commands[i];
    if (command.kind != CommandKind::kLaunch && command.kind != CommandKind::kCopy) continue;
    uint32_t first = command.first_region + command.reads;
    for (uint32_t r = 0; r < uint32_t{command.writes} + command.scratch; ++r) {
      use(i, function.regions[first + r]);
    }
  }
}

bool IsArenaOf(const Function& function, const Region& region, DeviceId device) {
  const Space& space = function.spaces[region.space.index()];
  return space.kind == SpaceKind::kArena && space.device == device;
}

}  // namespace

PoisonedArena::PoisonedArena(const Schedule& schedule, const Function& function, DeviceId device,
                             DeviceBackend& backend, DeviceMemory& memory, uint64_t arena_bytes)
    : schedule_(schedule),
      function_(function),
      device_(device),
      backend_(backend),
      memory_(memory),
      arena_bytes_(arena_bytes),
      writable_(arena_bytes + 2 * kPoisonMargin, false),
      expected_(arena_bytes + 2 * kPoisonMargin) {
  ForEachWrite(function, [&](uint32_t, const Region& region) {
    if (IsArenaOf(function, region, device)) Cover(region);
  });
  for (uint64_t i = 0; i < expected_.size(); ++i) {
    uint32_t word = 0xffc00000u | (static_cast<uint32_t>(i / 4) * 2654435761u >> 10);
    expected_[i] = static_cast<std::byte>(word >> (i % 4 * 8));
  }
}

void PoisonedArena::Cover(const Region& region) {
  if (region.row_bytes == 0) return;
  for (uint64_t row = 0; row < region.rows; ++row) {
    auto begin = writable_.begin() + static_cast<int64_t>(kPoisonMargin + region.offset +
                                                          row * region.row_stride);
    std::fill(begin, begin + static_cast<int64_t>(region.row_bytes), true);
  }
}

absl::Status PoisonedArena::Fill() {
  return backend_.CopyIn(memory_.base(), expected_.data(), expected_.size());
}

absl::Status PoisonedArena::Verify() {
  std::vector<std::byte> found(expected_.size());
  AUTOPAR_RETURN_IF_ERROR(backend_.CopyOut(found.data(), memory_.base(), found.size()));
  auto changed = [&](uint64_t i) { return !writable_[i] && found[i] != expected_[i]; };
  for (uint64_t i = 0; i < found.size(); ++i) {
    if (!changed(i)) continue;
    // Bytes that were overwritten with what they held before do not end the range.
    constexpr uint64_t kGap = 64;
    uint64_t end = i + 1;
    for (uint64_t j = end; j < found.size() && j < end + kGap; ++j) {
      if (changed(j)) end = j + 1;
    }
    return Describe(i, end);
  }
  return absl::OkStatus();
}

absl::Status PoisonedArena::Describe(uint64_t begin, uint64_t end) const {
  // Positions relative to the arena; those in front of it are negative.
  int64_t first = static_cast<int64_t>(begin) - static_cast<int64_t>(kPoisonMargin);
  int64_t last = static_cast<int64_t>(end) - static_cast<int64_t>(kPoisonMargin);
  int64_t nearest = std::numeric_limits<int64_t>::max();
  uint32_t suspect = 0;
  ForEachWrite(function_, [&](uint32_t command, const Region& region) {
    if (!IsArenaOf(function_, region, device_) || region.rows == 0 || region.row_bytes == 0) return;
    int64_t region_begin = static_cast<int64_t>(region.offset);
    int64_t region_end = region_begin + static_cast<int64_t>((region.rows - 1) * region.row_stride +
                                                             region.row_bytes);
    int64_t distance = std::max<int64_t>({first - region_end, region_begin - last, 0});
    if (distance >= nearest) return;
    nearest = distance;
    suspect = command;
  });
  std::string hint;
  if (nearest != std::numeric_limits<int64_t>::max()) {
    uint32_t label = function_.commands[suspect].label;
    hint = absl::StrCat("; command ", suspect,
                        label < schedule_.strings.size()
                            ? absl::StrCat(" (", schedule_.strings[label], ")")
                            : std::string(),
                        " writes nearest to them");
  }
  return absl::DataLossError(absl::StrCat(
      "function '", function_.name, "': bytes [", first, ", ", last, ") of the arena of ",
      schedule_.machine.devices[device_.index()].name, " (", arena_bytes_,
      " bytes) belong to no command's results but were written", hint));
}

}  // namespace autopar
