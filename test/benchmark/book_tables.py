#!/usr/bin/env python3
"""The book chapter's two experiments on emulated devices, as two tables of ratios taken in one run on one machine.

Table 1: products on two virtual devices of one core each: both halves together against the slower half alone, and that one
against a bare pinned loop over the same library calls.
Table 2: products on a virtual device and the copies of their results to the host, over an emulated link whose speed makes
the copies take as long as the products: overlapped against the longer of the two alone.

    book_tables.py --bin build/bin [--size 1024] [--products 4] [--copy-size 512] [--copies 40] [--trace FILE]
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import numpy as np


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(w) for w in command)}\nexit status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def median_ms(text):
    return float(re.search(r"time_ms .*median=([0-9.]+)", text).group(1))


def program(n, products, results_stay, compute=True):
    """`products`: (argument name, device) pairs; each is squared, or passed on as it is."""
    t = f"tensor<{n}x{n}xf32>"
    arguments = ", ".join(f'%{name}: {t} {{autopar.device = "{device}"}}' for name, device in products)
    pins = [f' {{autopar.device = "{device}"}}' if results_stay else "" for _, device in products]
    # Pinned: a free product would go to the CPU, which has all cores.
    lines = [f'  %r{i} = autopar.matmul %{name}, %{name} {{autopar.device = "{device}"}} : {t}, {t} -> {t}'
             if compute else "" for i, (name, device) in enumerate(products)]
    names = [f"%r{i}" if compute else f"%{name}" for i, (name, _) in enumerate(products)]
    return (f"func.func @main({arguments}) -> ({', '.join(t + p for p in pins)}) {{\n" + "\n".join(lines) +
            f"\n  return {', '.join(names)} : {', '.join([t] * len(products))}\n}}\n")


class Bench:
    def __init__(self, options, work):
        self.options, self.work, self.inputs = options, work, {}

    def compile(self, name, text, machine):
        source, schedule = self.work / f"{name}.mlir", self.work / f"{name}.sched"
        source.write_text(text)
        run([self.options.bin / "autopar-opt", source, f"--machine={machine}", "-o", schedule])
        return schedule

    def operands(self, n, count):
        """Flags for distinct operands with known bytes, so that copies can be verified."""
        for i in range(count):
            if (n, i) not in self.inputs:
                path = self.work / f"in{n}-{i}.npy"
                np.save(path, np.random.default_rng(i).random((n, n), dtype=np.float32))
                self.inputs[n, i] = f"--input=@{path}"
        return [self.inputs[n, i] for i in range(count)]

    def time(self, schedule, n, count):
        return median_ms(run([self.options.bin / "autopar-run", schedule, *self.operands(n, count), "--warmup=3",
                              f"--repeat={self.options.round_calls}"]))

    def medians(self, cases):
        """Rounds in turn, so that a disturbance of the machine hits all cases alike; the median over the rounds."""
        times = {name: [] for name in cases}
        for _ in range(self.options.rounds):
            for name, measure in cases.items():
                times[name].append(measure())
        return {name: statistics.median(values) for name, values in times.items()}


def table_one(bench):
    n, count = bench.options.size, bench.options.products
    halves = {d: [(f"{d}_{i}", d) for i in range(count)] for d in ("gpu0", "gpu1")}
    both = bench.compile("both", program(n, halves["gpu0"] + halves["gpu1"], True), "virtual:2")
    alone = {d: bench.compile(d, program(n, halves[d], True), "virtual:2") for d in halves}
    bare = [bench.options.bin / "bare_matmul", n, count, bench.options.round_calls]
    t = bench.medians({
        "both": lambda: bench.time(both, n, 2 * count),
        "gpu0": lambda: bench.time(alone["gpu0"], n, count),
        "gpu1": lambda: bench.time(alone["gpu1"], n, count),
        "bare0": lambda: median_ms(run(bare + [0])),
        "bare1": lambda: median_ms(run(bare + [1])),
    })
    slower = max(("gpu0", "gpu1"), key=lambda d: t[d])
    reference = t["bare0" if slower == "gpu0" else "bare1"]
    print(f"Two virtual devices of one core each, {count} products of {n}x{n} on each")
    for name, title in (("gpu0", "gpu0 alone"), ("gpu1", "gpu1 alone"), ("both", "both together")):
        print(f"  {title:34s} {t[name]:9.2f} ms")
    print(f"  {'bare pinned loop, same core':34s} {reference:9.2f} ms")
    print(f"  {'both / the slower alone':34s} {t['both'] / t[slower]:9.3f}    (budget 1.05)")
    print(f"  {'the slower alone / bare loop':34s} {t[slower] / reference:9.3f}    (budget 1.05)")


def table_two(bench):
    # The last copy has no product left to hide behind: 1 / count of the whole, so there are many.
    n, count = bench.options.copy_size, bench.options.copies
    products = [(f"x{i}", "gpu0") for i in range(count)]
    compute = bench.compile("compute", program(n, products, True), "virtual:1")
    compute_ms = statistics.median(bench.time(compute, n, count) for _ in range(3))
    # A link over which the results take as long as their products.
    rate = int(4 * n * n * count / (compute_ms / 1e3))
    machine = {
        "devices": [{"name": "cpu0", "kind": "cpu", "cores": os.cpu_count(), "streams": os.cpu_count()},
                    {"name": "gpu0", "kind": "virtual", "cores": 1, "first_core": 0, "streams": 8}],
        "links": [{"from": "cpu0", "to": "gpu0", "bytes_per_s": rate, "emulated": True, "engines": ["gpu0.in"]},
                  {"from": "gpu0", "to": "cpu0", "bytes_per_s": rate, "emulated": True, "engines": ["gpu0.out"]}]}
    path = bench.work / "slow-link.json"
    path.write_text(json.dumps(machine))
    copied = bench.compile("copy", program(n, products, False, compute=False), path)
    overlapped = bench.compile("overlapped", program(n, products, False), path)

    # The copied bytes are the products' bytes: compared with a run that copies nothing.
    local = bench.compile("local", program(n, [(name, "cpu0") for name, _ in products], True), "host")
    inputs = bench.operands(n, count)
    outputs = [[bench.work / f"{kind}{i}.npy" for i in range(count)] for kind in ("local", "copied")]
    for schedule, files in zip((local, overlapped), outputs):
        run([bench.options.bin / "autopar-run", schedule, *inputs, *[f"--output=@{f}" for f in files]])
    if any(a.read_bytes() != b.read_bytes() for a, b in zip(*outputs)):
        sys.exit("the copied bytes differ from the products computed on the host")

    t = bench.medians({"compute": lambda: bench.time(compute, n, count), "copy": lambda: bench.time(copied, n, count),
                       "overlapped": lambda: bench.time(overlapped, n, count)})
    longer = max(t["compute"], t["copy"])
    print(f"Compute on a virtual device and copy to the host, {count} products of {n}x{n}, emulated link of "
          f"{rate / 1e6:.0f} MB/s")
    for name in t:
        print(f"  {name:34s} {t[name]:9.2f} ms")
    print(f"  {'one after the other / longer':34s} {(t['compute'] + t['copy']) / longer:9.3f}")
    print(f"  {'overlapped / longer':34s} {t['overlapped'] / longer:9.3f}    (budget 1.05; copied bytes verified)")
    if bench.options.trace:
        run([bench.options.bin / "autopar-run", overlapped, *inputs, "--repeat=2", f"--trace={bench.options.trace}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--products", type=int, default=4)
    parser.add_argument("--copy-size", type=int, default=512)
    parser.add_argument("--copies", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--round-calls", type=int, default=15, help="calls in one round, after three to warm up")
    parser.add_argument("--trace", help="write the trace of one overlapped run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, pathlib.Path(folder))
        table_one(bench)
        print()
        table_two(bench)


if __name__ == "__main__":
    main()
