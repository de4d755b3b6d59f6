// The schedule file: reading and writing. Format: docs/schedule-format.md.
//
//   fixed header (magic, version, segment table with an XXH3 checksum per segment)
//   segment 0: the schedule as a FlatBuffer (schedule.fbs)       segment 1..: code images, constants, page-aligned
//
// Everything is checked before use: sizes, checksums, FlatBuffers verifier, ids, then CheckSchedule. A damaged file gives
// an error status with one sentence, never a crash and never a large allocation before its size was checked.
#ifndef AUTOPAR_RUNTIME_SCHEDULE_SCHEDULE_FILE_H_
#define AUTOPAR_RUNTIME_SCHEDULE_SCHEDULE_FILE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/schedule/schedule.h"

namespace autopar {

// A schedule that was read from a file and passed every check. Immutable, may be shared between threads. Owns the
// mapping of the file: constants() stays valid as long as this object.
class ScheduleFile {
 public:
  virtual ~ScheduleFile() = default;
  virtual const Schedule& schedule() const = 0;
  virtual absl::Span<const uint8_t> constants() const = 0;
};

// Maps and checks the file at `path`. NotFound, InvalidArgument (not a schedule, damaged, unsafe), FailedPrecondition
// (written by a newer format version).
absl::StatusOr<std::shared_ptr<const ScheduleFile>> ReadScheduleFile(const std::string& path);
// The same from bytes in memory, which must outlive the result (tests, embedding).
absl::StatusOr<std::shared_ptr<const ScheduleFile>> ReadScheduleBytes(absl::Span<const uint8_t> bytes);

// Writes beside `path` and renames, so that a reader never sees half a file. Does not check the schedule.
absl::Status WriteScheduleFile(const Schedule& schedule, const std::string& path);
absl::StatusOr<std::vector<uint8_t>> SerializeSchedule(const Schedule& schedule);

// The schedule as text, one command a line, for people and FileCheck (autopar-run --dump).
std::string DumpSchedule(const Schedule& schedule);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_SCHEDULE_SCHEDULE_FILE_H_
