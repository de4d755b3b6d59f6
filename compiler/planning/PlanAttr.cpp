#include "compiler/planning/PlanAttr.h"

#include "dialect/Autopar.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::autopar;

std::optional<PlanAttr> mlir::autopar::getPlan(func::FuncOp func) {
  auto dictionary = func->getAttrOfType<DictionaryAttr>(AutoparDialect::getPlanAttrName());
  if (!dictionary)
    return std::nullopt;
  auto makespan = dictionary.getAs<IntegerAttr>("makespan_ns");
  auto bound = dictionary.getAs<IntegerAttr>("lower_bound_ns");
  auto serial = dictionary.getAs<IntegerAttr>("serial_ns");
  auto binding = dictionary.getAs<StringAttr>("binding_bound");
  auto planner = dictionary.getAs<StringAttr>("planner");
  auto transfers = dictionary.getAs<DenseI64ArrayAttr>("transfers");
  if (!makespan || !bound || !serial || !binding || !planner || !transfers ||
      transfers.size() % PlanAttr::numbersPerTransfer != 0)
    return std::nullopt;
  auto maxStreams = dictionary.getAs<IntegerAttr>("max_streams");
  return PlanAttr{makespan.getInt(),
                  bound.getInt(),
                  serial.getInt(),
                  binding.getValue(),
                  planner.getValue(),
                  transfers.asArrayRef(),
                  maxStreams ? static_cast<uint32_t>(maxStreams.getInt()) : 0};
}

void mlir::autopar::setPlan(func::FuncOp func, const PlanAttr &plan) {
  Builder builder(func.getContext());
  SmallVector<NamedAttribute> entries = {
      builder.getNamedAttr("makespan_ns", builder.getI64IntegerAttr(plan.makespanNs)),
      builder.getNamedAttr("lower_bound_ns", builder.getI64IntegerAttr(plan.lowerBoundNs)),
      builder.getNamedAttr("serial_ns", builder.getI64IntegerAttr(plan.serialNs)),
      builder.getNamedAttr("binding_bound", builder.getStringAttr(plan.bindingBound)),
      builder.getNamedAttr("planner", builder.getStringAttr(plan.planner)),
      builder.getNamedAttr("transfers", builder.getDenseI64ArrayAttr(plan.transfers)),
  };
  if (plan.maxStreams != 0)
    entries.push_back(
        builder.getNamedAttr("max_streams", builder.getI64IntegerAttr(plan.maxStreams)));
  func->setAttr(AutoparDialect::getPlanAttrName(), builder.getDictionaryAttr(entries));
}
