// Level 2: syntax and verifiers of the task ops.

#include "dialect/Autopar.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::autopar;

// autopar.task(%arg = %value, ...) "label" {attributes} : (types) -> (types) { body }
ParseResult TaskOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  auto parseBinding = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  StringAttr label;
  FunctionType type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseBinding) ||
      parser.parseAttribute(label, "label", result.attributes) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type))
    return failure();
  if (type.getNumInputs() != operands.size())
    return parser.emitError(loc) << "a task with " << operands.size() << " operands has "
                                 << type.getNumInputs() << " operand types";
  if (parser.resolveOperands(operands, type.getInputs(), loc, result.operands))
    return failure();
  for (auto [argument, argumentType] : llvm::zip_equal(arguments, type.getInputs()))
    argument.type = argumentType;
  result.addTypes(type.getResults());
  return parser.parseRegion(*result.addRegion(), arguments);
}

void TaskOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(llvm::zip_equal(getBodyBlock()->getArguments(), getInputs()), printer,
                        [&](auto pair) {
                          printer.printRegionArgument(std::get<0>(pair), {}, /*omitType=*/true);
                          printer << " = " << std::get<1>(pair);
                        });
  printer << ") ";
  printer.printAttributeWithoutType(getLabelAttr());
  printer.printOptionalAttrDict((*this)->getAttrs(), {getLabelAttrName().getValue()});
  printer << " : ";
  printer.printFunctionalType(getInputs().getTypes(), getOutputs().getTypes());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// Values of `dict` must be numbers in the given range; the message names the key.
static LogicalResult verifyPerDevice(Operation *op, std::optional<DictionaryAttr> dict, StringRef what,
                                     double low, bool lowAllowed, double high) {
  if (!dict)
    return success();
  for (NamedAttribute entry : *dict) {
    double value;
    if (auto number = dyn_cast<FloatAttr>(entry.getValue()))
      value = number.getValueAsDouble();
    else if (auto number = dyn_cast<IntegerAttr>(entry.getValue()))
      value = static_cast<double>(number.getInt());
    else
      return op->emitOpError() << what << " of '" << entry.getName().getValue() << "' must be a number";
    bool inRange = (lowAllowed ? value >= low : value > low) && value <= high;
    if (!inRange)
      return op->emitOpError() << what << " of '" << entry.getName().getValue() << "' must be "
                               << (lowAllowed ? "at least " : "above ") << low << " and at most "
                               << high << ", got " << value;
  }
  return success();
}

static constexpr double maxCostNs = 1e15; // eleven days

/// Checks that both kinds of task share.
template <typename Task>
static LogicalResult verifyTask(Task op) {
  if (failed(verifyPerDevice(op, op.getCostNs(), "cost_ns", 0, true, maxCostNs)) ||
      failed(verifyPerDevice(op, op.getOccupancy(), "occupancy", 0, false, 1)))
    return failure();
  if (auto buffers = op.getBuffers(); buffers && buffers->size() != op.getOutputs().size())
    return op.emitOpError() << "has " << op.getOutputs().size() << " results but " << buffers->size()
                            << " buffers";
  return success();
}

LogicalResult TaskOp::verify() {
  if (failed(verifyTask(*this)))
    return failure();
  Block *block = getBodyBlock();
  if (block->getArgumentTypes() != getInputs().getTypes())
    return emitOpError("region argument types must be the operand types");
  auto yield = block->empty() ? YieldOp() : dyn_cast<YieldOp>(block->back());
  if (!yield)
    return emitOpError("region must end with autopar.yield");
  // Tokens are results without a value: the yield gives the tensors, in order.
  SmallVector<Type> tensors;
  for (Type type : getOutputs().getTypes())
    if (!isa<TokenType>(type))
      tensors.push_back(type);
  if (llvm::to_vector(yield.getOperandTypes()) != tensors)
    return emitOpError("autopar.yield must give the tensor results, in order");
  return success();
}

LogicalResult SyntheticTaskOp::verify() {
  if (failed(verifyTask(*this)))
    return failure();
  if (getCostNs().empty())
    return emitOpError("cost_ns must name at least one device or kind of device");
  return verifyPerDevice(*this, getMemoryBytes(), "memory_bytes", 0, true, 1e18);
}
