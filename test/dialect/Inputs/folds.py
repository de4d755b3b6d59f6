"""Checks every fold on constants against numpy, bit by bit: folds.py AUTOPAR_OPT PREFIX.

Each case is a function of constants that must fold to one constant. Pairs whose result is NaN are left out: those are not
folded.
"""
import re
import subprocess
import sys

import numpy as np

FLOATS = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 1e-45, -1e-45, 1.17549435e-38, 3.4028235e38, -3.4028235e38,
                   0.1, 1 / 3, 2.5, -2.5, 0.5, -1.5, 16777216.0, 2147483648.0, -2147483648.0, 2147483520.0, 1e10],
                  dtype=np.float32)
INTS = np.array([0, 1, -1, 2, -2, 7, -7, 128, -128, 1000003, 65536, 16777217, 2147483647, -2147483647, -2147483648],
                dtype=np.int32)
BOOLS = np.array([0, 1], dtype=np.int32)


def wrap(values):
    return np.asarray(values, dtype=object).astype(np.int64).astype(np.uint32).view(np.int32)


def int_div(x, y):  # toward zero, x / 0 = -1
    return -1 if y == 0 else (abs(x) // abs(y)) * (1 if (x < 0) == (y < 0) else -1)


def int_rem(x, y):  # rem(x, 0) = x
    return x if y == 0 else x - int_div(x, y) * y


def on_ints(function):
    return lambda x, y: wrap([function(int(a), int(b)) for a, b in zip(x, y)])


def maximum(x, y):  # -0 is smaller than +0
    return np.where((x == y) & np.signbit(x), y, np.where(x >= y, x, y))


def minimum(x, y):
    return np.where((x == y) & np.signbit(y), y, np.where(x <= y, x, y))


def to_i32(x):
    wide = np.trunc(np.nan_to_num(x.astype(np.float64), nan=0.0, posinf=1e30, neginf=-1e30))
    return np.clip(wide, -2147483648, 2147483647).astype(np.int64).astype(np.int32)


FLOAT_BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "rem": np.fmod,
                "max": maximum, "min": minimum}
INT_BINARY = {"add": on_ints(lambda a, b: a + b), "sub": on_ints(lambda a, b: a - b),
              "mul": on_ints(lambda a, b: a * b), "div": on_ints(int_div), "rem": on_ints(int_rem),
              "max": on_ints(max), "min": on_ints(min), "and": on_ints(lambda a, b: a & b),
              "or": on_ints(lambda a, b: a | b), "xor": on_ints(lambda a, b: a ^ b)}
FLOAT_UNARY = {"neg": np.negative, "abs": np.abs, "sign": lambda x: np.sign(x) + np.float32(0), "sqrt": np.sqrt,
               "floor": np.floor, "ceil": np.ceil, "relu": lambda x: maximum(x, np.zeros_like(x))}
INT_UNARY = {"neg": lambda x: wrap([-int(a) for a in x]), "abs": lambda x: wrap([abs(int(a)) for a in x]),
             "sign": np.sign, "not": np.invert, "relu": lambda x: np.maximum(x, 0)}
COMPARE = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
           "ge": np.greater_equal}

cases = []  # (name, body, expected)


def constant(name, values):
    kind = "f32" if values.dtype == np.float32 else "i32"
    return f'  {name} = autopar.constant dense<"0x{values.tobytes().hex().upper()}"> : tensor<{len(values)}x{kind}>\n'


def add_case(name, body, expected, result="%r"):
    kind = "f32" if expected.dtype == np.float32 else "i32"
    tensor = f"tensor<{len(expected)}x{kind}>"
    cases.append((name, f"func.func @{name}() -> {tensor} {{\n{body}  return {result} : {tensor}\n}}\n", expected))


def pairs(values):
    x, y = np.meshgrid(values, values)
    return x.ravel(), y.ravel()


