"""A small tracer: each call emits one op of the dialect and evaluates it in numpy (float64), so that a program and the
values that it must give are written down once."""
import numpy as np

TYPES = {"f32": np.float32, "i32": np.int32, "i1": np.bool_}


def philox(seed, count):
    """`count` uniform float32 numbers in [0, 1): Philox4x32-10, key = seed, counter = index // 4 (Salmon et al. 2011)."""
    blocks = -(-count // 4)
    index = np.arange(blocks, dtype=np.uint64)
    mask = np.uint64(0xFFFFFFFF)
    c = [index & mask, index >> np.uint64(32), np.zeros_like(index), np.zeros_like(index)]
    k0, k1 = np.uint64(seed & 0xFFFFFFFF), np.uint64((seed >> 32) & 0xFFFFFFFF)
    for _ in range(10):
        p0, p1 = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ k0, p1 & mask, (p0 >> np.uint64(32)) ^ c[3] ^ k1, p0 & mask]
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & mask, (k1 + np.uint64(0xBB67AE85)) & mask
    words = np.stack(c, axis=1).reshape(-1)[:count]
    return ((words >> np.uint64(8)).astype(np.float64) * 2.0 ** -24).astype(np.float32)


def uniform(seed, shape):
    return philox(seed, int(np.prod(shape, dtype=np.int64))).reshape(shape)


class Value:
    def __init__(self, name, kind, data):
        self.name, self.kind, self.data = name, kind, data

    @property
    def shape(self):
        return self.data.shape

    @property
    def type(self):
        return "tensor<" + "".join(f"{d}x" for d in self.shape) + self.kind + ">"


