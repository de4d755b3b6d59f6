#!/usr/bin/env python3
"""Writes the programs of this folder: NAME.mlir, and beside it NAME.json with how to make the inputs and within which
bounds the results must equal numpy's, which are in expected/NAME.K.npy. The small size is what CI runs and what is
committed; `--size book --out DIR` writes the sizes of the book chapter instead.

    make_programs.py                      the committed files (checked by a test: they must not differ)
    make_programs.py --size book --out D  the book's sizes
    make_programs.py --inputs D           the inputs of the committed programs, as D/NAME.inK.npy
"""
import argparse
import json
import pathlib

import numpy as np

from tracing import Program, uniform

HERE = pathlib.Path(__file__).parent
# Bounds, set before anything was compared: a product of k terms in [0, 1) is summed in another order than numpy's.
MATMUL = {"rtol": 2e-6, "atol": 1e-6}
CHAIN = {"rtol": 2e-5, "atol": 1e-5}
EXACT = {"rtol": 0, "atol": 0}


def two_devices(size):
    """Two devices side by side."""
    n, count = {"small": (97, 3), "book": (1024, 10)}[size]
    p = Program("two_devices", """The chapter's first experiment: two devices, each with its own products. Operands are distinct, so that no product
is computed once for several. Results stay on their device.""")
    for device in ("gpu0", "gpu1"):
        for i in range(count):
            seed = (100 if device == "gpu0" else 200) + i
            x = p.argument(uniform(seed, (n, n)), device, f"{device}_{i}")
            p.result(p.matmul(x, x, device=device), device)
    return p, MATMUL


def run_and_copy(size):
    """Compute on a device and copy each result to the host."""
    n, count = {"small": (64, 6), "book": (4000, 50)}[size]
    p = Program("run_and_copy", """The chapter's second experiment: products on a device, whose results the host wants. Each copy may run while the next
product is computed.""")
    for i in range(count):
        x = p.argument(uniform(300 + i, (n, n)), "gpu0", f"x{i}")
        p.result(p.matmul(x, x, device="gpu0"))
    return p, MATMUL


def eight_operations(size):
    """Exercise: eight independent operations."""
    n = {"small": 65, "book": 2000}[size]
    p = Program("eight_operations", """Eight operations that do not depend on each other: nothing but the machine limits how many run at once.""")
    for i in range(8):
        x = p.argument(uniform(400 + i, (n, n)), None, f"x{i}")
        p.result(p.matmul(x, x) if i % 2 == 0 else p.softmax(p.binary("mul", x, p.splat(3.0, (n, n))), 1))
    return p, CHAIN


def many_small(size):
    """Exercise: many small operations on one device."""
    n, count = {"small": (17, 24), "book": (64, 1000)}[size]
    p = Program("many_small", """Many small operations on one device: two long dependent chains and their sum, where starting a task costs as much as
running it.""")
    a = p.argument(uniform(500, (n, n)), "gpu0", "a")
    b = p.argument(uniform(501, (n, n)), "gpu0", "b")
    scale = p.splat(2.0 / n, (n, n))  # keeps the products at the size of their factors, away from denormal numbers
    x, y = a, b
    for i in range(count):
        x = p.binary("mul", p.matmul(x, b, device="gpu0"), scale, device="gpu0")
        y = p.unary("tanh", p.binary("add", y, a, device="gpu0"), device="gpu0")
    p.result(p.binary("add", x, y, device="gpu0"))
    return p, CHAIN


def cpu_and_devices(size):
    """Exercise: CPU and devices together."""
    n = {"small": 71, "book": 2000}[size]
    p = Program("cpu_and_devices", """The host and two devices work at the same time; the host then combines what all three computed.""")
    parts = []
    for i, device in enumerate(("cpu0", "gpu0", "gpu1")):
        x = p.argument(uniform(600 + i, (n, n)), device, f"x{i}")
        y = p.argument(uniform(610 + i, (n, n)), device, f"y{i}")
        product = p.matmul(x, y, device=device)
        parts.append(p.reduce("sum", product, [1], device=device))
    total = p.binary("add", p.binary("add", parts[0], parts[1], device="cpu0"), parts[2], device="cpu0")
    p.result(total)
    for part in parts:
        p.result(p.reduce("max", part, [0]))
    return p, CHAIN