def binary(op, function, x, y, kind):
    expected = function(x, y)
    if kind == "f32":
        kept = ~np.isnan(expected)
        x, y, expected = x[kept], y[kept], expected[kept]
    body = constant("%x", x) + constant("%y", y) + f"  %r = autopar.{op} %x, %y : tensor<{len(x)}x{kind}>\n"
    add_case(f"{op}_{kind}", body, expected)


def unary(op, function, x, kind):
    expected = function(x)
    if kind == "f32":
        kept = ~np.isnan(expected)
        x, expected = x[kept], expected[kept]
    add_case(f"{op}_{kind}", constant("%x", x) + f"  %r = autopar.{op} %x : tensor<{len(x)}x{kind}>\n", expected)


def compare(predicate, function, values, kind):
    x, y = pairs(values)
    n = len(x)
    body = constant("%x0", x) + constant("%y0", y)
    if kind == "i1":
        body += "".join(f"  %{v} = autopar.convert %{v}0 : tensor<{n}xi32> -> tensor<{n}xi1>\n" for v in "xy")
    else:
        body = body.replace("%x0", "%x").replace("%y0", "%y")
    body += (f"  %c = autopar.compare {predicate} %x, %y : tensor<{n}x{kind}> -> tensor<{n}xi1>\n"
             f"  %r = autopar.convert %c : tensor<{n}xi1> -> tensor<{n}xi32>\n")
    add_case(f"compare_{predicate}_{kind}", body, function(x, y).astype(np.int32))


def convert(x, path, expected):
    body, kinds = constant("%v0", x), path.split(" ")
    for i, (source, target) in enumerate(zip(kinds, kinds[1:])):
        body += f"  %v{i + 1} = autopar.convert %v{i} : tensor<{len(x)}x{source}> -> tensor<{len(x)}x{target}>\n"
    add_case("convert_" + path.replace(" ", "_"), body, expected, f"%v{len(kinds) - 1}")


def build_cases():
    with_nan = np.append(FLOATS, np.float32(np.nan))
    with np.errstate(all="ignore"):
        for op, function in FLOAT_BINARY.items():
            binary(op, function, *pairs(FLOATS), "f32")
        for op, function in INT_BINARY.items():
            binary(op, function, *pairs(INTS), "i32")
        for op, function in FLOAT_UNARY.items():
            unary(op, function, FLOATS, "f32")
        for op, function in INT_UNARY.items():
            unary(op, function, INTS, "i32")
        for predicate, function in COMPARE.items():
            compare(predicate, function, with_nan, "f32")
            compare(predicate, function, INTS, "i32")
            compare(predicate, function, BOOLS, "i1")
        convert(with_nan, "f32 i32", to_i32(with_nan))
        convert(with_nan, "f32 i1 i32", (with_nan != 0).astype(np.int32))
        convert(INTS, "i32 f32", INTS.astype(np.float32))
        convert(INTS, "i32 i1 f32", (INTS != 0).astype(np.float32))


def main():
    tool, prefix = sys.argv[1:]
    build_cases()
    path = prefix + ".mlir"
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(body for _, body, _ in cases))
    text = subprocess.run([tool, path, "--canonicalize", "--mlir-print-elementsattrs-with-hex-if-larger=1"], check=True,
                          capture_output=True, text=True).stdout
    found = dict(re.findall(r'func\.func @(\w+)\(\)[^\n]*\{\n *%\w+ = autopar\.constant dense<"0x([0-9A-F]+)">[^\n]*\n'
                            r' *return', text))
    failures = 0
    for name, _, expected in cases:
        if name not in found:
            print(f"{name}: is not folded to one constant")
            failures += 1
            continue
        bits = np.frombuffer(bytes.fromhex(found[name]), dtype=np.uint32)
        wrong = np.flatnonzero(bits != np.ascontiguousarray(expected).view(np.uint32))
        if wrong.size:
            got = bits.view(expected.dtype)
            print(f"{name}: {wrong.size} wrong, the first is element {wrong[0]}: {got[wrong[0]]!r}, "
                  f"expected {expected[wrong[0]]!r}")
            failures += 1
    print(f"{len(cases)} cases, {failures} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
