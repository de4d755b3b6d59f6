// The parts of the CUDA device that need no CUDA: cutting copies into pieces, choosing code.
#include <gtest/gtest.h>

#include "runtime/device/cuda/cuda_copies.h"
#include "runtime/device/cuda/cuda_kernels.h"
#include "test/runtime/executor/schedule_builder.h"

namespace autopar {
namespace {

Region Rows(uint64_t row_bytes, uint64_t row_stride, uint64_t rows) {
  return {.space = SpaceId(0), .offset = 0, .row_bytes = row_bytes, .row_stride = row_stride, .rows = rows};
}

// Every byte of a shape lies in exactly one piece, whatever the piece's size.
TEST(CudaCopies, PiecesCoverAShapeOnce) {
  const struct {
    Region from, to;
  } cases[] = {{Rows(7, 13, 5), Rows(7, 7, 5)},   {Rows(7, 7, 5), Rows(7, 11, 5)}, {Rows(35, 35, 1), Rows(7, 9, 5)},
               {Rows(64, 64, 1), Rows(64, 64, 1)}, {Rows(1, 2, 9), Rows(9, 9, 1)},  {Rows(0, 4, 3), Rows(0, 0, 1)},
               {Rows(4, 4, 0), Rows(0, 0, 1)}};
  for (const auto& [from, to] : cases) {
    const CopyShape shape = ShapeOfCopy(from, to);
    const std::vector<uint8_t> source = TestBytes(200, 3);
    std::vector<uint8_t> expected(200, 0xee);
    for (uint64_t row = 0; row < shape.rows; ++row) {
      for (uint64_t byte = 0; byte < shape.row_bytes; ++byte) {
        expected[row * shape.to_stride + byte] = source[row * shape.from_stride + byte];
      }
    }
    for (uint64_t most : {1, 2, 3, 7, 8, 14, 20, 63, 64, 1000}) {
      std::vector<uint8_t> target(200, 0xee);
      uint64_t bytes = 0;
      for (uint64_t i = 0; i < CountPieces(shape, most); ++i) {
        const CopyPiece piece = PieceOf(shape, most, i);
        EXPECT_LE(piece.rows * piece.row_bytes, most);
        bytes += piece.rows * piece.row_bytes;
        CopyRows(reinterpret_cast<std::byte*>(target.data()) + piece.to_offset, shape.to_stride,
                 reinterpret_cast<const std::byte*>(source.data()) + piece.from_offset, shape.from_stride, piece.rows,
                 piece.row_bytes);
      }
      EXPECT_EQ(bytes, shape.bytes()) << most;
      EXPECT_EQ(target, expected) << most;
    }
  }
}

TEST(CudaKernels, CodeRunsOnItsArchitectureAndNewerOnes) {
  EXPECT_EQ(RunnableTarget("sm_75", 90), 75u);
  EXPECT_EQ(RunnableTarget("sm_90", 90), 90u);
  EXPECT_EQ(RunnableTarget("sm_90", 86), 0u);
  EXPECT_EQ(RunnableTarget("sm_90a", 90), 90u);
  EXPECT_EQ(RunnableTarget("sm_90a", 100), 0u) << "features of one architecture";
  EXPECT_EQ(RunnableTarget("sm_100", 120), 100u);
  for (const char* text : {"", "sm_", "x86-64-v3", "sm_x", "75"}) EXPECT_EQ(RunnableTarget(text, 90), 0u) << text;
}

}  // namespace
}  // namespace autopar
