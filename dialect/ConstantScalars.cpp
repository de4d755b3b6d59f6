#include "dialect/ConstantScalars.h"

#include <bit>
#include <cmath>

using namespace mlir;
using namespace mlir::autopar;

static Scalar toScalar(const APFloat &value) { return {value.convertToFloat(), 0}; }

static Scalar toScalar(const APInt &value) {
  return {0, value.getBitWidth() == 1 ? static_cast<int64_t>(value.getZExtValue()) : value.getSExtValue()};
}

std::optional<SmallVector<Scalar>> mlir::autopar::readScalars(Attribute constant) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(constant);
  if (!elements || elements.empty() || (!elements.isSplat() && elements.getNumElements() > maxFoldedElements))
    return std::nullopt;
  Type type = elements.getElementType();
  SmallVector<Scalar> scalars;
  if (type.isF32()) {
    if (elements.isSplat())
      return SmallVector<Scalar>{toScalar(elements.getSplatValue<APFloat>())};
    for (const APFloat &value : elements.getValues<APFloat>())
      scalars.push_back(toScalar(value));
    return scalars;
  }
  if (!type.isSignlessInteger(32) && !type.isSignlessInteger(1))
    return std::nullopt;
  if (elements.isSplat())
    return SmallVector<Scalar>{toScalar(elements.getSplatValue<APInt>())};
  for (const APInt &value : elements.getValues<APInt>())
    scalars.push_back(toScalar(value));
  return scalars;
}

std::optional<Scalar> mlir::autopar::readSplat(Attribute constant) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(constant);
  if (!elements || !elements.isSplat())
    return std::nullopt;
  std::optional<SmallVector<Scalar>> scalars = readScalars(elements);
  if (!scalars)
    return std::nullopt;
  return scalars->front();
}

bool mlir::autopar::isSplatOf(Attribute constant, Scalar value) {
  std::optional<Scalar> splat = readSplat(constant);
  return splat && std::bit_cast<uint32_t>(splat->f) == std::bit_cast<uint32_t>(value.f) && splat->i == value.i;
}

Attribute mlir::autopar::writeScalars(RankedTensorType type, ArrayRef<Scalar> values) {
  Type element = type.getElementType();
  if (element.isF32()) {
    SmallVector<float> floats;
    for (Scalar value : values) {
      if (std::isnan(value.f))
        return nullptr;
      floats.push_back(value.f);
    }
    return DenseElementsAttr::get(type, ArrayRef<float>(floats));
  }
  if (element.isSignlessInteger(1)) {
    SmallVector<bool> bools;
    for (Scalar value : values)
      bools.push_back(value.i != 0);
    return DenseElementsAttr::get(type, ArrayRef<bool>(bools));
  }
  SmallVector<int32_t> integers;
  for (Scalar value : values)
    integers.push_back(static_cast<int32_t>(value.i));
  return DenseElementsAttr::get(type, ArrayRef<int32_t>(integers));
}

Attribute mlir::autopar::foldElementwise(ArrayRef<Attribute> constants, Type resultType,
                                         function_ref<Scalar(ArrayRef<Scalar>)> evaluate) {
  SmallVector<SmallVector<Scalar>> operands;
  size_t count = 1;
  for (Attribute constant : constants) {
    std::optional<SmallVector<Scalar>> scalars = readScalars(constant);
    if (!scalars)
      return nullptr;
    count = std::max(count, scalars->size());
    operands.push_back(std::move(*scalars));
  }
  SmallVector<Scalar> results, row(operands.size());
  for (size_t i = 0; i < count; ++i) {
    for (size_t operand = 0; operand < operands.size(); ++operand)
      row[operand] = operands[operand][operands[operand].size() == 1 ? 0 : i];
    results.push_back(evaluate(row));
  }
  return writeScalars(cast<RankedTensorType>(resultType), results);
}