def complex_dependencies(size):
    """Exercise: a graph with complex dependencies."""
    n = {"small": 48, "book": 1024}[size]
    p = Program("complex_dependencies", """A graph with forks, joins, a diamond and long edges: four branches of unequal length that meet pairwise.""")
    a = p.argument(uniform(700, (n, n)), None, "a")
    b = p.argument(uniform(701, (n, n)), None, "b")
    scale = p.splat(1.0 / n, (n, n))

    def mix(x, y):
        return p.binary("mul", p.matmul(x, y), scale)

    ab, ba = mix(a, b), mix(b, a)
    left = p.unary("relu", p.binary("sub", ab, ba))
    right = mix(ab, ba)
    deep = right
    for _ in range(3):
        deep = mix(deep, right)
    joined = p.concat([left, deep], 1)
    summary = p.reduce("sum", joined, [0])
    turned = p.transpose(joined, [1, 0])
    best = p.argmax(p.matmul(turned, left), 0)
    p.result(p.softmax(p.binary("add", deep, left), 1))
    p.result(summary)
    p.result(best)
    p.result(p.reduce("max", p.binary("add", ab, a), [0, 1]))
    return p, CHAIN


def mlp_three_devices(size):
    """The figure: one training step of a two-layer perceptron on a CPU and two devices."""
    batch, d, h, c = {"small": (46, 29, 33, 10), "book": (8192, 1024, 1024, 64)}[size]
    p = Program("mlp_three_devices", """The chapter's figure: a two-layer perceptron, data-parallel on a CPU and two devices. The host cuts the batch in two, each
device computes the gradients of its half, the host adds them up and updates the weights. No synchronisation is written.""")
    x = p.argument(uniform(800, (batch, d)), None, "x")
    y = p.argument(np.eye(c, dtype=np.float32)[np.arange(batch) % c], None, "y")
    # As networks are initialised: sums stay of the size of their terms, and no probability is a denormal number.
    w1 = p.argument((uniform(801, (d, h)) - np.float32(0.5)) * np.float32(2 / np.sqrt(d)), None, "w1")
    w2 = p.argument((uniform(802, (h, c)) - np.float32(0.5)) * np.float32(2 / np.sqrt(h)), None, "w2")
    half = batch // 2
    gradients = []
    for i, device in enumerate(("gpu0", "gpu1")):
        xi = p.slice(x, [i * half, 0], (half, d), device="cpu0")
        yi = p.slice(y, [i * half, 0], (half, c), device="cpu0")
        z = p.matmul(xi, w1, device=device)
        hidden = p.unary("relu", z, device=device)
        prediction = p.softmax(p.matmul(hidden, w2, device=device), 1, device=device)
        d_out = p.binary("mul", p.binary("sub", prediction, yi, device=device), p.splat(1.0 / batch, (half, c)),
                         device=device)
        g2 = p.matmul(hidden, d_out, ta=True, device=device)
        positive = p.compare("gt", z, p.splat(0.0, (half, h)), device=device)
        d_hidden = p.select(positive, p.matmul(d_out, w2, tb=True, device=device), p.splat(0.0, (half, h)),
                            device=device)
        gradients.append((p.matmul(xi, d_hidden, ta=True, device=device), g2))
    for w, k in ((w1, 0), (w2, 1)):
        total = p.binary("add", gradients[0][k], gradients[1][k], device="cpu0")
        step = p.binary("mul", total, p.splat(0.1, total.shape), device="cpu0")
        p.result(p.binary("sub", w, step, device="cpu0"))
    return p, CHAIN


