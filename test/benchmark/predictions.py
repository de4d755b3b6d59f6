#!/usr/bin/env python3
"""Does a program take as long as its plan says? Measured over predicted makespan, in three tables:

1. Synthetic programs on virtual devices that sleep (tasks of 5 to 15 ms): fork-join, layers, a tiled Cholesky factorisation.
2. The programs of test/programs at the book's sizes, planned for this machine as `--describe-machine` measured it, and for
   a CPU and a virtual GPU of one core each. None of them was used to calibrate anything.
3. Contention: graphs whose transfers take as long as their tasks, over emulated links that share engines. Planned with the
   engines known and with the engines unknown, both executed on the same emulated machine.

    predictions.py --bin build/bin [--only 1 2 3] [--programs NAME ...]

Measured: the median over the calls from the first command to the last (autopar-run --trace). Figures, nothing fails.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "programs"
# Of 28 s of products on two cores.
TOO_LONG = {"run_and_copy"}


def call(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(w) for w in command)}\nexit status {done.returncode}: {done.stderr.strip()[:2000]}")
    return done.stdout


class Tools:
    def __init__(self, folder, work):
        self.opt, self.run, self.work = folder / "autopar-opt", folder / "autopar-run", work

    def compile(self, name, text, *flags):
        source, schedule = self.work / f"{name}.mlir", self.work / f"{name}.sched"
        source.write_text(text)
        call(self.opt, source, *flags, "-o", schedule)
        return schedule

    def makespans(self, schedule, inputs, calls):
        """Predicted and measured, in ms."""
        text = call(self.run, schedule, *inputs, "--warmup=2", f"--repeat={calls}", "--output_max_element_count=1",
                    f"--trace={self.work / 'trace.json'}")
        found = re.search(r"makespan_ms predicted=([0-9.]+) measured=([0-9.]+)", text)
        return float(found.group(1)), float(found.group(2))


class Synthetic:
    """A program of synthetic tasks, built edge by edge."""

    def __init__(self, bytes_per_edge, kinds="virtual"):
        self.type = f"tensor<{bytes_per_edge}xi8>"
        self.kinds = kinds
        self.lines, self.used = [], set()

    def task(self, operands, cost_ms):
        name = f"%t{len(self.lines)}"
        self.used.update(operands)
        self.lines.append(
            f'  {name} = "autopar.synthetic_task"({", ".join(operands)}) {{label = "{name[1:]}", cost_ns = '
            f'{{{self.kinds} = {cost_ms * 1e6:.1f}}}}} : ({", ".join([self.type] * len(operands))}) -> {self.type}')
        return name

    def text(self, result):
        return (f"func.func @main() -> ({self.type} {{autopar.device = \"gpu0\"}}) {{\n" + "\n".join(self.lines) +
                f"\n  return {result} : {self.type}\n}}\n")


def fork_join(random, edge_bytes, width=6, stages=3):
    p = Synthetic(edge_bytes)
    last = p.task([], random.uniform(5, 15))
    for _ in range(stages):
        middle = [p.task([last], random.uniform(5, 15)) for _ in range(width)]
        last = p.task(middle, random.uniform(5, 15))
    return p.text(last)


def layers(random, edge_bytes, width=5, depth=6):
    p = Synthetic(edge_bytes)
    row = [p.task([], random.uniform(5, 15)) for _ in range(width)]
    for _ in range(depth - 1):
        row = [p.task([row[k] for k in sorted(random.choice(width, 2, replace=False))], random.uniform(5, 15))
               for _ in range(width)]
    return p.text(p.task(row, 5))


def cholesky(random, edge_bytes, tiles=4):
    p = Synthetic(edge_bytes)
    tile = {}

    def step(target, operands, cost):
        tile[target] = p.task([tile[o] for o in operands if o in tile], cost)

    for k in range(tiles):
        step((k, k), [(k, k)], 5)
        for i in range(k + 1, tiles):
            step((i, k), [(i, k), (k, k)], 10)
        for i in range(k + 1, tiles):
            for j in range(k + 1, i + 1):
                step((i, j), [(i, j), (i, k), (j, k)], 12)
    return p.text(tile[tiles - 1, tiles - 1])


SHAPES = {"fork-join": fork_join, "layers": layers, "Cholesky": cholesky}


def table_synthetic(tools, options):
    print("Synthetic tasks of 5 to 15 ms that sleep                    predicted    measured   ratio (0.90 to 1.10)")
    for machine in ("virtual:2", "virtual:4"):
        for name, shape in SHAPES.items():
            for effort in (1, 2):
                text = shape(np.random.default_rng(1), 64)
                schedule = tools.compile("synthetic", text, f"--machine={machine}", f"--effort={effort}")
                predicted, measured = tools.makespans(schedule, [], 7)
                print(f"  {name:10s} {machine:10s} effort {effort} {predicted:34.2f} {measured:11.2f} {measured / predicted:8.3f}")


def halves(tools):
    """A measured host of one core and a virtual GPU on another: devices that share nothing, as virtual:1's do."""
    machine = json.loads(call(tools.run, "--describe-machine", "--machine=virtual:1"))
    cpu, gpu = machine["devices"]
    for field in ("cores", "peak_flops", "memory_bytes_per_s"):
        cpu[field] = gpu[field]
    cpu.update(first_core=0, streams=1)
    gpu.update(first_core=1)
    return json.dumps(machine)


