// Level 3: the short spellings of streams, devices and buffers.

#include "dialect/ScheduleSyntax.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::autopar;

LogicalResult StreamAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef device,
                                 StreamDirection direction, int64_t ordinal, StringRef peer) {
  if (device.empty())
    return emitError() << "a stream must name a device";
  if (ordinal < 0 || ordinal > UINT32_MAX)
    return emitError() << "a stream's ordinal must not be negative or above " << UINT32_MAX;
  if ((direction == StreamDirection::to) == peer.empty())
    return emitError() << "a stream names another device if, and only if, its direction is 'to'";
  return success();
}

//===-- device names: @gpu0 -----------------------------------------------------------------------------------------===//

ParseResult mlir::autopar::parseDeviceName(OpAsmParser &parser, StringAttr &device) {
  return parser.parseSymbolName(device);
}

void mlir::autopar::printDeviceName(OpAsmPrinter &printer, Operation *, StringAttr device) {
  printer.printSymbolName(device.getValue());
}

//===-- streams: @gpu0[0], @gpu0[in], @gpu0[out], @gpu0[to @gpu1] ---------------------------------------------------===//

ParseResult mlir::autopar::parseStream(OpAsmParser &parser, StreamAttr &stream) {
  StringAttr device, peer = parser.getBuilder().getStringAttr("");
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseSymbolName(device) || parser.parseLSquare())
    return failure();
  auto direction = StreamDirection::compute;
  int64_t ordinal = 0;
  OptionalParseResult number = parser.parseOptionalInteger(ordinal);
  if (number.has_value()) {
    if (failed(*number))
      return failure();
  } else {
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<StreamDirection> parsed = symbolizeStreamDirection(keyword);
    if (!parsed || *parsed == StreamDirection::compute)
      return parser.emitError(loc) << "expected a number, 'in', 'out' or 'to', got '" << keyword << "'";
    direction = *parsed;
    if (direction == StreamDirection::to && parser.parseSymbolName(peer))
      return failure();
    if (OptionalParseResult which = parser.parseOptionalInteger(ordinal); which.has_value() && failed(*which))
      return failure();
  }
  if (parser.parseRSquare())
    return failure();
  stream = StreamAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                                  device.getValue(), direction, ordinal, peer.getValue());
  return success(static_cast<bool>(stream));
}

void mlir::autopar::printStream(OpAsmPrinter &printer, Operation *, StreamAttr stream) {
  printer.printSymbolName(stream.getDevice());
  printer << '[';
  if (stream.getDirection() == StreamDirection::compute)
    printer << stream.getOrdinal();
  else
    printer << stringifyStreamDirection(stream.getDirection());
  if (stream.getDirection() == StreamDirection::to) {
    printer << ' ';
    printer.printSymbolName(stream.getPeer());
  }
  if (stream.getDirection() != StreamDirection::compute && stream.getOrdinal() != 0)
    printer << ' ' << stream.getOrdinal();
  printer << ']';
}

//===-- buffers: @gpu0[64 for 256], arg0@gpu0[0 for 256], result0@cpu0[...], const0@gpu0[...] -----------------------===//

static constexpr std::pair<StringLiteral, SpaceKind> spacePrefixes[] = {
    {"arg", SpaceKind::argument}, {"result", SpaceKind::result}, {"const", SpaceKind::constant}};

ParseResult mlir::autopar::parseBuffer(OpAsmParser &parser, BufferAttr &buffer) {
  SMLoc loc = parser.getCurrentLocation();
  auto kind = SpaceKind::arena;
  int64_t index = 0, offset = 0, bytes = 0;
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    bool known = false;
    for (auto [prefix, prefixKind] : spacePrefixes) {
      StringRef rest = keyword;
      if (!rest.consume_front(prefix) || rest.getAsInteger(10, index))
        continue;
      kind = prefixKind;
      known = true;
    }
    if (!known)
      return parser.emitError(loc) << "expected argN, resultN or constN, got '" << keyword << "'";
  }
  StringAttr device;
  if (parser.parseSymbolName(device) || parser.parseLSquare() || parser.parseInteger(offset) ||
      parser.parseKeyword("for") || parser.parseInteger(bytes) || parser.parseRSquare())
    return failure();
  buffer = BufferAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), kind,
                                  index, device.getValue(), offset, bytes);
  return success(static_cast<bool>(buffer));
}

void mlir::autopar::printBuffer(OpAsmPrinter &printer, Operation *, BufferAttr buffer) {
  for (auto [prefix, kind] : spacePrefixes)
    if (kind == buffer.getSpace())
      printer << prefix << buffer.getIndex();
  printer.printSymbolName(buffer.getDevice());
  printer << '[' << buffer.getOffset() << " for " << buffer.getBytes() << ']';
}

ParseResult mlir::autopar::parseBuffers(OpAsmParser &parser, ArrayAttr &buffers) {
  SmallVector<Attribute> list;
  auto parseOne = [&]() -> ParseResult {
    BufferAttr buffer;
    if (parseBuffer(parser, buffer))
      return failure();
    list.push_back(buffer);
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseOne))
    return failure();
  buffers = parser.getBuilder().getArrayAttr(list);
  return success();
}

void mlir::autopar::printBuffers(OpAsmPrinter &printer, Operation *op, ArrayAttr buffers) {
  printer << '(';
  llvm::interleaveComma(buffers.getAsRange<BufferAttr>(), printer,
                        [&](BufferAttr buffer) { printBuffer(printer, op, buffer); });
  printer << ')';
}
