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
  std::string label; // not an attribute: the type that follows would be taken for the string's
  FunctionType type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseBinding) ||
      parser.parseString(&label) || parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type))
    return failure();
  result.addAttribute(getLabelAttrName(result.name), parser.getBuilder().getStringAttr(label));
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

/// An error at `op` with a note that says what to do.
static LogicalResult refuse(Operation *op, const Twine &what, const Twine &advice) {
  InFlightDiagnostic error = op->emitOpError(what);
  error.attachNote() << advice;
  return error;
}

/// The number that an attribute holds, of whatever type it was written in.
static std::optional<double> readNumber(Attribute attr) {
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getValueAsDouble();
  if (auto number = dyn_cast<IntegerAttr>(attr))
    return number.getValue().signedRoundToDouble();
  return std::nullopt;
}

/// (C1): values of `dict`, which is from a device's name or kind, must be numbers in [low, high], or (low, high].
static LogicalResult verifyPerDevice(Operation *op, std::optional<DictionaryAttr> dict, StringRef what, double low,
                                     bool lowAllowed, double high) {
  if (!dict)
    return success();
  for (NamedAttribute entry : *dict) {
    std::optional<double> value = readNumber(entry.getValue());
    // Written so that NaN is not in range.
    if (value && (lowAllowed ? *value >= low : *value > low) && *value <= high)
      continue;
    InFlightDiagnostic error = op->emitOpError("(C1) ") << what << " of '" << entry.getName().getValue() << "' is ";
    if (value)
      error << *value;
    else
      error << entry.getValue();
    error.attachNote() << "it must be a number " << (lowAllowed ? "from " : "above ") << low << " up to " << high;
    return error;
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
  if (op.getDevice() && op.getDevice()->empty())
    return refuse(op, "(C2) device is empty", "name a device, or leave device out");
  if (op.getColocate() && op.getColocate()->empty())
    return refuse(op, "(C2) colocate is empty", "name a group, or leave colocate out");
  if (auto buffers = op.getBuffers(); buffers && buffers->size() != op.getOutputs().size())
    return refuse(op,
                  "(C3) has " + Twine(op.getOutputs().size()) + " results but " + Twine(buffers->size()) + " buffers",
                  "buffers are written by the memory stage: start again from the program");
  return success();
}

LogicalResult TaskOp::verify() {
  if (failed(verifyTask(*this)))
    return failure();
  Block *block = getBodyBlock();
  if (block->getArgumentTypes() != getInputs().getTypes())
    return refuse(*this, "(C4) the region's arguments are not of the operands' types",
                  "give the region one argument for each operand, of its type");
  for (Operation &op : block->without_terminator())
    if (!op.hasTrait<IsTensorOp>())
      return refuse(&op, "(C5) stands in a task", "a task holds tensor ops only: move this op out of it");
  auto yield = block->empty() ? YieldOp() : dyn_cast<YieldOp>(block->back());
  if (!yield)
    return refuse(*this, "(C5) the region does not end with autopar.yield", "yield the task's results");
  // Tokens are results without a value: the yield gives the tensors, in order.
  SmallVector<Type> tensors;
  for (Type type : getOutputs().getTypes())
    if (!isa<TokenType>(type))
      tensors.push_back(type);
  if (llvm::to_vector(yield.getOperandTypes()) != tensors)
    return refuse(*this, "(C5) the yielded values are not of the results' types",
                  "yield one value for each result that is a tensor, in order");
  return success();
}

LogicalResult SyntheticTaskOp::verify() {
  if (failed(verifyTask(*this)))
    return failure();
  if (getCostNs().empty())
    return refuse(*this, "(C4) cost_ns is empty",
                  "give a cost for at least one device or kind of device: cost_ns = {cpu = 10.0}");
  for (Type type : getOutputs().getTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.getElementType().isInteger(1))
      return refuse(*this, "(C5) has a result of i1", "the bytes that it makes are not all 0 or 1: use i8");
  return verifyPerDevice(*this, getMemoryBytes(), "memory_bytes", 0, true, 1e18);
}

LogicalResult TransferOp::verify() {
  if (getFrom().empty() || getTo().empty() || getFrom() == getTo())
    return refuse(*this, "(C1) copies from '" + getFrom() + "' to '" + getTo() + "'", "name two different devices");
  if (getFinishNs() < getStartNs())
    return refuse(*this, "(C2) starts at " + Twine(getStartNs()) + " and finishes at " + Twine(getFinishNs()),
                  "a transfer cannot finish before it starts");
  return success();
}
