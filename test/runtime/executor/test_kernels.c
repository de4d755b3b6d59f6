// Machine code as a compiler would write it into a schedule, for tests. Built as a shared object whose
// bytes become a code module.
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

// Does nothing.
void nothing(void *const *buffers, int64_t tile_begin, int64_t tile_end) {}

enum { kElements = 10000, kTile = 1024 };

// out[i] = a[i] + b[i], 10,000 f32 in tiles of 1,024; the last one is short.
void add(void *const *buffers, int64_t tile_begin, int64_t tile_end) {
  const float *a = buffers[0], *b = buffers[1];
  float *out = buffers[2];
  int64_t end = tile_end * kTile < kElements ? tile_end * kTile : kElements;
  for (int64_t i = tile_begin * kTile; i < end; ++i) out[i] = a[i] + b[i];
}

// The same, with tiles rounded up: writes past the end of its result.
void add_and_overrun(void *const *buffers, int64_t tile_begin, int64_t tile_end) {
  const float *a = buffers[0], *b = buffers[1];
  float *out = buffers[2];
  for (int64_t i = tile_begin * kTile; i < tile_end * kTile; ++i) {
    out[i] = i < kElements ? a[i] + b[i] : 1.0f;
  }
}

// Tile t: notes the thread that runs it and counts how often it ran, taking a while.
void note_threads(void *const *buffers, int64_t tile_begin, int64_t tile_end) {
  int32_t *threads = buffers[0], *counts = buffers[1];
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    threads[tile] = (int32_t)gettid();
    ++counts[tile];
    struct timespec pause = {0, 200000};
    nanosleep(&pause, 0);
  }
}

// Matmul epilogue for C of 37 columns with bias in the third operand: max(c + bias[column], 0).
void bias_relu(void *const *buffers, int64_t row_begin, int64_t row_end, int64_t col_begin,
               int64_t col_end) {
  const float *bias = buffers[2];
  float *c = buffers[3];
  for (int64_t row = row_begin; row < row_end; ++row) {
    for (int64_t col = col_begin; col < col_end; ++col) {
      float value = c[row * 37 + col] + bias[col];
      c[row * 37 + col] = value > 0 ? value : 0;
    }
  }
}
