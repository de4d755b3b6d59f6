#!/usr/bin/env python3
"""The budgets that need whole processes: start-up, memory, agreement with the prediction, compile time. Prints figures and
budgets side by side; times are this machine's, so nothing here fails on one.

    budgets.py --bin build/bin [--tasks 20000 100000]
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
import time

import numpy as np

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "programs"
STAGES = ["import", "tasks", "planning", "transfers", "memory", "waits", "codegen", "schedule"]


def measured(command):
    """Standard output, seconds from start to end, peak memory in MB."""
    start = time.perf_counter()
    child = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, err = child.stdout.read(), child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(str(w) for w in command)}\nexit status {child.returncode}: {err.strip()[:2000]}")
    return out, time.perf_counter() - start, usage.ru_maxrss / 1024


def median_ms(text):
    return float(re.search(r"time_ms .*median=([0-9.]+)", text).group(1))


class Tools:
    def __init__(self, folder, work):
        self.opt, self.run, self.work = folder / "autopar-opt", folder / "autopar-run", work

    def compile(self, name, text, *flags):
        source, schedule = self.work / f"{name}.mlir", self.work / f"{name}.sched"
        source.write_text(text)
        measured([self.opt, source, *flags, "-o", schedule])
        return schedule


def start_up(tools):
    text = ("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = autopar.neg %x : tensor<4xf32>\n"
            "  return %0 : tensor<4xf32>\n}\n")
    schedule = tools.compile("small", text, "--machine=host")
    times = [measured([tools.run, schedule, "--input=4xf32=1"])[1] for _ in range(50)]
    print(f"start of autopar-run to its end, small program     min {min(times) * 1e3:.1f} ms, median "
          f"{statistics.median(times) * 1e3:.1f} ms    (budget: first command within 20 ms)")


def memory(tools):
    n = 2048
    t = f"tensor<{n}x{n}xf32>"
    text = f"""func.func @main(%a: {t}, %b: {t}) -> ({t}, {t}) {{
  %0 = autopar.matmul %a, %b : {t}, {t} -> {t}
  %1 = autopar.matmul %b, %a : {t}, {t} -> {t}
  %2 = autopar.matmul %0, %1 : {t}, {t} -> {t}
  %3 = autopar.tanh %2 : {t}
  return %3, %1 : {t}, {t}
}}
"""
    schedule = tools.compile("memory", text, "--machine=host")
    dump, _, _ = measured([tools.run, schedule, "--dump"])
    arenas = sum(int(b) for b in re.findall(r"arena @\S+ bytes = (\d+)", dump))
    planned = (arenas + 4 * n * n * 4) / 2 ** 20
    inputs = []
    for name in ("a", "b"):
        np.save(tools.work / f"{name}.npy", np.ones((n, n), np.float32))
        inputs.append(f"--input=@{tools.work / name}.npy")
    _, _, peak = measured([tools.run, schedule, *inputs, *[f"--output=@{tools.work}/o{i}.npy" for i in range(2)]])
    print(f"peak memory of autopar-run                         {peak:.0f} MB for {planned:.0f} MB of arenas, inputs and "
          f"outputs: {peak - planned:.0f} MB over    (budget: 64)")


def prediction(tools):
    """Measured makespan against the prediction, after one run that measures the tasks."""
    digits = PROGRAMS / "digits"
    inputs = [f"--input=@{digits / n}.npy" for n in
              ("held_out_images", "held_out_labels", "w1", "b1", "w2", "b2")]
    n = 1024
    t = f"tensor<{n}x{n}xf32>"
    square = f"""func.func @main(%a: {t}, %b: {t}) -> ({t}, {t}) {{
  %0 = autopar.matmul %a, %a : {t}, {t} -> {t}
  %1 = autopar.matmul %b, %b : {t}, {t} -> {t}
  %2 = autopar.matmul %0, %1 : {t}, {t} -> {t}
  %3 = autopar.softmax %1 axis = 1 : {t}
  return %2, %3 : {t}, {t}
}}
"""
    sleep = "".join(
        f'  %{i} = "autopar.synthetic_task"({"" if i == 0 else f"%{(i - 1) // 2}"}) {{label = "s{i}", '
        f'cost_ns = {{virtual = 10000000.0}}}} : ({"" if i == 0 else "tensor<64xi8>"}) -> tensor<64xi8>\n'
        for i in range(15))
    synthetic = ("func.func @main() -> tensor<64xi8> {\n" + sleep + "  return %14 : tensor<64xi8>\n}\n")
    programs = {"digits": ((PROGRAMS / "digits.mlir").read_text(), inputs, "host"),
                "products and softmax, 1024": (square, [f"--input={n}x{n}xf32=0.01"] * 2, "host"),
                "synthetic tree of 15 x 10 ms": (synthetic, [], "virtual:2")}
    for name, (text, values, machine) in programs.items():
        first = tools.compile("first", text, f"--machine={machine}")
        profile = tools.work / "profile.json"
        measured([tools.run, first, *values, "--warmup=3", "--repeat=10", f"--profile={profile}"])
        second = tools.compile("second", text, f"--machine={machine}", f"--profile={profile}")
        report, _, _ = measured([tools.opt, tools.work / "second.mlir", f"--machine={machine}", f"--profile={profile}",
                                 "--report=-"])
        predicted = json.loads(report.splitlines()[0])["predicted_makespan_ns"] / 1e6
        out, _, _ = measured([tools.run, second, *values, "--warmup=3", "--repeat=20"])
        print(f"measured / predicted, {name:28s} {median_ms(out):9.3f} / {predicted:.3f} ms = "
              f"{median_ms(out) / predicted:.2f}    (budget: 0.90 to 1.10)")


def growth(tools, counts):
    """Cumulative seconds and peak memory up to each stage; a stage's own share is the difference to the line above."""
    generator = PROGRAMS / "generate_graphs.py"
    for work in ("synthetic", "tensors"):
        for shape in ("chain", "fan-out", "layered"):
            rows = {}
            for count in counts:
                text, _, _ = measured([sys.executable, generator, shape, work, count])
                source = tools.work / "graph.mlir"
                source.write_text(text)
                flags = ["--machine=virtual:2", "--effort=0"]
                for stage in STAGES:
                    _, seconds, peak = measured([tools.opt, source, *flags, f"--stop-after={stage}", "-o", "/dev/null"])
                    rows.setdefault(stage, []).append((seconds, peak))
                _, seconds, peak = measured([tools.opt, source, *flags, "-o", tools.work / "graph.sched"])
                rows.setdefault("file", []).append((seconds, peak))
            print(f"\n{shape}, {work}: " + ", ".join(f"{c} tasks" for c in counts) +
                  " (up to and including the stage, printing included)")
            for stage, figures in rows.items():
                times = "".join(f"{s:9.2f} s {p:6.0f} MB" for s, p in figures)
                print(f"  {stage:10s}{times}    x {figures[-1][0] / figures[0][0]:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--tasks", type=int, nargs=2, default=[20000, 100000])
    parser.add_argument("--no-growth", action="store_true", help="leave the compile-time tables out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(options.bin.resolve(), pathlib.Path(folder))
        start_up(tools)
        memory(tools)
        prediction(tools)
        if not options.no_growth:
            growth(tools, options.tasks)


if __name__ == "__main__":
    main()
