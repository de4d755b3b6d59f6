// Pseudo-random numbers that are the same everywhere (splitmix64, public domain, Sebastiano Vigna).
#ifndef AUTOPAR_TEST_FAKE_CUDA_RANDOM_H_
#define AUTOPAR_TEST_FAKE_CUDA_RANDOM_H_

#include <cstdint>

namespace fake {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // In [0, n); n > 0.
  uint64_t Below(uint64_t n) { return Next() % n; }
  bool Percent(int chance) { return static_cast<int>(Below(100)) < chance; }

 private:
  uint64_t state_;
};

}  // namespace fake

#endif  // AUTOPAR_TEST_FAKE_CUDA_RANDOM_H_
