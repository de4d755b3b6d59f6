#include "runtime/base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace autopar {
namespace {

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/autopar_file_test.XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Path(const std::string &name) const { return folder_ + "/" + name; }
  size_t FileCount() const {
    size_t count = 0;
    for (const auto &entry : std::filesystem::directory_iterator(folder_))
      count += !entry.path().empty();
    return count;
  }
  std::string folder_;
};

TEST_F(FileTest, WrittenPartsAreReadBackAsOneText) {
  const std::string_view parts[] = {"one ", "", "two"};
  ASSERT_TRUE(WriteFile(Path("a"), parts).ok());
  EXPECT_EQ(ReadFile(Path("a"), 100).value(), "one two");
  ASSERT_TRUE(WriteFile(Path("a"), "shorter").ok());
  EXPECT_EQ(ReadFile(Path("a"), 7).value(), "shorter");
  EXPECT_EQ(FileCount(), 1u) << "no temporary file stays";
}

TEST_F(FileTest, LongFileIsRefusedAtTheLimit) {
  ASSERT_TRUE(WriteFile(Path("a"), std::string(200000, 'x')).ok());
  EXPECT_EQ(ReadFile(Path("a"), 200000).value().size(), 200000u);
  EXPECT_EQ(ReadFile(Path("a"), 199999).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReadFile("/dev/zero", 1000).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(FileTest, MissingFileAndFolderAreSentences) {
  EXPECT_EQ(ReadFile(Path("none"), 10).status().message(),
            "cannot open '" + Path("none") + "': no such file or folder");
  EXPECT_EQ(ReadFile(folder_, 10).status().message(),
            "cannot read '" + folder_ + "': it is a folder, not a file");
  EXPECT_EQ(WriteFile(folder_, "x").message(),
            "cannot write '" + folder_ + "': it is a folder, not a file");
  EXPECT_EQ(WriteFile(Path("no/such"), "x").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(WriteFile("", "x").code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(FileTest, FailedWriteLeavesTheOldFile) {
  ASSERT_TRUE(WriteFile(Path("a"), "old").ok());
  // A full device fails at the write itself; it is not a regular file and is written directly.
  EXPECT_FALSE(WriteFile("/dev/full", "x").ok());
  if (geteuid() != 0) {
    chmod(Path("a").c_str(), 0444);
    EXPECT_EQ(WriteFile(Path("a"), "new").code(), absl::StatusCode::kPermissionDenied);
  }
  EXPECT_EQ(ReadFile(Path("a"), 10).value(), "old");
  EXPECT_EQ(FileCount(), 1u);
}

TEST_F(FileTest, PermissionsAndLinksAreKept) {
  ASSERT_TRUE(WriteFile(Path("a"), "1").ok());
  struct stat info;
  std::ofstream(Path("plain")) << "1";
  ASSERT_EQ(stat(Path("plain").c_str(), &info), 0);
  const mode_t plain_mode = info.st_mode;
  ASSERT_EQ(stat(Path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode, plain_mode) << "a new file gets the mode that any new file gets";
  chmod(Path("a").c_str(), 0640);
  ASSERT_EQ(symlink(Path("a").c_str(), Path("link").c_str()), 0);
  ASSERT_TRUE(WriteFile(Path("link"), "2").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(Path("link")));
  EXPECT_EQ(ReadFile(Path("a"), 10).value(), "2");
  ASSERT_EQ(stat(Path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

}  // namespace
}  // namespace autopar
