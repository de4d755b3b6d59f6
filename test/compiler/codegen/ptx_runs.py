#!/usr/bin/env python3
"""Runs the code for GPUs of every kernel of some programs on a machine without one (ptx_machine.py), and compares with the
code for the CPU, which the other tests compare with exact values.

All results must have the CPU's bits, except where that is not promised (compiler/codegen/GpuEmitter.h): long rows and long
columns that threads share add, multiply and normalise in another order. Every byte of every result must be written.

    ptx_runs.py --bin build/bin [--only NAME] PROGRAM.mlir...
"""
import argparse
import ctypes
import pathlib
import re
import sys
import tempfile
import time

import numpy as np

from ptx_machine import Fault, Module, launch
from ptx_tools import Failure, Program, elements

DTYPES = {"f32": np.float32, "i32": np.int32, "i1": np.uint8}
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, -1e-45, 3.4e38, -3.4e38, 0.5, -2.5, 1.17549435e-38,
                    2147483648.0, -2147483648.0, 16777217.0, 88.7, -104.0, 1e10], np.float32)
OWN_ORDER = 512  # threads a block of the kernels that keep an order of their own
OWN_ORDER_BOUND = 1e-5  # relative, of sums and products of positive numbers near 1, at most 5,003 of them


def random_input(kind, shape, random, limits=None):
    count = elements(shape)
    if kind == "i1":
        return random.integers(0, 2, count).astype(np.uint8)
    if kind == "i32":
        values = random.integers(-2**31, 2**31, count).astype(np.int32) >> random.integers(0, 32, count).astype(np.int32)
        values[: min(4, count)] = np.array([-2**31, 2**31 - 1, -1, 0], np.int32)[: min(4, count)]
        return values
    if limits:
        return random.uniform(*limits, count).astype(np.float32)
    values = (random.integers(-10000, 10001, count) / 500.0).astype(np.float32)
    odd = random.integers(0, 2**32, count, dtype=np.uint64).astype(np.uint32).view(np.float32)
    values = np.where(random.random(count) < 0.25, odd, values)
    places = random.choice(count, min(count // 8, 40), replace=False)
    values[places] = SPECIAL[np.arange(len(places)) % len(SPECIAL)]
    return values


def aligned_bytes(array):
    memory = np.zeros(array.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    view = memory[start:start + array.nbytes]
    view[:] = array.view(np.uint8).reshape(-1)
    return view


def run_on_cpu(library, kernel, buffers):
    pointers = (ctypes.c_void_p * len(buffers))(*[b.ctypes.data for b in buffers])
    entry = getattr(library, kernel.name)
    if kernel.form == "matmul":
        rows = elements(kernel.results[0][1]) // kernel.columns
        entry(pointers, *(ctypes.c_int64(x) for x in (0, rows, 0, kernel.columns)))
    else:
        entry(pointers, ctypes.c_int64(0), ctypes.c_int64(kernel.tiles))


def differences(left, right, kind, is_own_order):
    """Indices where the results differ more than they may."""
    a, b = left.view(DTYPES[kind]), right.view(DTYPES[kind])
    if kind != "f32":
        return np.nonzero(a != b)[0]
    differs = (left.view(np.uint32) != right.view(np.uint32)) & ~(np.isnan(a) & np.isnan(b))
    if is_own_order:
        differs &= ~(np.abs(a.astype(np.float64) - b) <= OWN_ORDER_BOUND * np.abs(b))
    return np.nonzero(differs)[0]


def run_kernel(library, module, kernel, grid, block, seed):
    random = np.random.default_rng(seed)
    is_own_order = block == OWN_ORDER and bool(re.search("reduce|softmax", kernel.name))
    # Anything that f32 can be, and numbers of one size, whose sums and exponentials all count.
    limits = (0.99, 1.01) if is_own_order else (-4, 4) if seed == 2 else None
    inputs = [random_input(kind, shape, random, limits) for kind, shape in kernel.reads]
    outputs = [np.zeros(elements(shape), DTYPES[kind]) for kind, shape in kernel.results]
    if kernel.form == "matmul":  # the product that the epilogue finds
        outputs[0][:] = random_input("f32", (len(outputs[0]),), random).view(outputs[0].dtype)
    on_cpu = [aligned_bytes(x) for x in inputs + outputs]
    on_gpu = [b.copy() for b in on_cpu]
    run_on_cpu(library, kernel, on_cpu)
    written = launch(module, kernel.name, on_gpu, len(inputs), grid)
    first = len(inputs)
    for number, (flags, (kind, _)) in enumerate(zip(written, kernel.results)):
        if not flags.all():
            raise Failure(f"{kernel.name}: {int((~flags).sum())} bytes of result {number} are not written")
        wrong = differences(on_gpu[first + number], on_cpu[first + number], kind, is_own_order)
        if len(wrong):
            a, b = (x[first + number].view(DTYPES[kind])[wrong[0]] for x in (on_gpu, on_cpu))
            raise Failure(f"{kernel.name}: {len(wrong)} of {len(flags) // np.dtype(DTYPES[kind]).itemsize} elements of "
                          f"result {number} differ, the first at {wrong[0]}: {a!r}, on the CPU {b!r}")
    same = all(len(differences(on_gpu[first + n], on_cpu[first + n], kind, False)) == 0
               for n, (kind, _) in enumerate(kernel.results))
    return same


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--only")
    parser.add_argument("--arch", default="sm_75")
    parser.add_argument("--dump", type=pathlib.Path, help="folder for the PTX")
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    failures, count, own, slowest = [], 0, 0, (0.0, "")
    for path in options.programs:
        program = Program(options.bin / "autopar-opt", path, options.arch)
        with tempfile.NamedTemporaryFile(suffix=".so") as image:
            image.write(program.elf)
            image.flush()
            library = ctypes.CDLL(image.name)
        kernels = {k.name: k for k in program.kernels}
        for number, (text, launches) in enumerate(zip(program.ptx, program.launches)):
            if options.dump:
                (options.dump / f"{path.stem}.{number}.ptx").write_text(text)
            module = Module(text)
            if set(module.entries) != set(launches):
                raise Failure(f"{path}: launches of {sorted(launches)}, entries {sorted(module.entries)}")
            for name, (grid, block) in launches.items():
                if options.only not in (None, name):
                    continue
                start = time.monotonic()
                kernel = kernels[name]
                if module.entries[name].block != block:
                    failures.append(f"{name}: .reqntid {module.entries[name].block}, launched with {block}")
                for seed in (1, 2) if sum(elements(s) for _, s in kernel.reads + kernel.results) < 10**5 else (1,):
                    try:
                        own += not run_kernel(library, module, kernel, grid, block, seed)
                    except Fault as fault:
                        failures.append(f"{path.name}: {name}: {fault}")
                        break
                    except Failure as failure:
                        failures.append(f"{path.name}: {failure}")
                        break
                count += 1
                slowest = max(slowest, (time.monotonic() - start, name))
    for failure in failures:
        print(failure)
    print(f"{count} kernels, {count - len(failures)} as on the CPU ({own} runs in an order of their own); slowest "
          f"{slowest[1]} {slowest[0]:.1f} s")
    if count == 0:
        raise Failure("no kernel was run")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"ptx_runs: {failure}")