def table_programs(tools, options):
    print("Programs, planned for the measured machine                  predicted    measured   ratio (0.90 to 1.10)")
    for machine in ("host", "one core each"):
        described = tools.work / "machine.json"
        described.write_text(call(tools.run, "--describe-machine") if machine == "host" else halves(tools))
        for source in sorted(PROGRAMS.glob("*.json")):
            name = source.stem
            if name in TOO_LONG or (options.programs and name not in options.programs):
                continue
            folder = tools.work / name
            folder.mkdir(exist_ok=True)
            if not (folder / f"{name}.mlir").exists():
                call(sys.executable, PROGRAMS / "make_programs.py", "--only", name, "--size", "book", "--out", folder,
                     "--inputs", folder)
            text = (folder / f"{name}.mlir").read_text()
            inputs = [f"--input=@{folder}/{name}.in{k}.npy" for k in range(len(list(folder.glob("*.npy"))))]
            flags = [f"--machine={described}", "--ignore-pins"]
            schedule = tools.compile("program", text, *flags)
            predicted, measured = tools.makespans(schedule, inputs, 5)
            print(f"  {name:24s} {machine:14s} {predicted:30.2f} {measured:11.2f} {measured / predicted:8.3f}")


def emulated(gpus, bytes_per_s, engines):
    """A CPU and GPUs with emulated links; `engines`: "none", "in and out" or "bus"."""
    devices = [{"name": "cpu0", "kind": "cpu", "cores": 2, "streams": 2}]
    devices += [{"name": f"gpu{i}", "kind": "virtual", "cores": 1, "streams": 2} for i in range(gpus)]
    links = []
    for a in devices:
        for b in devices:
            if a is b:
                continue
            used = {"none": [], "bus": ["bus"],
                    "in and out": [f"{d['name']}.{way}" for d, way in ((a, "out"), (b, "in")) if d["kind"] != "cpu"]}
            links.append({"from": a["name"], "to": b["name"], "bytes_per_s": bytes_per_s, "latency_ns": 1000,
                          "emulated": True, "engines": used[engines]})
    return {"devices": devices, "links": links}


def table_contention(tools, options):
    print("Transfers as long as tasks (10 ms)        engines     known: predicted, measured, ratio   unknown: measured   lost")
    edge_bytes, rate = 10_000, 1_000_000
    for engines in ("in and out", "bus"):
        known, unknown = tools.work / "known.json", tools.work / "unknown.json"
        known.write_text(json.dumps(emulated(3, rate, engines)))
        unknown.write_text(json.dumps(emulated(3, rate, "none")))
        for name, shape in SHAPES.items():
            text = shape(np.random.default_rng(2), edge_bytes)
            schedule = tools.compile("known", text, f"--machine={known}", "--effort=2")
            predicted, measured = tools.makespans(schedule, [], 3)
            # Placed and ordered without engines, then executed where there are some.
            placed = tools.work / "placed.mlir"
            tools.compile("free", text, f"--machine={unknown}", "--effort=2")
            call(tools.opt, tools.work / "free.mlir", f"--machine={unknown}", "--effort=2", "--stop-after=waits", "-o", placed)
            module = placed.read_text()
            start = module.index('autopar.machine = "') + len("autopar.machine = ")
            end = module.index('", autopar.', start) + 1
            wanted = call(tools.opt, tools.work / "known.mlir", f"--machine={known}", "--stop-after=tasks")
            begin = wanted.index('autopar.machine = "') + len("autopar.machine = ")
            module = module[:start] + wanted[begin:wanted.index('", autopar.', begin) + 1] + module[end:]
            schedule = tools.compile("replaced", module)
            _, lost = tools.makespans(schedule, [], 3)
            print(f"  {name:10s} {engines:38s} {predicted:8.2f} {measured:8.2f} {measured / predicted:7.3f} "
                  f"{lost:19.2f} {lost / measured:9.2f}")


TABLES = {"1": table_synthetic, "2": table_programs, "3": table_contention}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--only", nargs="*", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--programs", nargs="*", help="of table 2")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(options.bin, pathlib.Path(folder))
        for number in options.only:
            TABLES[number](tools, options)
            print()


if __name__ == "__main__":
    main()
