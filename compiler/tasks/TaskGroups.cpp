#include "compiler/tasks/TaskGroups.h"

#include "compiler/tasks/CostModel.h"
#include "compiler/tasks/CostTable.h"
#include "compiler/tasks/FusionRules.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::autopar;

bool mlir::autopar::isTensorOp(Operation *op) {
  return op->hasTrait<IsTensorOp>();
}

bool mlir::autopar::isSplatConstant(Operation *op) {
  auto constant = dyn_cast_or_null<ConstantOp>(op);
  return constant && constant.getValue().isSplat();
}

/// A constant with different elements lives on every device and is an operand like an argument.
static bool isResidentConstant(Operation *op) { return isa<ConstantOp>(op) && !isSplatConstant(op); }

namespace {

/// A group while it grows, from its root backwards.
struct OpenGroup {
  SmallVector<Operation *> ops; // the root first
  SmallVector<Value> operands;
  StringAttr pin;
  unsigned countedOps = 0;   // without splat constants
  double computeNs = 0;
  double elements = 0;       // of the largest value
  bool hasViews = false;     // reshape, transpose, slice
  llvm::SmallDenseSet<Operation *, 4> repeated; // below a broadcast
};

class Grouping {
public:
  Grouping(func::FuncOp function, bool fuse) : block(function.getBody().front()), fuse(fuse), estimates(block) {}

  TaskGroups run();

private:
  /// The groups of an op's users, each once; `outside` when somebody else uses it too: a task, the return.
  struct Users {
    SmallVector<unsigned, 2> groups;
    bool outside = false;
  };

  static bool takesPart(Operation *op) { return op && isTensorOp(op) && !isResidentConstant(op); }
  Users usersOf(Operation *op) const;
  void place(Operation *op);
  static SmallVector<Operation *> usersIn(const OpenGroup &group, Operation *op);
  static bool isRepeatedIn(const OpenGroup &group, Operation *op, ArrayRef<Operation *> users);
  void take(Operation *op, OpenGroup &group);
  bool canJoin(Operation *op, const OpenGroup &group, bool asCopy) const;
  void join(Operation *op, unsigned group);
  void open(Operation *op);
  TaskGroups finish();

  Block &block;
  bool fuse;
  OpEstimates estimates;
  std::vector<OpenGroup> open_;
  DenseMap<Operation *, SmallVector<unsigned, 1>> groupsOf;
};

} // namespace

/// Users before producers, depth first: a group is finished before the next begins. Of an op's producers the one with the
/// least work behind it comes first, so that short branches are taken in before a long chain uses the operands up.
TaskGroups Grouping::run() {
  DenseMap<Operation *, unsigned> waitingFor; // uses by ops that have no place yet
  std::vector<Operation *> ready;
  for (Operation &op : block) {
    if (!takesPart(&op))
      continue;
    unsigned uses = llvm::count_if(op.getUses(), [](OpOperand &use) { return takesPart(use.getOwner()); });
    if (uses == 0)
      ready.push_back(&op);
    else
      waitingFor[&op] = uses;
  }
  SmallVector<Operation *> next;
  while (!ready.empty()) {
    Operation *op = ready.back();
    ready.pop_back();
    place(op);
    next.clear();
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp(); takesPart(producer) && --waitingFor[producer] == 0)
        next.push_back(producer);
    llvm::stable_sort(next, [&](Operation *a, Operation *b) { return estimates.coneNs(a) > estimates.coneNs(b); });
    llvm::append_range(ready, next);
  }
  return finish();
}

Grouping::Users Grouping::usersOf(Operation *op) const {
  Users users;
  // An op of a hundred thousand users is in as many groups: a set beside the list keeps this linear.
  llvm::SmallDenseSet<unsigned, 4> seen;
  for (Operation *user : op->getUsers()) {
    auto found = groupsOf.find(user);
    if (found == groupsOf.end()) {
      users.outside |= !isTensorOp(user); // a tensor op without a group is unused itself
      continue;
    }
    for (unsigned group : found->second)
      if (seen.insert(group).second)
        users.groups.push_back(group);
  }
  return users;
}

void Grouping::place(Operation *op) {
  Users users = usersOf(op);
  if (users.groups.empty() && !users.outside)
    return; // unused
  bool sinks = isSplatConstant(op);
  bool repeats = sinks || (fuse && !getPin(op) && isCheapToRepeat(op, estimates));
  bool single = users.groups.size() == 1 && !users.outside;
  if (!repeats && !single)
    return open(op);
  // What is repeated goes to every group that takes it; the others share one task.
  bool needsOwn = users.outside;
  for (unsigned group : users.groups) {
    if (sinks || (fuse && canJoin(op, open_[group], !single)))
      join(op, group);
    else
      needsOwn = true;
  }
  if (needsOwn)
    open(op);
}