class Program:
    """Traces one function. `device` on an op or an argument pins it."""

    def __init__(self, name, comment):
        self.name, self.comment = name, comment
        self.arguments, self.inputs, self.lines, self.results = [], [], [], []

    def _emit(self, text, kind, data, device=None):
        value = Value(f"%{len(self.lines)}", kind, data)
        attributes = f' {{autopar.device = "{device}"}}' if device else ""
        self.lines.append(f"  {value.name} = autopar." + text.replace("{}", attributes, 1).replace("@", value.type))
        return value

    def argument(self, data, device=None, name=None):
        kind = {np.dtype(v): k for k, v in TYPES.items()}[data.dtype]
        value = Value("%" + (name or f"a{len(self.arguments)}"), kind,
                      data.astype(np.float64) if kind == "f32" else data)
        pin = f' {{autopar.device = "{device}"}}' if device else ""
        self.arguments.append(f"{value.name}: {value.type}{pin}")
        self.inputs.append(data)
        return value

    def result(self, value, device=None):
        self.results.append((value, f' {{autopar.device = "{device}"}}' if device else ""))

    # ---- ops ----

    def random(self, seed, shape, device=None):
        data = uniform(seed, shape).astype(np.float64)
        return self._emit(f"random_uniform seed = {seed}{{}} : @", "f32", data, device)

    def splat(self, number, shape, kind="f32"):
        text = {"f32": f"{float(number):.9e}", "i32": str(int(number)), "i1": str(bool(number)).lower()}[kind]
        data = np.full(shape, number, np.float64 if kind == "f32" else TYPES[kind])
        return self._emit(f"constant dense<{text}> : @", kind, data)

    def matmul(self, a, b, ta=False, tb=False, device=None):
        left = np.swapaxes(a.data, -1, -2) if ta else a.data
        right = np.swapaxes(b.data, -1, -2) if tb else b.data
        flags = (" transpose_a" if ta else "") + (" transpose_b" if tb else "")
        return self._emit(f"matmul {a.name}, {b.name}{flags}{{}} : {a.type}, {b.type} -> @", "f32", left @ right, device)

    def binary(self, op, a, b, device=None):
        functions = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "min": np.minimum,
                     "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "pow": np.power}
        if op == "div":
            data = a.data / b.data if a.kind == "f32" else np.trunc(a.data / b.data).astype(np.int32)
        elif op == "rem":
            data = np.fmod(a.data, b.data)
        else:
            data = functions[op](a.data, b.data)
        return self._emit(f"{op} {a.name}, {b.name}{{}} : @", a.kind, data, device)

    def unary(self, op, a, device=None):
        erf = np.vectorize(__import__("math").erf, otypes=[np.float64])
        functions = {"neg": np.negative, "abs": np.abs, "sign": np.sign, "exp": np.exp, "log": np.log, "sqrt": np.sqrt,
                     "rsqrt": lambda x: 1 / np.sqrt(x), "tanh": np.tanh, "erf": erf, "sin": np.sin, "cos": np.cos,
                     "floor": np.floor, "ceil": np.ceil, "relu": lambda x: np.maximum(x, 0), "not": np.invert,
                     "sigmoid": lambda x: 1 / (1 + np.exp(-x))}
        return self._emit(f"{op} {a.name}{{}} : @", a.kind, functions[op](a.data), device)

    def compare(self, predicate, a, b, device=None):
        functions = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
                     "ge": np.greater_equal}
        return self._emit(f"compare {predicate} {a.name}, {b.name}{{}} : {a.type} -> @", "i1",
                          functions[predicate](a.data, b.data), device)

    def select(self, c, a, b, device=None):
        return self._emit(f"select {c.name}, {a.name}, {b.name}{{}} : {c.type}, @", a.kind,
                          np.where(c.data, a.data, b.data), device)

    def convert(self, a, kind, device=None):
        data = a.data.astype(np.float64 if kind == "f32" else TYPES[kind])
        return self._emit(f"convert {a.name}{{}} : {a.type} -> @", kind, data, device)

    def broadcast(self, a, dims, shape, device=None):
        expanded = [1] * len(shape)
        for dim, size in zip(dims, a.shape):
            expanded[dim] = size
        data = np.broadcast_to(a.data.reshape(expanded), shape).copy()
        return self._emit(f"broadcast {a.name} dims = {list(dims)}{{}} : {a.type} -> @", a.kind, data, device)

    def reshape(self, a, shape, device=None):
        return self._emit(f"reshape {a.name}{{}} : {a.type} -> @", a.kind, a.data.reshape(shape), device)

    def transpose(self, a, permutation, device=None):
        return self._emit(f"transpose {a.name} permutation = {list(permutation)}{{}} : {a.type} -> @", a.kind,
                          np.transpose(a.data, permutation).copy(), device)

    def slice(self, a, offsets, sizes, strides=None, device=None):
        strides = strides or [1] * len(offsets)
        box = tuple(slice(o, o + (n - 1) * s + 1 if n else o, s) for o, n, s in zip(offsets, sizes, strides))
        return self._emit(f"slice {a.name} offsets = {list(offsets)} strides = {list(strides)}{{}} : {a.type} -> @",
                          a.kind, a.data[box].copy(), device)

    def concat(self, values, axis, device=None):
        names, types = ", ".join(v.name for v in values), ", ".join(v.type for v in values)
        return self._emit(f"concat {names} axis = {axis}{{}} : ({types}) -> @", values[0].kind,
                          np.concatenate([v.data for v in values], axis), device)

    def reduce(self, kind, a, axes, device=None):
        functions = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}
        data = np.asarray(functions[kind](a.data, axis=tuple(axes)))
        data = data.astype(np.float64 if a.kind == "f32" else np.int32)
        return self._emit(f"reduce {kind} {a.name} axes = {list(axes)}{{}} : {a.type} -> @", a.kind, data, device)

    def argmax(self, a, axis, device=None):
        return self._emit(f"argmax {a.name} axis = {axis}{{}} : {a.type} -> @", "i32",
                          np.asarray(np.argmax(a.data, axis)).astype(np.int32), device)

    def softmax(self, a, axis, device=None):
        e = np.exp(a.data - a.data.max(axis=axis, keepdims=True))
        return self._emit(f"softmax {a.name} axis = {axis}{{}} : @", "f32", e / e.sum(axis=axis, keepdims=True), device)

    def iota(self, axis, shape, kind="f32"):
        view = [1] * len(shape)
        view[axis] = shape[axis]
        data = np.broadcast_to(np.arange(shape[axis]).reshape(view), shape)
        return self._emit(f"iota axis = {axis} : @", kind, data.astype(np.float64 if kind == "f32" else np.int32))

    # ---- output ----

    def text(self):
        comment = "".join(f"// {line}\n".replace("// \n", "//\n") for line in self.comment.strip().split("\n"))
        separator = ",\n" + " " * (len("func.func @main("))
        results = separator.join(value.type + pin for value, pin in self.results)
        names = ", ".join(value.name for value, _ in self.results)
        types = ", ".join(value.type for value, _ in self.results)
        returned = f"  return {names} : {types}\n" if self.results else "  return\n"
        return (f"{comment}func.func @main({separator.join(self.arguments)})\n    -> ({results}) {{\n" +
                "\n".join(self.lines) + "\n" + returned + "}\n")

    def expected(self):
        return [value.data.astype(TYPES[value.kind]) for value, _ in self.results]
