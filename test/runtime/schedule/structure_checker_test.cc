// What the checker refuses before it asks for order: ids, sizes, bounds, devices. Each case takes the sample, which is
// safe, and breaks one thing.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "absl/strings/match.h"
#include "runtime/schedule/checker.h"
#include "test/runtime/schedule/schedule_builder.h"

namespace autopar {
namespace {

using Break = std::function<void(Schedule&, Function&)>;

constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

// Commands of the sample.
constexpr size_t kCopyIn = 0, kRecord0 = 1, kWait0 = 2, kProduct = 3, kLeftHalf = 6, kLayer2 = 10, kUnusedSum = 15, kSum = 16, kLast = 20;
constexpr size_t kAddKernel = 0, kMatmulKernel = 1, kSyntheticKernel = 2;

std::string MessageOf(const Break& break_it) {
  Schedule schedule = SampleSchedule();
  break_it(schedule, schedule.functions[0]);
  const absl::Status status = CheckSchedule(schedule, schedule.constants.size());
  if (status.ok()) return "accepted";
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string message(status.message());
  EXPECT_FALSE(absl::StrContains(message, "\n")) << message;
  return message;
}

#define EXPECT_REFUSED(part, ...)                                                 \
  do {                                                                            \
    const std::string message = MessageOf([](Schedule& s, Function& f) { __VA_ARGS__; }); \
    EXPECT_TRUE(absl::StrContains(message, part)) << message;                     \
  } while (false)

Region& OperandOf(Function& f, size_t command, size_t operand) {
  return f.regions[f.commands[command].first_region + operand];
}

TEST(ScheduleChecker, UnbrokenSampleIsAccepted) {
  EXPECT_EQ(MessageOf([](Schedule&, Function&) {}), "accepted");
}

TEST(ScheduleChecker, MachineWithoutDevicesIsRefused) { EXPECT_REFUSED("device", s.machine.devices.clear()); }

TEST(ScheduleChecker, ModulesAreChecked) {
  EXPECT_REFUSED("module 1 has unknown format 9", s.modules[1].format = static_cast<CodeFormat>(9));
  EXPECT_REFUSED("module 0 has no code", s.modules[0].image.clear());
  EXPECT_REFUSED("module 1 is PTX text that does not end with a zero byte", s.modules[1].image.pop_back());
  EXPECT_REFUSED("'a b'", s.modules[0].features = {"a b"});
}

TEST(ScheduleChecker, KernelsAreChecked) {
  EXPECT_REFUSED("no name", s.kernels[kAddKernel].name.clear());
  EXPECT_REFUSED("two kernels are called @add", s.kernels[kMatmulKernel].name = "add");
  EXPECT_REFUSED("unknown kind 3", s.kernels[kAddKernel].kind = static_cast<KernelKind>(3));
  EXPECT_REFUSED("-1 tiles", s.kernels[kAddKernel].tile_count = -1);
  EXPECT_REFUSED("4 operands and sizes for 3", s.kernels[kAddKernel].operand_bytes.pop_back());
  EXPECT_REFUSED("8589934591", s.kernels[kAddKernel].reads = s.kernels[kAddKernel].writes = 0xffffffffu);
  EXPECT_REFUSED("module 2 of 2", s.kernels[kAddKernel].codes[0].module = 2);
  EXPECT_REFUSED("without a symbol", s.kernels[kAddKernel].codes[0].symbol.clear());
  EXPECT_REFUSED("without a symbol", s.kernels[kAddKernel].codes[0].symbol = std::string("a\0b", 3));
  EXPECT_REFUSED("has a grid for code that runs on a CPU", s.kernels[kAddKernel].codes[0].block = 1);
  EXPECT_REFUSED("is launched with 0 blocks of 128 threads", s.kernels[kAddKernel].codes[1].grid = 0);
  EXPECT_REFUSED("is launched with 2147483648 blocks", s.kernels[kAddKernel].codes[1].grid = 0x80000000u);
  EXPECT_REFUSED("is launched with 4 blocks of 1025 threads; it needs 1 to 2147483647 of 1 to 1024",
                 s.kernels[kAddKernel].codes[1].block = 1025);
  EXPECT_REFUSED("native and has no code", s.kernels[kAddKernel].codes.clear());
  EXPECT_REFUSED("synthetic and has code", s.kernels[kSyntheticKernel].codes = s.kernels[kAddKernel].codes);
}

TEST(ScheduleChecker, LaunchOnGpuNeedsPtxAndAlignedOperands) {
  const auto make_gpu = [](Schedule& s) { s.machine.devices[1].kind = DeviceKind::kCuda; };
  EXPECT_EQ(MessageOf([&](Schedule& s, Function&) {
              make_gpu(s);
              s.kernels[kMatmulKernel].codes.push_back({1, "relu", 1, 64});
            }),
            "accepted");
  EXPECT_TRUE(absl::StrContains(MessageOf([&](Schedule& s, Function&) { make_gpu(s); }),
                                "runs on the GPU @gpu0 and its kernel has no PTX"));
  // The product alone is the library's.
  EXPECT_EQ(MessageOf([&](Schedule& s, Function&) {
              make_gpu(s);
              s.kernels[kMatmulKernel].codes.clear();
            }),
            "accepted");
  EXPECT_TRUE(absl::StrContains(MessageOf([&](Schedule& s, Function& f) {
                                  make_gpu(s);
                                  s.kernels[kMatmulKernel].codes.clear();
                                  const Command& add = f.commands[kUnusedSum];
                                  f.regions[add.first_region + 2] = f.regions[add.first_region] = f.regions[add.first_region + 2];
                                }),
                                "works in place on @gpu0[256 for 256]"));
  const std::string message = MessageOf([&](Schedule& s, Function& f) {
    make_gpu(s);
    s.kernels[kMatmulKernel].codes = {{1, "relu", 1, 64}};
    OperandOf(f, kProduct, 2).offset += 8;
  });
  EXPECT_TRUE(absl::StrContains(message, "contiguous operands at multiples of 16 bytes")) << message;
}

// Empty tensors: the launch only orders.
TEST(ScheduleChecker, NativeKernelWithoutTilesNeedsNoCode) {
  EXPECT_EQ(MessageOf([](Schedule& s, Function&) {
              Kernel empty;
              empty.name = "empty";
              empty.tile_count = 0;
              empty.writes = 1;
              empty.operand_bytes = {0};
              s.kernels.push_back(empty);
            }),
            "accepted");
  EXPECT_REFUSED("no tiles, so nothing would write its 256 bytes", s.kernels[kAddKernel].tile_count = 0);
}

TEST(ScheduleChecker, MatmulSizesMustFitTheOperands) {
  EXPECT_REFUSED("left factor has 256 bytes, not 1 x 16 x 8", s.kernels[kMatmulKernel].matmul.m = 16);
  EXPECT_REFUSED("right factor has 256 bytes, not 1 x 8 x 9", s.kernels[kMatmulKernel].matmul.n = 9);
  EXPECT_REFUSED("left factor", s.kernels[kMatmulKernel].matmul.k = 0);
  EXPECT_REFUSED("factor of batch 3", s.kernels[kMatmulKernel].matmul.a_batch = 3);
  EXPECT_REFUSED("negative size", s.kernels[kMatmulKernel].matmul.k = -8);
  EXPECT_REFUSED("empty tile", s.kernels[kMatmulKernel].matmul.tile_m = 0);
  EXPECT_REFUSED("2 tiles where its sizes make 1", s.kernels[kMatmulKernel].matmul.tile_m = 8);
  EXPECT_REFUSED("is a matmul with 2 reads and 2 writes", s.kernels[kMatmulKernel].writes = 2,
                 s.kernels[kMatmulKernel].operand_bytes.push_back(0));
}

// 2^62 * 2^62 * 4 and the like: no multiplication may wrap around and fit by accident.
TEST(ScheduleChecker, MatmulSizesThatOverflowAreRefused) {
  for (int64_t huge : {int64_t{1} << 32, int64_t{1} << 61, int64_t{1} << 62, std::numeric_limits<int64_t>::max()}) {
    for (int64_t MatmulParams::*field : {&MatmulParams::m, &MatmulParams::n, &MatmulParams::k, &MatmulParams::batch}) {
      const std::string message = MessageOf([&](Schedule& s, Function&) { s.kernels[kMatmulKernel].matmul.*field = huge; });
      EXPECT_TRUE(absl::StrContains(message, "matmul_0")) << message;
    }
  }
  EXPECT_REFUSED("left factor", MatmulParams& p = s.kernels[kMatmulKernel].matmul;
                 p.m = p.n = p.k = p.batch = p.a_batch = p.b_batch = int64_t{1} << 62);
  EXPECT_REFUSED("product", Kernel& k = s.kernels[kMatmulKernel]; k.matmul.m = k.matmul.n = int64_t{1} << 62;
                 k.matmul.k = 0; k.operand_bytes = {0, 0, 0});
}

TEST(ScheduleChecker, FunctionNamesAreUnique) {
  EXPECT_REFUSED("two functions are called @main", s.functions.push_back(s.functions[0]));
  EXPECT_REFUSED("no name", f.name.clear());
}

TEST(ScheduleChecker, SpacesAreChecked) {
  EXPECT_REFUSED("unknown kind 5", f.spaces[0].kind = static_cast<SpaceKind>(5));
  EXPECT_REFUSED("space 0 is on device 3 of 3", f.spaces[0].device = DeviceId(size_t{3}));
  EXPECT_REFUSED("constants", f.spaces[3].constant_offset = 257);
  EXPECT_REFUSED("constants", f.spaces[3].constant_offset = kHuge - 100);
  EXPECT_REFUSED("constants", f.spaces[3].bytes = kHuge);
  EXPECT_REFUSED("is state", f.spaces[3].kind = SpaceKind::kState);
  EXPECT_REFUSED("argument 3", f.spaces[0].index = 3);
  EXPECT_REFUSED("device @gpu0 has two arenas", f.spaces.push_back(f.spaces[7]));
  EXPECT_REFUSED("the arena of @gpu0 has 1099511627777 bytes", f.spaces[7].bytes = (uint64_t{1} << 40) + 1);
  EXPECT_REFUSED("space 10 is said to be argument 0", f.spaces.push_back(f.spaces[0]));
}

TEST(ScheduleChecker, ConstantsOfAShorterFileAreRefused) {
  const Schedule schedule = SampleSchedule();
  EXPECT_FALSE(CheckSchedule(schedule, schedule.constants.size() - 1).ok());
}

TEST(ScheduleChecker, PortsAreChecked) {
  EXPECT_REFUSED("argument 0 has space 99", f.arguments[0].space = SpaceId(size_t{99});
                 f.spaces[0].kind = SpaceKind::kConstant);
  EXPECT_REFUSED("space 0 is said to be argument 0", f.arguments[0].space = f.results[0].space);
  EXPECT_REFUSED("argument 3 has space 0, which is argument 0", f.arguments.push_back(f.arguments[0]));
  EXPECT_REFUSED("unknown element type 8", f.arguments[0].type.element = static_cast<ElementType>(8));
  EXPECT_REFUSED("a space of 256", f.arguments[0].type.shape = {257});
  EXPECT_REFUSED("shape", f.arguments[0].type.shape = {-256, -1});
  EXPECT_REFUSED("shape", f.arguments[0].type.shape = {int64_t{1} << 32, int64_t{1} << 32, 256});
  EXPECT_REFUSED("shape", f.arguments[2].type.shape = {int64_t{1} << 62, int64_t{1} << 62, 0});
}

TEST(ScheduleChecker, StreamsAreChecked) {
  EXPECT_REFUSED("unknown kind 2", f.streams[0].kind = static_cast<StreamKind>(2));
  EXPECT_REFUSED("device 3 of 3", f.streams[0].device = DeviceId(size_t{3}));
  EXPECT_REFUSED("the device has 16 streams", f.streams[0].ordinal = 16);
  EXPECT_REFUSED("@gpu0[0] stands twice", f.streams[1].ordinal = 0);
  EXPECT_REFUSED("link 4294967295 of 6", f.streams[4].link = LinkId());
  EXPECT_REFUSED("driven by @cpu0, not @gpu0", f.streams[4].device = ScheduleBuilder::kCpu);
  EXPECT_REFUSED("@gpu0[in] stands twice", f.streams.push_back(f.streams[4]));
  EXPECT_REFUSED("@gpu0[in 7] stands twice", f.streams[4].ordinal = 7; f.streams.push_back(f.streams[4]));
  EXPECT_REFUSED("5007 streams; the most is 4096", f.streams.resize(5007));
}

TEST(ScheduleChecker, ALinkMayHaveSeveralCopyStreams) {
  Schedule schedule = SampleSchedule();
  Function& f = schedule.functions[0];
  f.streams.push_back(f.streams[4]);
  f.streams.back().ordinal = 1;
  EXPECT_TRUE(CheckSchedule(schedule, schedule.constants.size()).ok());
}

TEST(ScheduleChecker, RegionsOutOfBoundsAreRefused) {
  EXPECT_REFUSED("command 0 (copy 'x to gpu0' on @gpu0[in]) touches region 0, arg0[1 for 256], which is out of bounds",
                 OperandOf(f, kCopyIn, 0).offset = 1);
  EXPECT_REFUSED("out of bounds", OperandOf(f, kCopyIn, 0).offset = kHuge);
  EXPECT_REFUSED("out of bounds", OperandOf(f, kCopyIn, 0).row_bytes = kHuge);
  EXPECT_REFUSED("out of bounds", OperandOf(f, kLeftHalf, 0).rows = kHuge);
  EXPECT_REFUSED("out of bounds", OperandOf(f, kLeftHalf, 0).row_stride = kHuge);
  EXPECT_REFUSED("out of bounds", Region& r = OperandOf(f, kLeftHalf, 0); r.rows = (uint64_t{1} << 60) + 8;
                 r.row_stride = 32);
  EXPECT_REFUSED("rows overlap", OperandOf(f, kLeftHalf, 0).row_stride = 15);
  EXPECT_REFUSED("is in space 4294967295", OperandOf(f, kCopyIn, 0).space = SpaceId());
  EXPECT_REFUSED("touched by no command and is in space 50",
                 f.regions.push_back({.space = SpaceId(size_t{50}), .offset = 0, .row_bytes = 0, .row_stride = 0, .rows = 0}));
  // An empty region touches nothing, but it must begin somewhere.
  EXPECT_REFUSED("out of bounds", Region& r = OperandOf(f, kCopyIn, 0); r.rows = 0; r.offset = 257);
}

TEST(ScheduleChecker, CommandFieldsAreChecked) {
  EXPECT_REFUSED("command 0 has unknown kind 4", f.commands[kCopyIn].kind = static_cast<CommandKind>(4));
  EXPECT_REFUSED("stream 7 of 7", f.commands[kCopyIn].stream = StreamId(size_t{7}));
  EXPECT_REFUSED("kernel 4 of 4", f.commands[kProduct].kernel = KernelId(size_t{4}));
  EXPECT_REFUSED("event 5 of 5", f.commands[kWait0].event = EventId(size_t{5}));
  EXPECT_REFUSED("unknown reason 4", f.commands[kWait0].reason = static_cast<WaitReason>(4));
  EXPECT_REFUSED("touches 1 regions; it must touch none", f.commands[kRecord0].reads = 1);
  EXPECT_REFUSED("touches regions 4294967295 to", f.commands[kProduct].first_region = 0xffffffffu);
  EXPECT_REFUSED("label 4294967295", f.commands[kProduct].label = 0xffffffffu);
  EXPECT_REFUSED("-5 ns", f.commands[kLayer2].duration_ns = -5);
}

TEST(ScheduleChecker, LaunchMustFitItsKernel) {
  EXPECT_REFUSED("the kernel takes 2, 1 and 0", f.commands[kProduct].reads = 1);
  EXPECT_REFUSED("the kernel takes 2, 1 and 1", f.commands[kSum].scratch = 0);
  EXPECT_REFUSED("passes @gpu0[0 for 255] as operand 0, which must have 256 bytes", OperandOf(f, kProduct, 0).row_bytes = 255);
  EXPECT_REFUSED("contiguous operands only", OperandOf(f, kProduct, 0) = Strided(SpaceId(size_t{7}), 0, 16, 32, 16));
  EXPECT_REFUSED("launch on a copy stream", f.commands[kProduct].stream = f.commands[kCopyIn].stream);
}

TEST(ScheduleChecker, LaunchMustStayOnItsDevice) {
  EXPECT_REFUSED("runs on @gpu0 and touches arg0[0 for 256], which is on @cpu0", OperandOf(f, kProduct, 0).space = SpaceId(size_t{0}));
  EXPECT_REFUSED("runs on @gpu0 and touches @cpu0[256 for 256]", OperandOf(f, kProduct, 2).space = SpaceId(size_t{9}));
  EXPECT_REFUSED("and touches const[256 for 256], which is on @cpu0", OperandOf(f, kProduct, 1).space = SpaceId(size_t{4}));
}

TEST(ScheduleChecker, CopyMustFitItsStream) {
  EXPECT_REFUSED("a copy has one read and one write", f.commands[kCopyIn].writes = 0);
  EXPECT_REFUSED("must be equal", OperandOf(f, kCopyIn, 1).row_bytes = 255);
  EXPECT_REFUSED("must be equal", Region& r = OperandOf(f, kLeftHalf, 1); r.rows = 4; r.row_bytes = 32);
  EXPECT_REFUSED("copies from @cpu0 to @gpu1; its stream copies from @cpu0 to @gpu0",
                 OperandOf(f, kCopyIn, 1).space = SpaceId(size_t{8}));
  EXPECT_REFUSED("its stream copies from @gpu0 to @gpu0", f.commands[kCopyIn].stream = StreamId(size_t{0}));
}

TEST(ScheduleChecker, ArgumentsAndConstantsAreReadOnly) {
  EXPECT_REFUSED("writes arg1[0 for 256]; arguments are read-only", OperandOf(f, kProduct, 2) = Bytes(SpaceId(size_t{1}), 0, 256));
  EXPECT_REFUSED("writes const[0 for 256]; constants are read-only", OperandOf(f, kProduct, 2) = Bytes(SpaceId(size_t{3}), 0, 256));
  EXPECT_REFUSED("arguments are read-only", OperandOf(f, kSum, 3) = Bytes(SpaceId(size_t{0}), 0, 64));
}

TEST(ScheduleChecker, EventsAreRecordedOnceAndBeforeTheyAreWaitedFor) {
  EXPECT_REFUSED("command 4 (record #0 on @gpu0[0]) records an event that was recorded before", f.commands[4].event = EventId(size_t{0}));
  EXPECT_REFUSED("command 1 (wait #0 on @gpu0[0]) waits for an event that no earlier command records",
                 std::swap(f.commands[kRecord0], f.commands[kWait0]));
  EXPECT_REFUSED("event 5 is recorded by no command", f.event_count = 6);
  EXPECT_REFUSED("4294967295 events and only 21 commands", f.event_count = 0xffffffffu);
}

TEST(ScheduleChecker, TokenEdgesLeadForward) {
  EXPECT_REFUSED("must lead forward", f.token_edges[0] = {kLast, kSum});
  EXPECT_REFUSED("must lead forward", f.token_edges[0] = {kSum, kSum});
  EXPECT_REFUSED("must lead forward", f.token_edges[0] = {kSum, 21});
  EXPECT_REFUSED("must lead forward", f.token_edges[0] = {0xffffffffu, 0xffffffffu});
}

TEST(ScheduleChecker, TokenEdgesOrderLaunchesAndCopies) {
  EXPECT_REFUSED("command 1 (record #0 on @gpu0[in]) is ordered by a token", f.token_edges[0] = {kRecord0, kLast});
  EXPECT_REFUSED("command 2 (wait #0 on @gpu0[0]) is ordered by a token", f.token_edges[0] = {kCopyIn, kWait0});
  EXPECT_EQ(MessageOf([](Schedule&, Function& f) { f.token_edges[0] = {kCopyIn, kProduct}; }), "accepted");
}

TEST(MatmulTileCount, CountsRowsColumnsAndBatches) {
  EXPECT_EQ(MatmulTileCount({.batch = 2, .m = 129, .n = 512, .k = 0, .tile_m = 128, .tile_n = 256}), 8);
  EXPECT_EQ(MatmulTileCount({.batch = 2, .m = 0, .n = 512, .k = 7}), 0);
  EXPECT_EQ(MatmulTileCount({.batch = 1, .m = 1, .n = 1, .k = 1, .tile_m = 0}), std::nullopt);
  EXPECT_EQ(MatmulTileCount({.batch = int64_t{1} << 62, .m = 3, .n = 3, .k = 3, .tile_m = 1}), std::nullopt);
}

}  // namespace
}  // namespace autopar
