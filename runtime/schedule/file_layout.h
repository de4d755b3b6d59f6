// How a schedule file is laid out on disk: fixed header, segment table, segments. Pure functions
// over bytes in memory, shared by reader and writer; docs/schedule-format.md is the same in words.
// All integers are little-endian.
#ifndef AUTOPAR_RUNTIME_SCHEDULE_FILE_LAYOUT_H_
#define AUTOPAR_RUNTIME_SCHEDULE_FILE_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace autopar {

inline constexpr uint8_t kScheduleMagic[8] = {0x89, 'A', 'P', 'S', 'C', 'H', 'E', 'D'};
// Raised by every change that an older reader could misunderstand. A reader reads all versions up
// to its own.
inline constexpr uint32_t kScheduleFormatVersion = 1;

// Offsets within the fixed header.
inline constexpr uint64_t kVersionOffset = 8;
inline constexpr uint64_t kSegmentCountOffset = 12;
inline constexpr uint64_t kFileBytesOffset = 16;
inline constexpr uint64_t kHeaderChecksumOffset =
    24;  // XXH3 of header and segment table with this field as zero
inline constexpr uint64_t kSegmentTableOffset = 32;
inline constexpr uint64_t kSegmentEntryBytes =
    32;  // u32 kind, u32 zero, u64 offset, u64 bytes, u64 checksum

// In this order in the file: one schedule, one code segment per module, at most one constants
// segment.
enum class SegmentKind : uint32_t { kSchedule = 0, kCode = 1, kConstants = 2 };

struct Segment {
  SegmentKind kind = SegmentKind::kSchedule;
  uint64_t offset = 0;  // from the start of the file
  uint64_t bytes = 0;
  uint64_t checksum = 0;  // XXH3 of the bytes
};

// XXH3, 64 bits, seed 0.
uint64_t ScheduleChecksum(absl::Span<const uint8_t> bytes);

// Gives the segments their offsets, in order: each starts at the first multiple of its kind's
// alignment (64 for the schedule, 4096 for the others) after its predecessor. Returns the size of
// the file.
uint64_t PlaceSegments(std::vector<Segment>& segments);

// Header and segment table, checksum included.
std::vector<uint8_t> EncodeHeader(const std::vector<Segment>& segments, uint64_t file_bytes);

// The segment table of a whole file, after magic, version, sizes, header checksum, placement, the
// zeros between the segments and each segment's checksum were checked. FailedPrecondition for a
// newer version, else InvalidArgument.
absl::StatusOr<std::vector<Segment>> DecodeFile(absl::Span<const uint8_t> file);

// The bytes of one segment of a decoded file.
absl::Span<const uint8_t> SegmentBytes(absl::Span<const uint8_t> file, const Segment& segment);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_SCHEDULE_FILE_LAYOUT_H_