def every_op(size):
    """Each op of the language once or more, on odd shapes."""
    m, n = {"small": (13, 67), "book": (1009, 1013)}[size]
    p = Program("every_op", """Each op of the language, on odd shapes, unpinned. f32 results come from well-conditioned arguments.""")
    x = p.argument(uniform(900, (m, n)), None, "x")
    i = p.argument((uniform(901, (m, n)) * 200 - 100).astype(np.int32), None, "i")
    shape = (m, n)
    y = p.binary("add", p.random(902, shape), p.splat(0.25, shape))
    for op in ("add", "sub", "mul", "div", "rem", "max", "min", "pow"):
        p.result(p.binary(op, x, y))
    for op in ("neg", "abs", "sign", "exp", "sqrt", "tanh", "erf", "sin", "cos", "floor", "ceil", "relu", "sigmoid"):
        p.result(p.unary(op, p.binary("sub", x, p.splat(0.5, shape)) if op not in ("sqrt",) else x))
    p.result(p.unary("log", y))
    p.result(p.unary("rsqrt", y))
    seven = p.splat(7, shape, "i32")
    for op in ("add", "sub", "mul", "div", "rem", "max", "min", "and", "or", "xor"):
        p.result(p.binary(op, i, seven))
    for op in ("neg", "abs", "sign", "not", "relu"):
        p.result(p.unary(op, i))
    less = p.compare("lt", x, y)
    p.result(less)
    p.result(p.select(less, x, y))
    p.result(p.binary("xor", less, p.compare("ge", i, seven)))
    p.result(p.convert(i, "f32"))
    p.result(p.convert(p.binary("mul", x, p.splat(50.0, shape)), "i32"))
    row = p.reduce("sum", x, [1])
    p.result(row)
    p.result(p.reduce("max", x, [0]))
    p.result(p.reduce("min", i, [0, 1]))
    p.result(p.reduce("prod", p.binary("add", p.random(903, shape), p.splat(0.5, shape)), [1]))
    p.result(p.broadcast(row, [0], shape))
    p.result(p.transpose(x, [1, 0]))
    p.result(p.reshape(x, (n, m)))
    p.result(p.slice(x, [1, 2], (m - 2, (n - 3) // 2), [1, 2]))
    p.result(p.concat([x, y], 0))
    p.result(p.argmax(x, 1))
    p.result(p.argmax(i, 0))
    p.result(p.softmax(x, 1))
    p.result(p.softmax(x, 0))
    p.result(p.iota(1, shape, "i32"))
    stacked = p.reshape(p.concat([x, y], 0), (2, m, n))
    p.result(p.matmul(stacked, stacked, tb=True))
    p.result(p.matmul(stacked, stacked, ta=True))
    return p, CHAIN


PROGRAMS = [two_devices, run_and_copy, eight_operations, many_small, cpu_and_devices, complex_dependencies,
            mlp_three_devices, every_op]


def write(program, bounds, out):
    (out / f"{program.name}.mlir").write_text(program.text())
    expected = program.expected()
    rows = [{"bounds": bounds if value.dtype == np.float32 else EXACT} for value in expected]
    (out / f"{program.name}.json").write_text(json.dumps(
        {"inputs": len(program.inputs), "results": rows}, indent=1) + "\n")
    (out / "expected").mkdir(exist_ok=True)
    for k, value in enumerate(expected):
        np.save(out / "expected" / f"{program.name}.{k}.npy", value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=["small", "book"], default="small")
    parser.add_argument("--out", type=pathlib.Path, default=HERE, help="where programs and expected values go")
    parser.add_argument("--inputs", type=pathlib.Path, help="write the inputs there; alone, nothing else is written")
    parser.add_argument("--only", help="one program by name")
    options = parser.parse_args()
    for build in PROGRAMS:
        if options.only in (None, build.__name__):
            program, bounds = build(options.size)
            if options.inputs:
                options.inputs.mkdir(parents=True, exist_ok=True)
                for k, value in enumerate(program.inputs):
                    np.save(options.inputs / f"{program.name}.in{k}.npy", value)
            if not options.inputs or options.out != HERE:
                options.out.mkdir(parents=True, exist_ok=True)
                write(program, bounds, options.out)


if __name__ == "__main__":
    main()
