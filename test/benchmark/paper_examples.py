#!/usr/bin/env python3
"""The worked examples of scheduling papers, as programs of synthetic tasks through autopar-opt: what the published planners and
each effort make of them, against the proved optimum.

The graphs are in paper_examples.tgs below the environment variable AUTOPAR_TEST_DATA; its first lines explain the format.
Ends with status 1 if effort 2 misses an optimum or effort 3 does not prove one.

    paper_examples.py --bin build/bin
"""
import argparse
import heapq
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def read_graphs(path):
    """One dictionary a graph: name, procs, costs (a list per task), edges, expect."""
    graphs, lines = [], iter(path.read_text().splitlines())
    for line in lines:
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] == "graph":
            graphs.append({"name": words[1], "edges": [], "expect": {}})
        elif words[0] == "procs":
            graphs[-1]["procs"] = int(words[1])
            same = words[2] == "homogeneous"
        elif words[0] == "tasks":
            rows = [[float(cost) for cost in next(lines).split()] for _ in range(int(words[1]))]
            graphs[-1]["costs"] = [row * graphs[-1]["procs"] if same else row for row in rows]
        elif words[0] == "edges":
            for _ in range(int(words[1])):
                source, target, bytes_ = next(lines).split()
                graphs[-1]["edges"].append((int(source), int(target), float(bytes_)))
        elif words[0] == "expect":
            if words[1] in ("optimal", "heft", "cpop", "peft", "lookahead"):
                graphs[-1]["expect"][words[1]] = float(words[2])
    return graphs


def machine(procs):
    names = [f"p{i}" for i in range(procs)]
    return {"devices": [{"name": name, "kind": "virtual"} for name in names],
            "links": [{"from": a, "to": b, "bytes_per_s": 1_000_000_000} for a in names for b in names if a != b]}


def program(graph, scale):
    """Each edge is a value of its own, as the papers count it. `scale` makes whole numbers of all times."""
    count = len(graph["costs"])
    operands, results = [[] for _ in range(count)], [[] for _ in range(count)]
    missing, readers = [0] * count, [[] for _ in range(count)]
    first = min((min(s, t) for s, t, _ in graph["edges"]), default=0)
    for source, target, amount in graph["edges"]:
        source, target = source - first, target - first
        bytes_ = round(amount * scale)
        operands[target].append((f"%t{source}#{len(results[source])}", bytes_))
        results[source].append(bytes_)
        missing[target] += 1
        readers[source].append(target)
    ready = [task for task in range(count) if missing[task] == 0]
    lines = ["func.func @main() {"]
    while ready:
        task = heapq.heappop(ready)  # in the order of their numbers, which decides ties
        costs = ", ".join(f"p{i} = {cost * scale:.1f}" for i, cost in enumerate(graph["costs"][task]))
        name = f"%t{task}:{len(results[task])} = " if results[task] else ""
        read = [operand if len(results[int(operand[2:].split("#")[0])]) > 1 else operand.split("#")[0]
                for operand, _ in operands[task]]
        lines.append(f'  {name}"autopar.synthetic_task"({", ".join(read)}) {{label = "t{task}", cost_ns = {{{costs}}}}} : '
                     f'({", ".join(f"tensor<{b}xi8>" for _, b in operands[task])}) -> '
                     f'({", ".join(f"tensor<{b}xi8>" for b in results[task])})')
        for reader in readers[task]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(ready, reader)
    return "\n".join(lines) + "\n  return\n}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    options = parser.parse_args()
    if "AUTOPAR_TEST_DATA" not in os.environ:
        print("paper_examples.py: skipped, AUTOPAR_TEST_DATA is not set")
        return
    graphs = read_graphs(pathlib.Path(os.environ["AUTOPAR_TEST_DATA"]) / "paper_examples.tgs")
    columns = [[f"--planner={name}"] for name in ("heft", "cpop", "peft", "lookahead")] + [[f"--effort={e}"] for e in range(4)]
    print(f"{'graph':28s} {'heft':>7s} {'cpop':>7s} {'peft':>7s} {'look':>7s} {'e0':>7s} {'e1':>7s} {'e2':>7s} {'e3':>7s} "
          f"{'optimum':>8s} {'proved':>7s} {'s':>6s}")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        source, description = pathlib.Path(folder) / "p.mlir", pathlib.Path(folder) / "m.json"
        for graph in graphs:
            numbers = [c for row in graph["costs"] for c in row] + [e[2] for e in graph["edges"]]
            scale = 1 if all(number == round(number) for number in numbers) else 1000
            source.write_text(program(graph, scale))
            description.write_text(json.dumps(machine(graph["procs"])))
            reports = []
            for flags in columns:
                start = time.perf_counter()
                done = subprocess.run([options.bin / "autopar-opt", source, f"--machine={description}", "--report=-", *flags],
                                      capture_output=True, text=True)
                if done.returncode != 0:
                    sys.exit(done.stderr[:2000])
                reports.append(json.loads(done.stdout))
                seconds = time.perf_counter() - start
            spans = [report["predicted_makespan_ns"] / scale for report in reports]
            optimum = graph["expect"].get("optimal")
            proved = reports[-1]["optimal"]
            good &= proved and (optimum is None or (spans[6] == optimum and spans[7] == optimum))
            print(f"{graph['name']:28s} " + " ".join(f"{span:7g}" for span in spans) +
                  f" {optimum if optimum is not None else '?':>8} {'yes' if proved else 'no':>7s} {seconds:6.2f}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
