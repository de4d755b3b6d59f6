// Reads: the bodies of the tasks. Writes: one autopar.kernel per distinct body, and each task's `kernel`.
//
// Two bodies are equal if their ops, attributes and types are; what a task is called or reads does not count. One hash and,
// where hashes agree, one comparison per task.

#include "compiler/codegen/KernelShape.h"
#include "compiler/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::autopar {
#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "compiler/Passes.h.inc"
} // namespace mlir::autopar

using namespace mlir;
using namespace mlir::autopar;

namespace {
/// Ops that give a kernel its name; more are not worth reading.
constexpr size_t maxNameOps = 3;
constexpr auto equivalenceFlags = OperationEquivalence::IgnoreLocations;

llvm::hash_code hashBody(Block &body) {
  // Values count by their position.
  DenseMap<Value, unsigned> numbers;
  llvm::hash_code hash = llvm::hash_value(body.getNumArguments());
  for (BlockArgument argument : body.getArguments()) {
    numbers[argument] = numbers.size();
    hash = llvm::hash_combine(hash, argument.getType());
  }
  for (Operation &op : body) {
    hash = llvm::hash_combine(
        hash, OperationEquivalence::computeHash(
                  &op, [&](Value operand) { return llvm::hash_value(numbers.lookup(operand)); },
                  OperationEquivalence::ignoreHashValue, equivalenceFlags));
    for (Value result : op.getResults())
      numbers[result] = numbers.size();
  }
  return hash;
}

/// What a kernel is called, apart from its number: its ops, in order, without those that any kernel may hold.
std::string nameOf(Block &body) {
  std::string name;
  size_t count = 0;
  for (Operation &op : body.without_terminator()) {
    if (isa<ConstantOp, BroadcastOp>(op))
      continue;
    if (count++ == maxNameOps) {
      name += "_etc";
      break;
    }
    if (!name.empty())
      name += '_';
    name += op.getName().stripDialect();
  }
  if (!name.empty())
    return name;
  bool isFill = llvm::any_of(body, [](Operation &op) { return isa<ConstantOp>(op); });
  bool isBroadcast = llvm::any_of(body, [](Operation &op) { return isa<BroadcastOp>(op); });
  return isBroadcast ? "broadcast" : isFill ? "fill" : "copy";
}

struct OutlineKernels : mlir::autopar::impl::OutlineKernelsPassBase<OutlineKernels> {
  void runOnOperation() override;

private:
  FailureOr<KernelOp> makeKernel(TaskOp task);
  StringAttr uniqueName(Block &body);

  llvm::StringMap<unsigned> counters;
  llvm::StringSet<> symbols;
};

StringAttr OutlineKernels::uniqueName(Block &body) {
  std::string base = nameOf(body), name;
  do
    name = (Twine(base) + "_" + Twine(counters[base]++)).str();
  while (!symbols.insert(name).second);
  return StringAttr::get(&getContext(), name);
}

FailureOr<KernelOp> OutlineKernels::makeKernel(TaskOp task) {
  std::string why;
  FailureOr<KernelShape> shape = classifyKernel(*task.getBodyBlock(), &why);
  if (failed(shape)) {
    task.emitOpError() << "cannot be compiled as one kernel: " << why << "; split it into several tasks";
    return failure();
  }
  bool isProduct = shape->kind == KernelKind::Matmul;
  SmallVector<int64_t> reads;
  auto isFactor = [&](BlockArgument argument) {
    return isProduct && llvm::is_contained(shape->root->getOperands(), Value(argument));
  };
  if (isProduct)
    for (Value factor : shape->root->getOperands())
      reads.push_back(cast<BlockArgument>(factor).getArgNumber());
  for (BlockArgument argument : task.getBodyBlock()->getArguments())
    if (isa<RankedTensorType>(argument.getType()) && !isFactor(argument))
      reads.push_back(argument.getArgNumber());

  OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
  ProductAttr product;
  if (isProduct) {
    auto matmul = cast<MatmulOp>(shape->root);
    product = ProductAttr::get(&getContext(), shape->batch, shape->m, shape->n, shape->k, shape->lhsBatch,
                               shape->rhsBatch, matmul.getTransposeA(), matmul.getTransposeB(), shape->tileM,
                               shape->tileN);
  }
  auto kernel = KernelOp::create(builder, task.getLoc(), uniqueName(*task.getBodyBlock()),
                                 isProduct ? KernelForm::matmul : KernelForm::native, shape->tileCount,
                                 shape->scratchBytes, reads, product, isProduct && !shape->body.nodes.empty());
  IRMapping mapping;
  task.getBody().cloneInto(&kernel.getBody(), mapping);
  return kernel;
}

void OutlineKernels::runOnOperation() {
  ModuleOp module = getOperation();
  counters.clear();
  symbols.clear();
  DenseMap<uint64_t, SmallVector<KernelOp, 1>> kernels;
  for (Operation &op : module.getOps()) {
    if (auto symbol = dyn_cast<SymbolOpInterface>(op))
      symbols.insert(symbol.getName());
    if (auto kernel = dyn_cast<KernelOp>(op)) // of a module that is read back
      kernels[hashBody(*kernel.getBodyBlock())].push_back(kernel);
  }
  SmallVector<TaskOp> tasks;
  module.walk([&](TaskOp task) { tasks.push_back(task); });
  bool hasFailed = false;
  for (TaskOp task : tasks) {
    // A pin of an op inside has done its work: it is the task's device now.
    for (Operation &op : *task.getBodyBlock())
      op.removeDiscardableAttr(AutoparDialect::getDeviceAttrName());
    auto &bucket = kernels[hashBody(*task.getBodyBlock())];
    KernelOp found;
    for (KernelOp kernel : bucket)
      if (OperationEquivalence::isRegionEquivalentTo(&kernel.getBody(), &task.getBody(), equivalenceFlags)) {
        found = kernel;
        break;
      }
    if (!found) {
      FailureOr<KernelOp> made = makeKernel(task);
      if (failed(made)) {
        hasFailed = true;
        continue;
      }
      found = *made;
      bucket.push_back(found);
    }
    task.setKernelAttr(FlatSymbolRefAttr::get(found.getSymNameAttr()));
    task.setTileCountAttr(found.getTileCountAttr());
  }
  if (hasFailed)
    signalPassFailure();
}
} // namespace
