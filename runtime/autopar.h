// The C++ API of autopar in one include: load a schedule file once, call it many times. The library
// is libautopar.so, the CMake package `autopar`, the target autopar::autopar. How to use it stands
// at the head of runtime/executor/program.h.
#ifndef AUTOPAR_RUNTIME_AUTOPAR_H_
#define AUTOPAR_RUNTIME_AUTOPAR_H_

#include "runtime/base/element_type.h"
#include "runtime/executor/program.h"
#include "runtime/io/npy.h"
#include "runtime/io/tensor.h"
#include "runtime/machine/machine.h"
#include "runtime/schedule/schedule.h"

namespace autopar {

// "0.1.0".
const char* Version();

}  // namespace autopar

#endif  // AUTOPAR_RUNTIME_AUTOPAR_H_
