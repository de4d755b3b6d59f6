// The faults that the fake is for, planted in a program of two devices: each is caught, and nothing
// is reported where there is none. AUTOPAR_FULL_TESTS: 300 seeds instead of 20.
#include "test/fake_cuda/pipeline.h"

#include <cstdlib>
#include <string>

#include "gtest/gtest.h"
#include "test/fake_cuda/fake_cuda.h"

namespace fake_test {
namespace {

int Seeds() { return std::getenv("AUTOPAR_FULL_TESTS") != nullptr ? 300 : 20; }

Outcome RunWith(const std::string& options, const Plan& plan) {
  EXPECT_EQ(
      autopar_fake_configure(("devices=2,fault=continue,report=/dev/null," + options).c_str()), 0);
  return RunPipeline(plan);
}
std::string Seed(int seed) { return "seed=" + std::to_string(seed); }

std::string FirstReport() {
  const char* text = autopar_fake_report("", 0);
  return text == nullptr ? "no report" : text;
}

TEST(FakeCuda, FillsTheTable) {
  ASSERT_EQ(autopar_fake_configure("devices=3"), 0);
  int count = 0;
  EXPECT_EQ(Cuda().cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 3);
  EXPECT_NE(Cublas().cublasSgemm_64, nullptr);
}

TEST(Pipeline, CorrectProgramHasNoReportsAndRightValues) {
  for (Mode mode : {Mode::kStreams, Mode::kGraph}) {
    for (bool blocking : {false, true}) {
      for (int seed = 1; seed <= Seeds(); ++seed) {
        Outcome outcome = RunWith(Seed(seed), {.mode = mode, .blocking_streams = blocking});
        autopar_fake_report_leaks();
        ASSERT_EQ(outcome.error, "") << "seed " << seed;
        ASSERT_EQ(outcome.wrong_values, 0) << "seed " << seed;
        ASSERT_EQ(autopar_fake_count(""), 0u) << "seed " << seed << ": " << FirstReport();
        EXPECT_EQ(autopar_fake_stat("host_blocks"), 0u);
        EXPECT_EQ(autopar_fake_stat("lazy_loads"), 0u);
      }
    }
  }
}

// In streams: w0, w1, w4 and w9 are implied by others (pipeline.h); in a graph of one iteration
// only data waits are there.
TEST(Pipeline, EveryMissingWaitIsARaceInEverySeedUnlessItIsImplied) {
  int wrong = 0;
  for (int seed = 1; seed <= Seeds(); ++seed) {
    for (int wait = 0; wait < 10; ++wait) {
      bool is_implied = wait == 0 || wait == 1 || wait == 4 || wait == 9;
      Outcome outcome = RunWith(Seed(seed), {.fault = Fault::kMissingWait, .wait = wait});
      ASSERT_EQ(outcome.error, "");
      ASSERT_EQ(autopar_fake_count("race:") == 0, is_implied)
          << "wait " << wait << ", seed " << seed << ": " << FirstReport();
      if (is_implied) {
        ASSERT_EQ(outcome.wrong_values, 0);
      }
      wrong += outcome.wrong_values > 0;
    }
    for (int wait : {2, 3, 5, 7, 8}) {
      Outcome outcome =
          RunWith(Seed(seed), {.mode = Mode::kGraph, .fault = Fault::kMissingWait, .wait = wait});
      ASSERT_EQ(outcome.error, "");
      ASSERT_GT(autopar_fake_count("race:"), 0u) << "wait " << wait << ", seed " << seed;
    }
  }
  EXPECT_GT(wrong, Seeds()) << "the second net, values, catches nothing";
}

// The same by the fake's own means: the program is right, one call in it does nothing.
TEST(Pipeline, EveryDroppedWaitIsARaceOrImplied) {
  RunWith("seed=1", {});
  int waits = static_cast<int>(autopar_fake_stat("waits")), implied = 0;
  ASSERT_EQ(waits, 4 * 5 + 3 * 5) << "the first iteration waits for data only";
  for (int wait = 1; wait <= waits; ++wait) {
    Outcome outcome = RunWith("seed=1,drop_wait=" + std::to_string(wait), {});
    ASSERT_EQ(outcome.error, "");
    bool is_implied = autopar_fake_stat("dropped_and_implied") > 0;
    implied += is_implied;
    // A wait that is not implied at its own place may be implied for the bytes by a later one of
    // the same stream: w4 stands behind w2, w0 before w5 of the same iteration.
    if (is_implied) {
      ASSERT_EQ(autopar_fake_count("race:"), 0u) << "wait " << wait;
    }
    if (autopar_fake_count("race:") == 0) {
      ASSERT_EQ(outcome.wrong_values, 0) << "wait " << wait;
    }
  }
  EXPECT_GT(implied, 0);
}

struct Case {
  const char* name;
  Plan plan;
  const char* options;
  const char* report;  // the line that must be there, its beginning; or the error's
  bool in_every_seed;
};

void ExpectCaught(const Case& c) {
  int caught = 0;
  for (int seed = 1; seed <= Seeds(); ++seed) {
    Outcome outcome = RunWith(Seed(seed) + "," + c.options, c.plan);
    autopar_fake_report_leaks();
    bool is_caught = autopar_fake_count(c.report) > 0;
    if (c.in_every_seed) {
      ASSERT_TRUE(is_caught) << c.name << ", seed " << seed << ": " << outcome.error << "; "
                             << FirstReport();
    }
    caught += is_caught;
  }
  EXPECT_GT(caught, 0) << c.name;
}

TEST(Pipeline, PlantedFaultsAreCaught) {
  const Case cases[] = {
      {"early reuse", {.fault = Fault::kEarlyReuse}, "", "race:", true},
      {"record after wait", {.fault = Fault::kRecordAfterWait}, "", "race:", true},
      {"record after wait, first call",
       {.fault = Fault::kRecordAfterWait},
       "",
       "misuse: stream 3 (gpu 1) waits for event",
       true},
      {"stale event", {.fault = Fault::kStaleEvent}, "", "race:", true},
      {"wrong current device",
       {.fault = Fault::kWrongCurrentDevice},
       "",
       "error: launch on stream 1 (gpu 0) while gpu 1 is current",
       true},
      {"arena on the wrong device",
       {.fault = Fault::kWrongArenaDevice},
       "",
       "error: peer copy: the source is not memory of gpu 0",
       true},
      {"cuBLAS handle of another device",
       {.fault = Fault::kWrongHandle},
       "",
       "error: product with a handle of gpu 0",
       true},
      {"no peer access", {.fault = Fault::kNoPeerAccess}, "", "error: #", true},
      {"pinned result read early",
       {.fault = Fault::kPinnedResultReadEarly},
       "eagerness=0",
       "host access: the host touches",
       true},
      {"staging overwritten",
       {.fault = Fault::kStagingOverwritten},
       "eagerness=0",
       "host access: the host touches",
       true},
      {"blocking copy beside non-blocking streams",
       {.fault = Fault::kBlockingCopy},
       "",
       "race:",
       true},
      {"host reads device memory",
       {.fault = Fault::kHostReadsDevice},
       "",
       "host access: the host touches byte 0 of device memory",
       true},
      {"host function calls CUDA",
       {.fault = Fault::kHostFunctionCallsCuda},
       "",
       "misuse: a host function calls cudaSetDevice",
       true},
      {"freed in use", {.fault = Fault::kFreedInUse}, "", "freed:", true},
      {"kernel beyond its range",
       {.fault = Fault::kKernelBeyondRange},
       "guard=100,fault=continue",
       "range: #",
       false},
      {"pinned block not freed", {.fault = Fault::kPinnedLeak}, "", "leak: pinned memory", true},
      {"one workspace for two streams", {.fault = Fault::kWorkspaceShared}, "", "race:", true},
      {"stream set after the workspace",
       {.fault = Fault::kStreamSetAfterWorkspace},
       "",
       "misuse: cublasSetStream after",
       true},
      {"graph: fork not joined",
       {.mode = Mode::kGraph, .fault = Fault::kForkNotJoined},
       "",
       "error: stream 4 (gpu 1) is not joined",
       true},
      {"graph: allocation in capture",
       {.mode = Mode::kGraph, .fault = Fault::kAllocationInCapture},
       "",
       "error: cudaMalloc while a stream is captured",
       true},
      {"graph: synchronise in capture",
       {.mode = Mode::kGraph, .fault = Fault::kSynchroniseInCapture},
       "",
       "error: a captured stream is synchronised",
       true},
      {"graph: no wait after launch",
       {.mode = Mode::kGraph, .fault = Fault::kNoWaitAfterLaunch},
       "eagerness=0",
       "host access: the host touches",
       true},
  };
  for (const Case& c : cases) {
    // A write into the guard page ends the process: tested apart.
    if (c.plan.fault == Fault::kKernelBeyondRange) continue;
    ExpectCaught(c);
  }
}

TEST(PipelineDeathTest, KernelBeyondItsRangeIsCaught) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        autopar_fake_configure("devices=2,guard=100,seed=1");
        RunPipeline({.fault = Fault::kKernelBeyondRange});
        std::exit(0);
      },
      testing::ExitedWithCode(86),
      "range: kernel add_too_much touches bytes beyond the end of parameter 2");
}

