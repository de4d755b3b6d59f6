#include "compiler/schedule/ConstantPool.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::autopar;

static constexpr uint64_t constantAlignment = 64;

/// i1 elements from one byte each, or from one bit each, least significant first.
static std::vector<uint8_t> unpackBooleans(ArrayRef<char> raw, int64_t count) {
  std::vector<uint8_t> result(count);
  bool isPacked = static_cast<int64_t>(raw.size()) < count;
  for (int64_t i = 0; i < count; ++i)
    result[i] = isPacked ? raw[i / 8] >> (i % 8) & 1 : raw[i] != 0;
  return result;
}

/// Nothing if the bytes are not there or not as many as the type says.
static std::optional<std::vector<uint8_t>> denseBytes(ElementsAttr value) {
  auto type = cast<ShapedType>(value.getType());
  if (!type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return std::nullopt;
  int64_t count = type.getNumElements();
  uint64_t elementBytes = std::max<uint64_t>(1, type.getElementTypeBitWidth() / 8);
  bool isBoolean = type.getElementType().isInteger(1);
  ArrayRef<char> raw;
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    if (isBoolean) {
      std::vector<uint8_t> result;
      result.reserve(count);
      for (bool element : dense.getValues<bool>())
        result.push_back(element);
      return result;
    }
    raw = dense.getRawData();
    if (dense.isSplat()) {
      std::vector<uint8_t> result;
      result.reserve(count * elementBytes);
      for (int64_t i = 0; i < count; ++i)
        result.insert(result.end(), raw.begin(), raw.begin() + elementBytes);
      return result;
    }
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return std::nullopt;
    raw = blob->getData();
    int64_t size = raw.size();
    if (isBoolean && (size == count || size == (count + 7) / 8))
      return unpackBooleans(raw, count);
  } else {
    return std::nullopt;
  }
  if (raw.size() != count * elementBytes)
    return std::nullopt;
  return std::vector<uint8_t>(raw.begin(), raw.end());
}

FailureOr<uint64_t> ConstantPool::add(Operation *op, ElementsAttr value) {
  std::optional<std::vector<uint8_t>> content = denseBytes(value);
  if (!content) {
    op->emitOpError("has a value whose bytes are not in the program, or not as many as its type says");
    return failure();
  }
  uint64_t hash = llvm::xxh3_64bits(ArrayRef<uint8_t>(*content));
  auto [at, end] = byHash.equal_range(hash);
  for (; at != end; ++at)
    if (at->second.size == content->size() &&
        std::equal(content->begin(), content->end(), bytes.begin() + at->second.offset))
      return at->second.offset;
  bytes.resize((bytes.size() + constantAlignment - 1) / constantAlignment * constantAlignment);
  uint64_t offset = bytes.size();
  bytes.insert(bytes.end(), content->begin(), content->end());
  byHash.emplace(hash, Entry{offset, content->size()});
  return offset;
}
