// Synthetic tasks: their bytes. The time is the stream's affair.
#ifndef AUTOPAR_RUNTIME_DEVICE_HOST_SYNTHETIC_H_
#define AUTOPAR_RUNTIME_DEVICE_HOST_SYNTHETIC_H_

#include <cstdint>

#include "absl/types/span.h"
#include "runtime/schedule/schedule.h"

namespace autopar {

// Digest of all bytes of all operands and the seed. Every device computes the same:
//   word i of an operand = its bytes [8i, 8i + 8) in row-major order, little-endian, zeros beyond the end;
//   operand = sum over i of Stir(word i + Stir(i + 1)), plus its byte count;
//   digest  = fold over the operands of Stir(digest + operand), beginning with Stir(seed).
// Sums do not depend on order, so that a device may split them.
uint64_t DigestOperands(uint64_t seed, absl::Span<const Region> reads, void* const* buffers);

// Fills every byte of the results: word i of result r = Stir(digest + Stir(r * 2^40 + i + 1)).
void FillResults(uint64_t digest, absl::Span<const Region> writes, void* const* buffers);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_DEVICE_HOST_SYNTHETIC_H_