TEST(PipelineDeathTest, HostAccessEndsTheProcessWithASentence) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        autopar_fake_configure("devices=2,seed=1");
        RunPipeline({.fault = Fault::kHostReadsDevice});
        std::exit(0);
      },
      testing::ExitedWithCode(86),
      "host access: the host touches byte 0 of device memory .* cannot be accessed by the host");
}

// A result in pageable memory that is read without waiting: right by luck where the copy blocks,
// and then it is the block that is reported.
TEST(Pipeline, PageableResultReadEarlyIsSeenByValuesOrByItsBlock) {
  int wrong = 0;
  for (const char* pageable : {"blocking", "staged", "async"}) {
    for (int seed = 1; seed <= Seeds(); ++seed) {
      Outcome outcome =
          RunWith(Seed(seed) + ",pageable=" + pageable, {.fault = Fault::kPageableResult});
      ASSERT_EQ(outcome.error, "");
      bool is_blocking = std::string(pageable) == "blocking";
      ASSERT_EQ(autopar_fake_stat("host_blocks") > 0, is_blocking);
      if (is_blocking) {
        ASSERT_EQ(outcome.wrong_values, 0);
      }
      wrong += outcome.wrong_values > 0;
      EXPECT_EQ(autopar_fake_stat("pageable_copies"), 4u);
    }
  }
  EXPECT_GT(wrong, Seeds() / 4);
}

