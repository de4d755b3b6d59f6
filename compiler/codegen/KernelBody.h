// A kernel's elementwise part as one scalar program over one iteration space: broadcasts, transposes, slices and reshapes
// have become index expressions of the loads. The same program is emitted for one element or for a vector of them.
// Plain data over the ops of a body, which must outlive it. Not synchronised.
#ifndef AUTOPAR_COMPILER_CODEGEN_KERNELBODY_H
#define AUTOPAR_COMPILER_CODEGEN_KERNELBODY_H

#include "dialect/Autopar.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

#include <map>
#include <string>
#include <vector>

namespace mlir::autopar {

/// offset + sum over the dimensions d of the iteration space of coefficients[d] * index[d].
struct IndexExpr {
  int64_t offset = 0;
  SmallVector<int64_t, 4> coefficients;

  bool operator==(const IndexExpr &) const = default;
};

/// One scalar of the program.
struct BodyNode {
  enum class Kind {
    Load,   ///< element `index` of input number `input`
    Splat,  ///< `value`
    Iota,   ///< `index` as a number
    Random, ///< element `index` of random_uniform with `seed`
    Compute ///< `op` applied to `operands`
  };
  Kind kind = Kind::Splat;
  Type element;
  unsigned input = 0;
  IndexExpr index;
  Attribute value;
  uint64_t seed = 0;
  Operation *op = nullptr;
  SmallVector<unsigned, 3> operands;
};

/// The number of the matmul's result as an input of its epilogue.
inline constexpr unsigned productInput = ~0u;

/// The nodes in an order in which operands come first.
struct KernelBody {
  SmallVector<int64_t, 4> space;
  std::vector<BodyNode> nodes;
};

/// Elements of a shape.
int64_t elementsOf(ArrayRef<int64_t> shape);
/// Row-major strides, in elements.
SmallVector<int64_t, 4> rowMajorStrides(ArrayRef<int64_t> shape);

/// Builds a KernelBody by following values to the inputs.
class BodyBuilder {
public:
  /// `inside` holds the ops that belong to the kernel; values of other ops and block arguments are inputs, numbered as in
  /// `inputs`, which grows by those that it lacks.
  BodyBuilder(KernelBody &body, const llvm::SmallDenseSet<Operation *, 16> &inside,
              llvm::MapVector<Value, unsigned> &inputs);

  /// Makes `product` a leaf, input number `productInput`.
  void setProduct(Value value) { product = value; }

  /// The node of `value` for the identity index: element i of the iteration space, row-major, is element i of `value`,
  /// which has as many elements. Fails with a reason if it cannot be one scalar program.
  FailureOr<unsigned> add(Value value, std::string &why);

private:
  struct Map {
    bool linear = false;
    bool repeated = false; ///< a broadcast stands between: each element is computed several times
    SmallVector<IndexExpr, 4> dims; ///< one per dimension of the value, or the row-major index alone if linear
    bool operator==(const Map &) const = default;
  };
  struct Request {
    Value value;
    Map map;
  };

  FailureOr<unsigned> addRequest(const Request &root, std::string &why);
  /// The values that `request` needs first; empty for a leaf. A shape op needs one, with another map.
  LogicalResult expand(const Request &request, SmallVectorImpl<Request> &needs, std::string &why);
  LogicalResult mapThrough(Operation *op, const Map &map, Request &need, std::string &why);
  unsigned makeNode(const Request &request, ArrayRef<unsigned> operands);
  IndexExpr linearOf(const Map &map, ArrayRef<int64_t> shape) const;
  /// Splits a row-major index into one index per dimension, if each iteration dimension fits into one of them.
  bool delinearise(const IndexExpr &linear, ArrayRef<int64_t> shape, SmallVectorImpl<IndexExpr> &dims) const;
  bool isInput(Value value) const;
  std::vector<int64_t> keyOf(const Request &request) const;

  KernelBody &body;
  const llvm::SmallDenseSet<Operation *, 16> &inside;
  llvm::MapVector<Value, unsigned> &inputs;
  Value product;
  std::map<std::vector<int64_t>, unsigned> known;
};

} // namespace mlir::autopar

#endif // AUTOPAR_COMPILER_CODEGEN_KERNELBODY_H
