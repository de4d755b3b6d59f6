// A function of placed tasks as flat arrays: what the stages transfers, memory, waits and schedule all read. Built once
// per pass, in time linear in the function; values and commands are numbered in op order.
#ifndef AUTOPAR_COMPILER_TRANSFERS_PLACEDFUNCTION_H
#define AUTOPAR_COMPILER_TRANSFERS_PLACEDFUNCTION_H

#include <optional>
#include <vector>

#include "dialect/Autopar.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "runtime/machine/machine.h"

namespace mlir::autopar {

struct PlacedFunction {
  static constexpr uint32_t none = ~0u;

  /// A task, a synthetic task or a transfer.
  struct Command {
    Operation *op = nullptr;
    ::autopar::DeviceId device; ///< That runs the task; that drives the transfer.
    ::autopar::LinkId link;     ///< Of a transfer; otherwise invalid.
    uint32_t stream = 0;        ///< Number among the device's compute streams, or the link's copy streams.
    int64_t startNs = 0, finishNs = 0;
  };

  enum class ValueKind : uint8_t { argument, constant, computed, token };
  struct ValueInfo {
    Value value;
    ValueKind kind = ValueKind::computed;
    uint32_t producer = none;   ///< Command; none for arguments and constants.
    ::autopar::DeviceId device; ///< Where it lives. Invalid for constants, which live everywhere.
    uint64_t bytes = 0;         ///< 0 for tokens and empty tensors.
    uint32_t number = 0;        ///< Of an argument or constant, otherwise of the producer's result.
  };

  mutable func::FuncOp func; ///< A handle: its methods are not const.
  std::vector<Command> commands;
  std::vector<ValueInfo> values;
  std::vector<uint32_t> operandBegin;            ///< commands.size() + 1 entries.
  std::vector<uint32_t> operandValues;           ///< Operands of command c: [operandBegin[c], operandBegin[c + 1]).
  std::vector<uint32_t> firstResult;             ///< By command: value id of its result 0; the others follow.
  std::vector<uint32_t> returned;                ///< Values in result order.
  std::vector<::autopar::DeviceId> resultDevice; ///< Where each result goes; invalid: it stays where it is.
  std::vector<ConstantOp> constants;

  ArrayRef<uint32_t> operands(uint32_t command) const {
    return ArrayRef(operandValues).slice(operandBegin[command],
                                         operandBegin[command + 1] - operandBegin[command]);
  }
  /// Value ids of the command's results: [first, second).
  std::pair<uint32_t, uint32_t> results(uint32_t command) const {
    return {firstResult[command], firstResult[command] + commands[command].op->getNumResults()};
  }
};

/// Reads `func`, a declaration excepted, whose tasks carry placements on devices of `machine`. Emits an error at the op
/// and fails where that is not so. `autopar.record` and `autopar.wait` are passed over.
FailureOr<PlacedFunction> readPlacedFunction(func::FuncOp func, const ::autopar::Machine &machine);

/// Checks that every operand of a task or transfer, tokens and empty tensors excepted, and every result live on their
/// device. Emits errors.
LogicalResult verifyResidence(const PlacedFunction &function, const ::autopar::Machine &machine);

/// Bytes of a value: dense, i1 as one byte; 0 for a token. Nothing if they exceed 2^62, or
/// for a type that is no ranked tensor of integers or floats of static shape.
std::optional<uint64_t> valueBytes(Type type);

/// "gpu0, gpu1": for sentences.
std::string deviceNames(const ::autopar::Machine &machine);

/// The number under the device's name, else under its kind, else nothing.
std::optional<double> lookUpForDevice(DictionaryAttr dictionary, const ::autopar::Device &device);

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_TRANSFERS_PLACEDFUNCTION_H
