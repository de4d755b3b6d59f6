// The two 16-bit float types as bit patterns. Narrowing rounds to nearest, ties to even; too large
// becomes infinity; NaN stays NaN (quiet, sign kept).
#ifndef AUTOPAR_RUNTIME_IO_FLOAT16_H_
#define AUTOPAR_RUNTIME_IO_FLOAT16_H_

#include <cstdint>

namespace autopar {

float Float16ToFloat(uint16_t bits);
uint16_t FloatToFloat16(float value);
float Bfloat16ToFloat(uint16_t bits);
uint16_t FloatToBfloat16(float value);

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_IO_FLOAT16_H_