bool Grouping::canJoin(Operation *op, const OpenGroup &group, bool asCopy) const {
  if (group.countedOps + 1 > maxTaskOps || group.operands.size() > maxTaskOperands + 1 ||
      op->getNumOperands() > maxTaskOperands)
    return false;
  unsigned operands = group.operands.size() - 1; // its own result is no operand any more
  for (auto [index, value] : llvm::enumerate(op->getOperands()))
    if (!isSplatConstant(value.getDefiningOp()) && !llvm::is_contained(group.operands, value) &&
        !llvm::is_contained(op->getOperands().take_front(index), value))
      ++operands;
  if (operands > maxTaskOperands)
    return false;
  SmallVector<Operation *> users = usersIn(group, op);
  Candidate candidate{op,
                      users,
                      group.ops,
                      group.operands,
                      group.computeNs,
                      group.elements,
                      isRepeatedIn(group, op, users),
                      group.hasViews,
                      getPin(op),
                      group.pin};
  return pinsAgree(candidate, estimates) && kernelHolds(candidate) && (asCopy || isWorthFusing(candidate, estimates));
}

/// The group's own users of an op. An op may have a hundred thousand others.
SmallVector<Operation *> Grouping::usersIn(const OpenGroup &group, Operation *op) {
  if (op->hasOneUse())
    return {*op->user_begin()};
  SmallVector<Operation *> users;
  for (Operation *member : group.ops)
    if (llvm::is_contained(member->getOperands(), op->getResult(0)))
      users.push_back(member);
  return users;
}

/// A broadcast that makes elements stands between the op and the group's root: the kernel computes it more than once.
bool Grouping::isRepeatedIn(const OpenGroup &group, Operation *op, ArrayRef<Operation *> users) {
  return llvm::any_of(users, [&](Operation *user) {
    return group.repeated.contains(user) ||
           (isa<BroadcastOp>(user) &&
            elementCount(user->getResult(0).getType()) > elementCount(op->getResult(0).getType()));
  });
}

/// What joining and opening share.
void Grouping::take(Operation *op, OpenGroup &group) {
  if (!group.pin && (group.ops.empty() || !isSplatConstant(op)))
    group.pin = getPin(op);
  group.ops.push_back(op);
  groupsOf[op].push_back(&group - open_.data());
  if (isSplatConstant(op))
    return;
  group.countedOps++;
  group.hasViews |= isa<ReshapeOp, TransposeOp, SliceOp>(op);
  group.computeNs += estimates.computeNs(op);
  group.elements = std::max(group.elements, elementCount(op->getResult(0).getType()));
}

void Grouping::join(Operation *op, unsigned index) {
  OpenGroup &group = open_[index];
  if (isSplatConstant(op))
    return take(op, group);
  if (isRepeatedIn(group, op, usersIn(group, op)))
    group.repeated.insert(op);
  take(op, group);
  llvm::erase(group.operands, op->getResult(0));
  for (Value operand : op->getOperands())
    if (!isSplatConstant(operand.getDefiningOp()) && !llvm::is_contained(group.operands, operand))
      group.operands.push_back(operand);
}

void Grouping::open(Operation *op) {
  OpenGroup &group = open_.emplace_back();
  take(op, group);
  llvm::SmallDenseSet<Value, 8> seen;
  for (Value operand : op->getOperands())
    if (!isSplatConstant(operand.getDefiningOp()) && seen.insert(operand).second)
      group.operands.push_back(operand);
}

TaskGroups Grouping::finish() {
  TaskGroups result;
  for (Operation &op : block) {
    auto found = groupsOf.find(&op);
    if (takesPart(&op) && found == groupsOf.end())
      result.unused.push_back(&op);
  }
  auto isBefore = [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); };
  for (OpenGroup &group : open_) {
    TaskGroup &closed = result.groups.emplace_back();
    closed.ops = std::move(group.ops);
    llvm::sort(closed.ops, isBefore);
    closed.pin = group.pin;
    // Operands in order of first use, which does not depend on how the group grew.
    llvm::SmallDenseSet<Value, 16> outside(group.operands.begin(), group.operands.end());
    for (Operation *op : closed.ops)
      for (Value operand : op->getOperands())
        if (outside.erase(operand))
          closed.operands.push_back(operand);
  }
  llvm::sort(result.groups, [&](const TaskGroup &a, const TaskGroup &b) { return isBefore(a.root(), b.root()); });
  return result;
}

TaskGroups mlir::autopar::groupOps(func::FuncOp function, bool fuse) { return Grouping(function, fuse).run(); }
