// Writing and reading back: what a file keeps, and what the reader says about files that are none.
#include "runtime/schedule/schedule_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "runtime/schedule/checker.h"
#include "runtime/schedule/file_layout.h"
#include "test/runtime/schedule/schedule_builder.h"

namespace autopar {
namespace {

std::string TemporaryPath(const std::string& name) {
  return testing::TempDir() + "/schedule_file_test." + std::to_string(getpid()) + "." + name;
}

std::vector<uint8_t> Serialize(const Schedule& schedule) {
  auto bytes = SerializeSchedule(schedule);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return *bytes;
}

TEST(ScheduleFile, SampleIsSafe) {
  const Schedule schedule = SampleSchedule();
  EXPECT_TRUE(CheckSchedule(schedule, schedule.constants.size()).ok())
      << CheckSchedule(schedule, schedule.constants.size());
}

TEST(ScheduleFile, EverythingIsReadBack) {
  const Schedule schedule = SampleSchedule();
  const std::vector<uint8_t> bytes = Serialize(schedule);
  auto file = ReadScheduleBytes(bytes);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(SameSchedule((*file)->schedule(), schedule));
  EXPECT_EQ(DumpSchedule((*file)->schedule()), DumpSchedule(schedule));
  EXPECT_EQ((*file)->constants(), absl::MakeConstSpan(schedule.constants));
  EXPECT_TRUE((*file)->schedule().constants.empty());
}

TEST(ScheduleFile, WritingAgainGivesTheSameBytes) {
  Schedule schedule = SampleSchedule();
  const std::vector<uint8_t> bytes = Serialize(schedule);
  auto file = ReadScheduleBytes(bytes);
  ASSERT_TRUE(file.ok()) << file.status();
  Schedule again = (*file)->schedule();
  again.constants.assign((*file)->constants().begin(), (*file)->constants().end());
  EXPECT_EQ(Serialize(again), bytes);
}

TEST(ScheduleFile, FileOnDiskIsTheSerializedBytes) {
  const std::string path = TemporaryPath("disk.sched");
  ASSERT_TRUE(WriteScheduleFile(SampleSchedule(), path).ok());
  std::ifstream in(path, std::ios::binary);
  const std::vector<uint8_t> on_disk{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(on_disk, Serialize(SampleSchedule()));
  auto file = ReadScheduleFile(path);
  ASSERT_TRUE(file.ok()) << file.status();
  std::filesystem::remove(path);
  // The mapping outlives the name.
  EXPECT_EQ((*file)->constants(), absl::MakeConstSpan(SampleSchedule().constants));
  EXPECT_EQ(reinterpret_cast<uintptr_t>((*file)->constants().data()) % 4096, 0u);
}

TEST(ScheduleFile, SegmentsOfCodeAndConstantsArePageAligned) {
  auto segments = DecodeFile(Serialize(SampleSchedule()));
  ASSERT_TRUE(segments.ok());
  ASSERT_EQ(segments->size(), 4u);
  EXPECT_EQ((*segments)[1].kind, SegmentKind::kCode);
  EXPECT_EQ((*segments)[3].kind, SegmentKind::kConstants);
  for (size_t i = 1; i < segments->size(); ++i) EXPECT_EQ((*segments)[i].offset % 4096, 0u);
}

TEST(ScheduleFile, BytesAtAnOddAddressAreRead) {
  const std::vector<uint8_t> bytes = Serialize(SampleSchedule());
  std::vector<uint8_t> shifted = bytes;
  shifted.insert(shifted.begin(), 0);
  auto file = ReadScheduleBytes(absl::MakeConstSpan(shifted).subspan(1));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(SameSchedule((*file)->schedule(), SampleSchedule()));
}

TEST(ScheduleFile, EmptyScheduleIsLegal) {
  ScheduleBuilder b;
  auto file = ReadScheduleBytes(Serialize(b.schedule()));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE((*file)->constants().empty());
  EXPECT_NE((*file)->schedule().FindFunction("main"), nullptr);
  EXPECT_EQ((*file)->schedule().FindFunction("other"), nullptr);
  b.schedule().functions.clear();
  EXPECT_TRUE(ReadScheduleBytes(Serialize(b.schedule())).ok());
}

TEST(ScheduleFile, FileIsReplacedAsAWhole) {
  const std::string path = TemporaryPath("replaced.sched");
  ASSERT_TRUE(WriteScheduleFile(SampleSchedule(), path).ok());
  auto before = ReadScheduleFile(path);
  ScheduleBuilder b;
  ASSERT_TRUE(WriteScheduleFile(b.schedule(), path).ok());
  auto after = ReadScheduleFile(path);
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_TRUE(SameSchedule((*before)->schedule(), SampleSchedule()));
  EXPECT_EQ((*before)->constants(), absl::MakeConstSpan(SampleSchedule().constants));
  EXPECT_TRUE(SameSchedule((*after)->schedule(), b.schedule()));
  std::filesystem::remove(path);
}

TEST(ScheduleFile, NothingIsLeftWhereWritingFails) {
  const std::string folder = TemporaryPath("folder");
  std::filesystem::create_directories(folder + "/taken.sched");
  // The target is a folder: the rename fails after the file was written.
  const absl::Status status = WriteScheduleFile(SampleSchedule(), folder + "/taken.sched");
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(absl::StrContains(std::string(status.message()), "taken.sched")) << status;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove_all(folder);
  EXPECT_FALSE(WriteScheduleFile(SampleSchedule(), folder + "/no/such/folder.sched").ok());
}

TEST(ScheduleFile, NewFileHasTheRightsOfTheMask) {
  const std::string path = TemporaryPath("rights.sched");
  const mode_t mask = umask(022);
  ASSERT_TRUE(WriteScheduleFile(SampleSchedule(), path).ok());
  umask(mask);
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0644u);
  std::filesystem::remove(path);
}

TEST(ScheduleFile, MissingFileIsNotFound) {
  const auto file = ReadScheduleFile("/no/such/file.sched");
  EXPECT_EQ(file.status().code(), absl::StatusCode::kNotFound) << file.status();
  EXPECT_TRUE(absl::StrContains(std::string(file.status().message()), "/no/such/file.sched"));
}

TEST(ScheduleFile, FolderAndPipeAreRefused) {
  EXPECT_EQ(ReadScheduleFile("/tmp").status().code(), absl::StatusCode::kInvalidArgument);
  const std::string path = TemporaryPath("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(ReadScheduleFile(path).status().code(), absl::StatusCode::kInvalidArgument);
  std::filesystem::remove(path);
}

TEST(ScheduleFile, OtherFilesAreRefused) {
  const std::string path = TemporaryPath("text.sched");
  for (const char* text : {"", "x", "func.func @main() { return } // not a schedule file at all"}) {
    std::ofstream(path, std::ios::trunc) << text;
    const auto file = ReadScheduleFile(path);
    EXPECT_EQ(file.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_TRUE(absl::StrContains(std::string(file.status().message()), "not a schedule file")) << file.status();
  }
  std::filesystem::remove(path);
}

TEST(ScheduleFile, NewerVersionIsAFailedPrecondition) {
  std::vector<uint8_t> bytes = Serialize(SampleSchedule());
  bytes[kVersionOffset] = kScheduleFormatVersion + 1;
  const auto file = ReadScheduleBytes(bytes);
  EXPECT_EQ(file.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(std::string(file.status().message()), "version 2")) << file.status();
}

TEST(ScheduleFile, CallOfASubScheduleIsRefusedWithASentence) {
  Schedule schedule = SampleSchedule();
  schedule.functions[0].commands[1].kind = static_cast<CommandKind>(4);  // reserved: CommandKind::Call of schedule.fbs
  const auto file = ReadScheduleBytes(Serialize(schedule));
  EXPECT_EQ(file.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(std::string(file.status().message()), "sub-schedule")) << file.status();
}

TEST(ScheduleFile, UnsafeScheduleIsRefusedOnReading) {
  Schedule schedule = SampleSchedule();
  schedule.functions[0].regions[0].offset = 1;  // out of bounds
  EXPECT_EQ(ReadScheduleBytes(Serialize(schedule)).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ScheduleFile, MissingCodeSegmentIsRefused) {
  Schedule schedule = SampleSchedule();
  schedule.modules.pop_back();
  schedule.kernels[0].codes.pop_back();
  std::vector<uint8_t> bytes = Serialize(schedule);
  auto segments = DecodeFile(bytes);
  ASSERT_TRUE(segments.ok());
  // The first module's segment becomes the constants, which then stand there twice.
  bytes[kSegmentTableOffset + kSegmentEntryBytes] = static_cast<uint8_t>(SegmentKind::kConstants);
  RepairChecksums(bytes);
  EXPECT_EQ(ReadScheduleBytes(bytes).status().code(), absl::StatusCode::kInvalidArgument);
}

// A FlatBuffer cannot grow beyond 2 GiB: the writer says so before it builds one. Takes 2 GB of memory.
TEST(ScheduleFile, TooManyCommandsForOneFileAreRefused) {
  if (!WantsFullTests()) GTEST_SKIP() << "only with AUTOPAR_FULL_TESTS set";
  ScheduleBuilder b;
  b.schedule().producer.assign(size_t{1} << 31, 'x');
  EXPECT_EQ(SerializeSchedule(b.schedule()).status().code(), absl::StatusCode::kResourceExhausted);
}

// Constants beyond 2 GiB: sizes and offsets are 64-bit all the way. Takes 5 GB of memory and 2 GB of disk.
TEST(ScheduleFile, WeightsBeyondTwoGigabytesAreRead) {
  if (!WantsFullTests()) GTEST_SKIP() << "only with AUTOPAR_FULL_TESTS set";
  constexpr uint64_t kBytes = (uint64_t{2} << 30) + (uint64_t{1} << 20) + 1;
  ScheduleBuilder b;
  b.schedule().constants.assign(kBytes, 0x5a);
  b.schedule().constants.back() = 0x77;
  const SpaceId weights(b.function().spaces.size());
  b.function().spaces.push_back({.kind = SpaceKind::kConstant, .device = ScheduleBuilder::kCpu, .index = 0,
                                 .bytes = kBytes, .constant_offset = 0});
  const SpaceId out = b.Result(ScheduleBuilder::kCpu, kBytes);
  b.Copy(b.Compute(ScheduleBuilder::kCpu, 0), Bytes(weights, 0, kBytes), Bytes(out, 0, kBytes));
  const std::string path = TemporaryPath("large.sched");
  ASSERT_TRUE(WriteScheduleFile(b.schedule(), path).ok());
  auto file = ReadScheduleFile(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->constants().size(), kBytes);
  EXPECT_EQ((*file)->constants().back(), 0x77);
}

}  // namespace
}  // namespace autopar
