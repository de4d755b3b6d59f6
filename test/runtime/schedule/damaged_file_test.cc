// Damaged files: whatever the bytes, reading them gives a sentence or a schedule that passed every check; never a crash.
// Run under AddressSanitizer and UndefinedBehaviorSanitizer too. Seeds are consecutive from 1.
#include <gtest/gtest.h>

#include <random>

#include "absl/strings/match.h"
#include "runtime/schedule/checker.h"
#include "runtime/schedule/file_layout.h"
#include "runtime/schedule/schedule_file.h"
#include "test/runtime/schedule/schedule_builder.h"

namespace autopar {
namespace {

constexpr uint32_t kFlips = 10000;

const std::vector<uint8_t>& SampleFile() {
  static const std::vector<uint8_t> file = SerializeSchedule(SampleSchedule()).value();
  return file;
}

// A sentence: one line, ended by no newline, of a code that the header names.
void ExpectSentence(const absl::Status& status) {
  EXPECT_TRUE(status.code() == absl::StatusCode::kInvalidArgument ||
              status.code() == absl::StatusCode::kFailedPrecondition)
      << status;
  EXPECT_GE(status.message().size(), 20u) << status;
  EXPECT_FALSE(absl::StrContains(status.message(), "\n")) << status;
}

// Reads from memory of exactly that size, so that AddressSanitizer sees a read past its end.
absl::StatusOr<std::shared_ptr<const ScheduleFile>> Read(const std::vector<uint8_t>& bytes) {
  return ReadScheduleBytes(absl::MakeConstSpan(bytes.data(), bytes.size()));
}

// What was accepted is walked through as a user of it would, and read back from its own new file.
void ExpectUsable(const ScheduleFile& file) {
  const Schedule& schedule = file.schedule();
  EXPECT_TRUE(CheckSchedule(schedule, file.constants().size()).ok());
  EXPECT_FALSE(DumpSchedule(schedule).empty());
  Schedule copy = schedule;
  copy.constants.assign(file.constants().begin(), file.constants().end());
  auto with_constants = SerializeSchedule(copy);
  ASSERT_TRUE(with_constants.ok());
  auto reread = Read(*with_constants);
  ASSERT_TRUE(reread.ok()) << reread.status();
  EXPECT_TRUE(SameSchedule((*reread)->schedule(), schedule));
}

// A position outside of the zeros between the segments: those are checked anyway.
uint64_t PositionWithinSegments(std::mt19937_64& random, const std::vector<Segment>& segments) {
  uint64_t total = kSegmentTableOffset + segments.size() * kSegmentEntryBytes;
  const uint64_t header = total;
  for (const Segment& segment : segments) total += segment.bytes;
  uint64_t at = random() % total;
  if (at < header) return at;
  at -= header;
  for (const Segment& segment : segments) {
    if (at < segment.bytes) return segment.offset + at;
    at -= segment.bytes;
  }
  return 0;
}

TEST(DamagedFile, EveryTruncationIsRefused) {
  for (uint64_t size = 0; size < SampleFile().size(); ++size) {
    const auto file = Read(std::vector<uint8_t>(SampleFile().begin(), SampleFile().begin() + size));
    ASSERT_FALSE(file.ok()) << size;
    ExpectSentence(file.status());
  }
}

TEST(DamagedFile, EveryTruncationWithRepairedSizesIsRefused) {
  for (uint64_t size = kSegmentTableOffset; size < SampleFile().size(); ++size) {
    std::vector<uint8_t> bytes(SampleFile().begin(), SampleFile().begin() + size);
    std::memcpy(bytes.data() + kFileBytesOffset, &size, sizeof(size));
    RepairChecksums(bytes);
    const auto file = Read(bytes);
    ASSERT_FALSE(file.ok()) << size;
    ExpectSentence(file.status());
  }
}

TEST(DamagedFile, TrailingBytesAreRefused) {
  std::vector<uint8_t> bytes = SampleFile();
  bytes.push_back(0);
  ExpectSentence(Read(bytes).status());
}

// Every byte of the file is covered by a checksum or must be zero.
TEST(DamagedFile, EveryFlippedByteIsRefused) {
  for (uint32_t seed = 1; seed <= kFlips; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<uint8_t> bytes = SampleFile();
    const uint64_t at = random() % bytes.size();
    bytes[at] ^= 1 + random() % 255;
    const auto file = Read(bytes);
    ASSERT_FALSE(file.ok()) << "seed " << seed << ", byte " << at;
    ExpectSentence(file.status());
  }
}

TEST(DamagedFile, FlippedBytesWithRepairedChecksumsAreRefusedOrSafe) {
  const auto segments = DecodeFile(SampleFile()).value();
  int accepted = 0;
  for (uint32_t seed = 1; seed <= kFlips; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    std::vector<uint8_t> bytes = SampleFile();
    // Mostly one byte: the more are flipped, the earlier the file is refused.
    const uint64_t flips = random() % 4 != 0 ? 1 : 1 + random() % 8;
    for (uint64_t i = 0; i < flips; ++i) bytes[PositionWithinSegments(random, segments)] ^= 1 + random() % 255;
    RepairChecksums(bytes);
    const auto file = Read(bytes);
    if (file.ok()) {
      ++accepted;
      ExpectUsable(**file);
    } else {
      ExpectSentence(file.status());
    }
    if (testing::Test::HasFailure()) return;
  }
  // Labels, times, constants and the like may be anything; most of the rest may not.
  EXPECT_GT(accepted, 100);
  EXPECT_LT(accepted, static_cast<int>(kFlips) / 2);
  std::printf("accepted %d of %u\n", accepted, kFlips);
}

// The values that break arithmetic, in every aligned word of the schedule segment.
TEST(DamagedFile, ExtremeWordsWithRepairedChecksumsAreRefusedOrSafe) {
  const Segment segment = DecodeFile(SampleFile()).value()[0];
  for (uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{0x7fffffff}, uint64_t{0x80000000}, uint64_t{0xffffffff},
                         uint64_t{1} << 62, uint64_t{1} << 63, ~uint64_t{0} >> 1, ~uint64_t{0}}) {
    for (uint64_t size : {4u, 8u}) {
      if (size == 4 && value >> 32 != 0) continue;
      for (uint64_t at = segment.offset; at + size <= segment.offset + segment.bytes; at += 4) {
        SCOPED_TRACE(testing::Message() << "value " << value << " at " << at << ", " << size << " bytes");
        std::vector<uint8_t> bytes = SampleFile();
        std::memcpy(bytes.data() + at, &value, size);
        RepairChecksums(bytes);
        const auto file = Read(bytes);
        if (file.ok()) {
          ExpectUsable(**file);
        } else {
          ExpectSentence(file.status());
        }
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace autopar