// Every call fails in turn: a sentence, no crash, nothing alive but what could not be destroyed,
// and the next run works.
TEST(Pipeline, EveryCallFailsInTurn) {
  for (Mode mode : {Mode::kStreams, Mode::kGraph}) {
    RunWith("seed=5", {.mode = mode});
    uint64_t calls = autopar_fake_stat("calls"), with_error = 0;
    ASSERT_GT(calls, 100u);
    for (uint64_t call = 1; call <= calls; ++call) {
      Outcome outcome = RunWith("seed=5,fail=" + std::to_string(call), {.mode = mode});
      ASSERT_EQ(autopar_fake_count("race:"), 0u) << "call " << call << ": " << FirstReport();
      ASSERT_EQ(autopar_fake_count("host access:"), 0u) << "call " << call << ": " << FirstReport();
      with_error += !outcome.error.empty();
      autopar_fake_report_leaks();
      // What failed in the clean-up itself stays alive, nothing else.
      ASSERT_LE(autopar_fake_count("leak:"), 1u)
          << "call " << call << ": " << autopar_fake_report("leak:", 1);
      ASSERT_TRUE(!outcome.error.empty() || outcome.wrong_values == 0) << "call " << call;
    }
    EXPECT_GT(with_error, calls / 2);
    Outcome again = RunWith("seed=5", {.mode = mode});
    EXPECT_EQ(again.error, "");
    EXPECT_EQ(again.wrong_values, 0);
  }
}

TEST(Pipeline, ErrorsThatComeLateAreReturned) {
  for (int call : {60, 80, 100}) {
    Outcome outcome = RunWith("seed=3,late=7,fail_code=719,fail=" + std::to_string(call), {});
    EXPECT_NE(outcome.error.find("719"), std::string::npos) << outcome.error;
  }
}

TEST(Pipeline, ContextErrorsStay) {
  for (int kernel = 1; kernel <= 12; ++kernel) {
    Outcome outcome = RunWith("seed=2,kernel_fault=" + std::to_string(kernel), {});
    EXPECT_NE(outcome.error.find("700"), std::string::npos)
        << "kernel " << kernel << ": " << outcome.error;
    int device = autopar_fake_sticky(0) != 0 ? 0 : 1;
    EXPECT_EQ(autopar_fake_sticky(device), 700);
    Cuda().cudaSetDevice(device);
    void* pointer = nullptr;
    EXPECT_EQ(Cuda().cudaMalloc(&pointer, 64), cudaErrorIllegalAddress);
    EXPECT_EQ(Cuda().cudaGetLastError(), cudaErrorIllegalAddress) << "reading it does not clear it";
    EXPECT_EQ(Cuda().cudaGetLastError(), cudaErrorIllegalAddress);
  }
}

}  // namespace
}  // namespace fake_test
