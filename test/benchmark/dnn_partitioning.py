#!/usr/bin/env python3
"""Plans of profiled networks (BERT, GNMT, Inception-v3, ResNet-50; layers or operators, inference or training) for a CPU and
several accelerators, against the best single device and, where there is one, against the split that human experts made.

The graphs are those of "Efficient Algorithms for Device Placement of DNN Graph Operators" (NeurIPS 2020); they are read from
the folder dnn_partitioning below the environment variable AUTOPAR_TEST_DATA. A transfer between an accelerator and the CPU takes
what the file says, one between two accelerators goes through the CPU's memory and takes twice that; every accelerator has an
engine for each direction. Nodes of one colour share a device. The makespan is that of one sample; the files' memory limits
are for weights that stay, which the plan does not model, and are left out.

    dnn_partitioning.py --bin build/bin [--effort 1] [--only TEXT]
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def machine(cpus, accelerators):
    devices = [{"name": "cpu0", "kind": "cpu", "cores": cpus, "streams": cpus}]
    devices += [{"name": f"gpu{i}", "kind": "virtual", "streams": 1} for i in range(accelerators)]
    links = []
    for i in range(accelerators):
        for ends, engine in ((("cpu0", f"gpu{i}"), "in"), ((f"gpu{i}", "cpu0"), "out")):
            links.append({"from": ends[0], "to": ends[1], "bytes_per_s": 1_000_000_000, "engines": [f"gpu{i}.{engine}"]})
    return {"devices": devices, "links": links}


def in_order(graph):
    """Node ids, each after those whose results it reads."""
    readers, missing = {}, {node["id"]: 0 for node in graph["nodes"]}
    for edge in graph["edges"]:
        readers.setdefault(edge["sourceId"], []).append(edge["destId"])
        missing[edge["destId"]] += 1
    ready = [node for node in missing if missing[node] == 0]
    for node in ready:
        for reader in readers.get(node, []):
            missing[reader] -= 1
            if missing[reader] == 0:
                ready.append(reader)
    assert len(ready) == len(missing), "the graph has a cycle"
    return ready


def program(graph, cpus, split):
    """One synthetic task a node. `split`: node -> device, or None."""
    nodes = {node["id"]: node for node in graph["nodes"]}
    operands, sizes = {}, {}
    for edge in graph["edges"]:
        operands.setdefault(edge["destId"], []).append(edge["sourceId"])
        sizes[edge["sourceId"]] = round(edge["cost"] * 1e6)  # ms, at a byte a nanosecond
    lines = ["func.func @main() {"]
    for node in in_order(graph):
        description = nodes[node]
        costs = [f"cpu = {description['cpuLatency'] * 1e6:.1f}"]
        if description["supportedOnFpga"]:
            costs.append(f"virtual = {description['fpgaLatency'] * 1e6:.1f}")
        attributes = [f'label = "n{node}"', f"cost_ns = {{{', '.join(costs)}}}", f"occupancy = {{cpu = {1 / cpus:.6f}}}"]
        if split and node in split:
            attributes.append(f'device = "{split[node]}"')
        elif "colorClass" in description:
            attributes.append(f'colocate = "c{description["colorClass"]}"')
        read = operands.get(node, [])
        types = [f"tensor<{sizes[source]}xi8>" for source in read]
        result = f"tensor<{sizes[node]}xi8>" if node in sizes else None
        lines.append(f'  {f"%n{node} = " if result else ""}"autopar.synthetic_task"({", ".join(f"%n{s}" for s in read)}) '
                     f'{{{", ".join(attributes)}}} : ({", ".join(types)}) -> {result or "()"}')
    return "\n".join(lines) + "\n  return\n}\n"


def expert_split(path):
    if not path.exists():
        return None
    split = {}
    for number, device in enumerate(json.loads(path.read_text())["fpgas"]):
        for node in device["nodes"]:
            split[node] = f"gpu{number}"
    return split


class Planner:
    def __init__(self, options, work):
        self.options, self.work = options, work

    def report(self, text, description):
        (self.work / "p.mlir").write_text(text)
        (self.work / "m.json").write_text(json.dumps(description))
        start = time.perf_counter()
        done = subprocess.run([self.options.bin / "autopar-opt", self.work / "p.mlir", f"--machine={self.work / 'm.json'}",
                               f"--effort={self.options.effort}", "--stop-after=planning", f"--report={self.work / 'r.json'}", "-o",
                               "/dev/null"], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr[:2000])
        return json.loads((self.work / "r.json").read_text()), time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--effort", type=int, default=1)
    parser.add_argument("--only", default="", help="files whose path contains this")
    options = parser.parse_args()
    if "AUTOPAR_TEST_DATA" not in os.environ:
        print("dnn_partitioning.py: skipped, AUTOPAR_TEST_DATA is not set")
        return
    data = pathlib.Path(os.environ["AUTOPAR_TEST_DATA"]) / "dnn_partitioning"
    print(f"{'graph':52s} {'tasks':>5s} {'devices':>7s} {'plan ms':>9s} {'bound ms':>9s} {'plan/bound':>10s} "
          f"{'one/plan':>8s} {'expert/plan':>11s} {'s':>6s}")
    with tempfile.TemporaryDirectory() as folder:
        planner = Planner(options, pathlib.Path(folder))
        for path in sorted(data.glob("*-inputs/*/*.json")):
            name = str(path.relative_to(data))
            if options.only not in name:
                continue
            graph = json.loads(path.read_text())
            description = machine(graph["maxCPUs"], graph["maxFPGAs"])
            report, seconds = planner.report(program(graph, graph["maxCPUs"], None), description)
            split = expert_split(data / "human-experts" / f"{path.stem}_expert.json") if "LayerGraphs" in name else None
            expert = ""
            if split and max(int(device[3:]) for device in split.values()) < graph["maxFPGAs"]:
                pinned, _ = planner.report(program(graph, graph["maxCPUs"], split), description)
                expert = f"{pinned['predicted_makespan_ns'] / report['predicted_makespan_ns']:.3f}"
            makespan = report["predicted_makespan_ns"]
            print(f"{name:52s} {report['tasks']:5d} {graph['maxFPGAs']:5d}+1 {makespan / 1e6:9.3f} "
                  f"{report['lower_bound_ns'] / 1e6:9.3f} {1 + report['gap']:10.3f} {report['serial_ns'] / makespan:8.3f} "
                  f"{expert:>11s} {seconds:6.2f}", flush=True)


if __name__ == "__main__":
    main()
