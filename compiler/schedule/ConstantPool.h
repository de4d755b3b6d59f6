// The constants of a schedule: bytes of tensor attributes, equal ones once.
#ifndef AUTOPAR_COMPILER_SCHEDULE_CONSTANTPOOL_H
#define AUTOPAR_COMPILER_SCHEDULE_CONSTANTPOOL_H

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace mlir::autopar {

class ConstantPool {
public:
  /// Offset of the constant's dense row-major bytes, a multiple of 64; i1 takes one byte an element. Emits an error at
  /// `op` and fails if the attribute's bytes are not there.
  FailureOr<uint64_t> add(Operation *op, ElementsAttr value);

  std::vector<uint8_t> takeBytes() { return std::move(bytes); }

private:
  struct Entry {
    uint64_t offset, size;
  };
  std::vector<uint8_t> bytes;
  std::unordered_multimap<uint64_t, Entry> byHash;
};

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_SCHEDULE_CONSTANTPOOL_H
