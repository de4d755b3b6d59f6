#include "runtime/device/host/synthetic.h"

#include <cstring>

namespace autopar {
namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
inline uint64_t Stir(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Calls use(bytes, count, position) for the pieces of a region in row-major order.
template <class Use>
void ForEachRow(const Region& region, std::byte* base, const Use& use) {
  if (region.row_bytes == 0) return;
  for (uint64_t row = 0; row < region.rows; ++row) {
    use(base + row * region.row_stride, region.row_bytes, row * region.row_bytes);
  }
}

uint64_t DigestOperand(const Region& region, std::byte* base) {
  uint64_t sum = 0, partial = 0, total = region.rows * region.row_bytes;
  ForEachRow(region, base, [&](const std::byte* bytes, uint64_t count, uint64_t position) {
    uint64_t at = 0;
    // Bytes that complete a word begun in the row before, or begin one for the next.
    auto one_byte = [&] {
      uint64_t where = position + at;
      partial |= static_cast<uint64_t>(bytes[at]) << (where % 8 * 8);
      if (where % 8 == 7 || where + 1 == total) {
        sum += Stir(partial + Stir(where / 8 + 1));
        partial = 0;
      }
      ++at;
    };
    while (at < count && (position + at) % 8 != 0) one_byte();
    for (; at + 8 <= count; at += 8) {
      uint64_t word;
      std::memcpy(&word, bytes + at, sizeof word);
      sum += Stir(word + Stir((position + at) / 8 + 1));
    }
    while (at < count) one_byte();
  });
  return sum + total;
}

}  // namespace

uint64_t DigestOperands(uint64_t seed, absl::Span<const Region> reads, void* const* buffers) {
  uint64_t digest = Stir(seed);
  for (size_t i = 0; i < reads.size(); ++i) {
    digest = Stir(digest + DigestOperand(reads[i], static_cast<std::byte*>(buffers[i])));
  }
  return digest;
}

void FillResults(uint64_t digest, absl::Span<const Region> writes, void* const* buffers) {
  for (size_t r = 0; r < writes.size(); ++r) {
    auto word = [digest, r](uint64_t index) {
      return Stir(digest + Stir((static_cast<uint64_t>(r) << 40) + index + 1));
    };
    ForEachRow(writes[r], static_cast<std::byte*>(buffers[r]),
               [&](std::byte* bytes, uint64_t count, uint64_t position) {
                 uint64_t at = 0;
                 auto one_byte = [&] {
                   uint64_t where = position + at;
                   bytes[at] = static_cast<std::byte>(word(where / 8) >> (where % 8 * 8));
                   ++at;
                 };
                 while (at < count && (position + at) % 8 != 0) one_byte();
                 for (; at + 8 <= count; at += 8) {
                   uint64_t bits = word((position + at) / 8);
                   std::memcpy(bytes + at, &bits, sizeof bits);
                 }
                 while (at < count) one_byte();
               });
  }
}

}  // namespace autopar
