// The machine code of the tests' programs; its bytes become a code module.
#include "test/runtime/device/cuda/mix.h"

void mix1(void *const *buffers, int64_t tile_begin, int64_t tile_end) {
  if (tile_begin < tile_end) Mix(buffers, 1);
}
void mix2(void *const *buffers, int64_t tile_begin, int64_t tile_end) {
  if (tile_begin < tile_end) Mix(buffers, 2);
}
void mix3(void *const *buffers, int64_t tile_begin, int64_t tile_end) {
  if (tile_begin < tile_end) Mix(buffers, 3);
}
