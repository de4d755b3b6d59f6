// A schedule: what to do, on which stream, in which issue order. Plain data, built once (by the compiler, or by the
// reader from a file), checked once, run many times. One Schedule is one schedule file.
//
// The model in short. A function has *spaces* (pieces of memory: one arena per device, one space per argument, result
// and constant), *streams* (each belongs to a device and runs its commands in order) and *commands* in one issue order.
// A command touches *regions* of spaces. record(e) stands before every wait(e) in issue order, and each event is
// recorded exactly once per call, so the order itself shows that nothing deadlocks. Commands of different streams are
// ordered by record/wait alone. A call starts when all streams are idle and ends when all streams have finished.
//
// Sizes in bytes, times in nanoseconds from the start of the call. No ownership beyond the vectors; not synchronised.
#ifndef AUTOPAR_RUNTIME_SCHEDULE_SCHEDULE_H_
#define AUTOPAR_RUNTIME_SCHEDULE_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/element_type.h"
#include "runtime/base/ids.h"
#include "runtime/machine/machine.h"

namespace autopar {

// ---- memory -------------------------------------------------------------------------------------------------------

// arena: planned scratch of one device, undefined when a call starts. argument: read-only, defined when a call starts;
// the caller's buffer when its device is the host device, otherwise device memory that is filled when the argument is
// bound (before the call, not part of it). result: written by the call; host memory or device memory like arguments.
// constant: read-only, defined at load. state: kept from call to call (reserved).
enum class SpaceKind : uint8_t { kArena = 0, kArgument = 1, kResult = 2, kConstant = 3, kState = 4 };

struct Space {
  SpaceKind kind = SpaceKind::kArena;
  DeviceId device;
  uint32_t index = 0;           // argument or result number; otherwise 0
  uint64_t bytes = 0;           // 0 is legal (empty tensor)
  uint64_t constant_offset = 0; // constant: where its bytes start in Schedule::constants
};

// `rows` rows of `row_bytes` bytes, `row_stride` bytes apart, the first at `offset`. Contiguous: rows == 1.
// Empty (no byte touched) if rows == 0 or row_bytes == 0. row_stride >= row_bytes when rows > 1.
struct Region {
  SpaceId space;
  uint64_t offset = 0;
  uint64_t row_bytes = 0;
  uint64_t row_stride = 0;
  uint64_t rows = 1;
  friend bool operator==(const Region&, const Region&) = default;
};

// ---- kernels ------------------------------------------------------------------------------------------------------

// native: generated machine code. matmul: the library's product, tile by tile, with an optional generated epilogue.
// synthetic: sleeps (or spins) Command::duration_ns, then stirs its operands' bytes into its results.
enum class KernelKind : uint8_t { kNative = 0, kMatmul = 1, kSynthetic = 2 };

enum class CodeFormat : uint8_t { kElf = 0, kPtx = 1 };

// One compiled form of the generated kernels. Several forms of one kernel are equal in result, not always in bits.
struct CodeModule {
  CodeFormat format = CodeFormat::kElf;
  std::string target;                 // "x86-64-v3", "znver4", "sm_75"
  std::vector<std::string> features;  // what the processor must have, names as in /proc/cpuinfo ("avx2", "fma"); ELF only
  std::vector<uint8_t> image;         // ELF shared object, or PTX text that ends with a zero byte
};

// A code in an ELF module is a NativeKernelFn or EpilogueFn. A code in a PTX module is a kernel of `grid` x 1 x 1 blocks
// of `block` x 1 x 1 threads without dynamic shared memory, launched once for all tiles. Its parameters are the addresses
// of the launch's regions (reads, writes, scratch), 64 bits each, and nothing else; each address is a multiple of 16.
// For a matmul it is the epilogue of the whole product, launched behind the product on the same stream.
struct KernelCode {
  uint32_t module = 0;  // Schedule::modules
  std::string symbol;
  uint32_t grid = 0, block = 0;  // PTX: both above 0; ELF: both 0
};

// C = A * B per batch, row-major and dense: A is m x k (k x m if transpose_a), B is k x n (n x k if transpose_b), f32.
// Operands of the launch: reads[0] = A, reads[1] = B, reads[2..] = further operands of the epilogue; writes[0] = C.
// A batch count of 1 with batch > 1 broadcasts that operand. Columns are cut at multiples of tile_n, rows at multiples
// of tile_m; bits may depend on tile_n, never on tile_m. k == 0 gives zeros.
struct MatmulParams {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  int64_t a_batch = 1, b_batch = 1;
  bool transpose_a = false, transpose_b = false;
  int64_t tile_m = 128, tile_n = 256;
};

// batch * ceil(m / tile_m) * ceil(n / tile_n): what Kernel::tile_count must be. Nothing if it overflows or a size is bad.
std::optional<int64_t> MatmulTileCount(const MatmulParams& matmul);

// Entry point of a native kernel: tiles [tile_begin, tile_end) of Kernel::tile_count; `buffers` are the launch's
// regions in order: reads, writes, scratch. Any split into tile ranges, on any threads, gives the same bits.
using NativeKernelFn = void (*)(void* const* buffers, int64_t tile_begin, int64_t tile_end);
// Entry point of a matmul epilogue, called on a tile right after its product is in C (one call per tile and batch):
// rewrites C[row_begin, row_end) x [col_begin, col_end) of flattened rows (batch * m + row) in place.
// `buffers` = the launch's regions in order.
using EpilogueFn = void (*)(void* const* buffers, int64_t row_begin, int64_t row_end, int64_t col_begin, int64_t col_end);

struct Kernel {
  std::string name;  // unique in the schedule
  KernelKind kind = KernelKind::kNative;
  int64_t tile_count = 1;  // 0: nothing to do (empty tensors): the command still orders
  uint32_t reads = 0, writes = 0, scratch = 0;   // operand counts; every launch must match
  std::vector<uint64_t> operand_bytes;           // bytes each operand must have, reads then writes then scratch
  // native: at least one, but for tile_count 0; matmul: the epilogue's, if any. A launch on a cuda device needs a PTX code
  // where there is any.
  std::vector<KernelCode> codes;
  MatmulParams matmul;
  bool spin = false;  // synthetic: burn the core instead of sleeping
  uint64_t seed = 0;  // synthetic: mixed into the result bytes
};

// ---- commands -----------------------------------------------------------------------------------------------------

enum class StreamKind : uint8_t { kCompute = 0, kCopy = 1 };

// compute: number `ordinal` of its device. copy: number `ordinal` of one link (more than one only help where its
// transfers never queue); `device` is the device that drives it (the one that is not the host device; the source, between
// two such devices).
struct Stream {
  DeviceId device;
  StreamKind kind = StreamKind::kCompute;
  uint32_t ordinal = 0;
  LinkId link;  // copy streams; invalid for a copy inside one device (which runs on a compute stream)
};

enum class CommandKind : uint8_t { kLaunch = 0, kCopy = 1, kRecord = 2, kWait = 3 };
enum class WaitReason : uint8_t { kData = 0, kReuse = 1, kToken = 2, kCapacity = 3 };

// Regions of a command: Function::regions[first_region, + reads + writes + scratch), in that order. A copy has one
// read and one write of equal size (both contiguous or with equal rows x row_bytes).
struct Command {
  CommandKind kind = CommandKind::kLaunch;
  WaitReason reason = WaitReason::kData;  // wait
  StreamId stream;
  KernelId kernel;             // launch
  EventId event;               // record, wait
  uint32_t first_region = 0;   // launch, copy
  uint32_t reads = 0, writes = 0, scratch = 0;
  uint32_t label = 0;          // launch, copy: Schedule::strings, for traces and messages
  int64_t start_ns = 0;        // predicted
  int64_t finish_ns = 0;       // predicted
  int64_t duration_ns = 0;     // synthetic launch: how long it takes
};

// The command `before` must have finished when `after` starts, though no bytes say so. Indices into commands; both are
// launches or copies, before < after.
struct TokenEdge {
  uint32_t before = 0, after = 0;
};

// ---- functions ----------------------------------------------------------------------------------------------------

struct Port {
  std::string name;  // "" if it has none
  TensorType type;
  SpaceId space;     // kArgument or kResult, bytes == type.bytes()
};

struct Function {
  std::string name;
  std::vector<Port> arguments, results;
  std::vector<Space> spaces;
  std::vector<Stream> streams;
  uint32_t event_count = 0;
  std::vector<Command> commands;  // issue order
  std::vector<Region> regions;
  std::vector<TokenEdge> token_edges;
  int64_t predicted_makespan_ns = 0;
  int64_t lower_bound_ns = 0;
};

struct Schedule {
  std::string producer;  // "autopar-opt 0.1.0"
  Machine machine;       // planned for; device ids index it
  std::vector<std::string> strings;
  std::vector<CodeModule> modules;
  std::vector<Kernel> kernels;
  std::vector<Function> functions;
  // Constant bytes of all functions, written to a page-aligned segment of the file. The compiler fills the vector; the
  // reader leaves it empty and hands out a view of the mapped file beside the schedule (ScheduleFile::constants()).
  std::vector<uint8_t> constants;

  const Function* FindFunction(std::string_view name) const;
};

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_SCHEDULE_SCHEDULE_H_
