/* The kernels of the tests' programs: bytes stirred together, as C, so that the machine code of a schedule and the imitated GPU
   run the same text. */
#ifndef AUTOPAR_TEST_RUNTIME_DEVICE_CUDA_MIX_H_
#define AUTOPAR_TEST_RUNTIME_DEVICE_CUDA_MIX_H_

#include <stdint.h>

enum { kMixBytes = 1008, kMostMixed = 3 };

/* buffers: `reads` operands, then the result, all of kMixBytes bytes. */
static inline void Mix(void *const *buffers, int reads) {
  uint8_t *out = (uint8_t *)buffers[reads];
  for (int i = 0; i < kMixBytes; ++i) {
    unsigned value = (unsigned)(reads * 41 + i);
    for (int operand = 0; operand < reads; ++operand) {
      const uint8_t *in = (const uint8_t *)buffers[operand];
      value = value * 31 + in[(i * 7 + operand) % kMixBytes] + (value >> 7);
    }
    out[i] = (uint8_t)(value ^ (value >> 8));
  }
}

#endif
