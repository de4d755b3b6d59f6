#include "runtime/schedule/file_layout.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

namespace autopar {
namespace {

static_assert(std::endian::native == std::endian::little, "the schedule file is read in place");

uint64_t Alignment(SegmentKind kind) { return kind == SegmentKind::kSchedule ? 64 : 4096; }

uint64_t AlignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

template <class T>
T Load(absl::Span<const uint8_t> bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <class T>
void Store(std::vector<uint8_t>& bytes, uint64_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

template <class... Parts>
absl::Status Damaged(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("the schedule file is damaged: ", parts...,
                                                 "; write it again with autopar-opt"));
}

absl::Status CheckZeros(absl::Span<const uint8_t> file, uint64_t begin, uint64_t end) {
  for (uint64_t at = begin; at < end; ++at) {
    if (file[at] != 0) return Damaged("byte ", at, " between two segments is not zero");
  }
  return absl::OkStatus();
}

absl::Status CheckHeader(absl::Span<const uint8_t> file) {
  if (file.size() < kSegmentTableOffset ||
      std::memcmp(file.data(), kScheduleMagic, sizeof(kScheduleMagic)) != 0) {
    return absl::InvalidArgumentError(
        file.empty()
            ? "the file is empty, not a schedule file; write one with autopar-opt -o NAME.sched"
            : "the file is not a schedule file; write one with autopar-opt -o NAME.sched");
  }
  const auto version = Load<uint32_t>(file, kVersionOffset);
  if (version > kScheduleFormatVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("the schedule file has format version ", version,
                     " and this program reads versions up to ", kScheduleFormatVersion,
                     "; use a newer autopar-run, or write the file with an older autopar-opt"));
  }
  if (version == 0) return Damaged("its format version is 0");
  const auto file_bytes = Load<uint64_t>(file, kFileBytesOffset);
  if (file_bytes != file.size()) {
    return Damaged("it has ", file.size(), " bytes, and its header says ", file_bytes);
  }
  const auto count = Load<uint32_t>(file, kSegmentCountOffset);
  const uint64_t header_bytes = kSegmentTableOffset + count * kSegmentEntryBytes;
  if (count == 0 || header_bytes > file.size())
    return Damaged("its header counts ", count, " segments");
  std::vector<uint8_t> header(file.begin(), file.begin() + header_bytes);
  Store<uint64_t>(header, kHeaderChecksumOffset, 0);
  if (ScheduleChecksum(header) != Load<uint64_t>(file, kHeaderChecksumOffset)) {
    return Damaged("the checksum of its header is wrong");
  }
  return absl::OkStatus();
}

absl::Status CheckOrderOfKinds(const std::vector<Segment>& segments) {
  for (size_t i = 0; i < segments.size(); ++i) {
    const bool is_last = i + 1 == segments.size();
    const SegmentKind kind = segments[i].kind;
    const bool fits =
        i == 0 ? kind == SegmentKind::kSchedule
               : kind == SegmentKind::kCode || (kind == SegmentKind::kConstants && is_last);
    if (!fits) return Damaged("segment ", i, " has kind ", static_cast<uint32_t>(kind));
  }
  return absl::OkStatus();
}

}  // namespace

uint64_t ScheduleChecksum(absl::Span<const uint8_t> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

uint64_t PlaceSegments(std::vector<Segment>& segments) {
  uint64_t end = kSegmentTableOffset + segments.size() * kSegmentEntryBytes;
  for (Segment& segment : segments) {
    segment.offset = AlignUp(end, Alignment(segment.kind));
    end = segment.offset + segment.bytes;
  }
  return end;
}

std::vector<uint8_t> EncodeHeader(const std::vector<Segment>& segments, uint64_t file_bytes) {
  std::vector<uint8_t> header(kSegmentTableOffset + segments.size() * kSegmentEntryBytes);
  std::copy(std::begin(kScheduleMagic), std::end(kScheduleMagic), header.begin());
  Store<uint32_t>(header, kVersionOffset, kScheduleFormatVersion);
  Store<uint32_t>(header, kSegmentCountOffset, static_cast<uint32_t>(segments.size()));
  Store<uint64_t>(header, kFileBytesOffset, file_bytes);
  uint64_t at = kSegmentTableOffset;
  for (const Segment& segment : segments) {
    Store<uint32_t>(header, at, static_cast<uint32_t>(segment.kind));
    Store<uint64_t>(header, at + 8, segment.offset);
    Store<uint64_t>(header, at + 16, segment.bytes);
    Store<uint64_t>(header, at + 24, segment.checksum);
    at += kSegmentEntryBytes;
  }
  Store<uint64_t>(header, kHeaderChecksumOffset, ScheduleChecksum(header));
  return header;
}

absl::StatusOr<std::vector<Segment>> DecodeFile(absl::Span<const uint8_t> file) {
  if (absl::Status status = CheckHeader(file); !status.ok()) return status;
  std::vector<Segment> segments(Load<uint32_t>(file, kSegmentCountOffset));
  uint64_t end = kSegmentTableOffset + segments.size() * kSegmentEntryBytes;
  for (size_t i = 0; i < segments.size(); ++i) {
    const uint64_t at = kSegmentTableOffset + i * kSegmentEntryBytes;
    Segment& segment = segments[i];
    segment.kind = static_cast<SegmentKind>(Load<uint32_t>(file, at));
    segment.offset = Load<uint64_t>(file, at + 8);
    segment.bytes = Load<uint64_t>(file, at + 16);
    segment.checksum = Load<uint64_t>(file, at + 24);
    if (Load<uint32_t>(file, at + 4) != 0)
      return Damaged("a reserved field of segment ", i, " is not zero");
    // `end` never exceeds the size of the file, so nothing here overflows.
    if (segment.offset != AlignUp(end, Alignment(segment.kind)) || segment.offset > file.size() ||
        segment.bytes > file.size() - segment.offset) {
      return Damaged("segment ", i, " is said to be ", segment.bytes, " bytes at ", segment.offset);
    }
    if (absl::Status status = CheckZeros(file, end, segment.offset); !status.ok()) return status;
    end = segment.offset + segment.bytes;
  }
  if (end != file.size()) return Damaged(file.size() - end, " bytes follow its last segment");
  if (absl::Status status = CheckOrderOfKinds(segments); !status.ok()) return status;
  for (size_t i = 0; i < segments.size(); ++i) {
    if (ScheduleChecksum(SegmentBytes(file, segments[i])) != segments[i].checksum) {
      return Damaged("the checksum of segment ", i, " is wrong");
    }
  }
  return segments;
}

absl::Span<const uint8_t> SegmentBytes(absl::Span<const uint8_t> file, const Segment& segment) {
  return file.subspan(segment.offset, segment.bytes);
}

}  // namespace autopar
