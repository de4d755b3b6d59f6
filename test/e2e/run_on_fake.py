#!/usr/bin/env python3
"""Every program of test/programs on the library that imitates CUDA (test/fake_cuda), with 1, 2 and 4 GPUs.

1. Planned for cuda:N, with tasks pinned all around the GPUs, and run by the autopar-run that ships, on streams and as CUDA
   graphs, under 20 seeds each (200 with AUTOPAR_FULL_TESTS): within the program's bounds of the CPU's results, and the same
   bits in every run. Nothing may be reported, and no call may have blocked the host.
2. Each wait of those schedules left out in turn: reported, or proved not to be needed (left_out_waits.cc).

    run_on_fake.py --bin build/bin --library build/lib/libautopar_fake_cuda.so [--seeds 20] [--only NAME]
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

from run_programs import Failure, call, check_bounds, programs

GPUS = (1, 2, 4)
CPU = ["--machine=host", "--max-streams=1", "--ignore-pins"]
# How the GPUs reach each other: directly; through the host, when nothing else arrives; the same after a probe found out.
PEERS = {0: "peer=0,staged_drops=1,", 1: "peer_drops=1,"}  # by seed modulo 5; else directly
MUST_BE_ZERO = ("host_blocks", "lazy_loads", "pageable_copies")


def spread(text, gpus):
    """The program with other pins: what the CPU has stays there, all other operations go around the GPUs, some two by two.
    Small programs would else be planned for one device."""
    lines, count = [], 0
    for line in text.splitlines():
        operation = re.match(r"\s+%\S+ = autopar\.(\w+) ", line)
        if operation and operation[1] != "constant" and 'autopar.device = "cpu0"' not in line:
            line = re.sub(r' \{autopar\.device = "gpu\d+"\}', "", line)
            line = line.replace(" : ", f' {{autopar.device = "gpu{count * 2 // 3 % gpus}"}} : ', 1)
            count += 1
        # Arguments and results.
        lines.append(re.sub(r'"gpu(\d+)"', lambda name: f'"gpu{int(name[1]) % gpus}"', line))
    return "\n".join(lines) + "\n"


class Fake:
    def __init__(self, options, work):
        self.options, self.work = options, work

    def run(self, schedule, gpus, seed, graphs, flags, outputs):
        """Calls once or twice and returns the results' bytes."""
        report = self.work / "report"
        report.unlink(missing_ok=True)
        environment = dict(os.environ, AUTOPAR_FAKE_SCHEDULE=str(schedule), AUTOPAR_CUDA_LIBRARY="/not/this/one",
                           AUTOPAR_FAKE_CUDA=f"devices={gpus},seed={seed},{PEERS.get(seed % 5, '')}report={report}")
        library = [f"--cuda-library={self.options.cudart}"]
        if graphs:
            environment["AUTOPAR_CUDA_LIBRARY"] = library.pop().partition("=")[2]
        command = [self.options.bin / "autopar-run", schedule, *library, f"--cuda-graph={'on' if graphs else 'off'}",
                   f"--repeat={1 + seed % 2}", *flags, *[f"--output=@{path}" for path in outputs]]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment)
        said = report.read_text().splitlines() if report.exists() else []
        if done.returncode != 0 or done.stderr or len(said) != 1:
            raise Failure(f"{' '.join(str(w) for w in command)}\n  AUTOPAR_FAKE_CUDA={environment['AUTOPAR_FAKE_CUDA']}\n"
                          f"  exit status {done.returncode}: {done.stderr.strip()[:2000]}\n  " + "\n  ".join(said[:5]))
        stats = {name: int(value) for name, value in (word.split("=") for word in said[0].split()[1:])}
        for name in MUST_BE_ZERO:
            if stats[name] != 0:
                raise Failure(f"{name}={stats[name]} with {gpus} GPUs, seed {seed}")
        if graphs != (stats["graph_launches"] > 0):
            raise Failure(f"{stats['graph_launches']} graphs were launched")
        return [path.read_bytes() for path in outputs]

    def left_out_waits(self, schedule, graphs):
        line = call([self.options.bin / "left_out_waits", schedule, "graphs" if graphs else "streams"])
        return {name: int(value) for name, value in (word.split("=") for word in line.split())}


def uses_all(dump, gpus):
    return all(re.search(rf"^  launch .* on @gpu{i}\[", dump, re.MULTILINE) for i in range(gpus))


def run_program(options, work, name, source, inputs, expected):
    fake, opt, run = Fake(options, work), options.bin / "autopar-opt", options.bin / "autopar-run"
    flags = [f"--input=@{path}" for path in inputs]
    outputs = [work / f"{name}.out{k}.npy" for k in range(len(expected))]
    cpu = [work / f"{name}.cpu{k}.npy" for k in range(len(expected))]
    schedule, pinned = work / f"{name}.sched", work / f"{name}.mlir"
    call([opt, source, *CPU, "-o", schedule])
    call([run, schedule, *flags, *[f"--output=@{path}" for path in cpu]])
    bounds = [bound for _, bound in expected]
    first = None
    for gpus in GPUS:
        pinned.write_text(spread(source.read_text(), gpus))
        call([opt, pinned, f"--machine=cuda:{gpus}", "-o", schedule])
        if not uses_all(call([run, schedule, "--dump"]), gpus):
            raise Failure(f"{gpus} GPUs: the plan does not use them all")
        counts, start = [], time.time()
        for graphs in (False, True):
            for seed in range(1, options.seeds + 1):
                results = fake.run(schedule, gpus, seed, graphs, flags, outputs)
                if first is None:
                    first = results
                    check_bounds(outputs, expected)
                    check_bounds(outputs, list(zip(cpu, bounds)))
                for k, result in enumerate(results):
                    if result != first[k]:
                        raise Failure(f"{gpus} GPUs, {'graphs' if graphs else 'streams'}, seed {seed}: "
                                      f"result {k} has other bits than with one GPU and seed 1")
        middle = time.time()
        for graphs in (False, True):
            counts.append(fake.left_out_waits(schedule, graphs))
        on_streams, on_graphs = counts
        print(f"  {name}: {gpus} GPUs: {2 * options.seeds} runs alike ({middle - start:.1f} s); {on_streams['waits']} waits: "
              f"{on_streams['caught']} caught, {on_streams['implied']} implied, {on_streams['tokens']} without bytes; in "
              f"graphs {on_graphs['caught']} caught, {on_graphs['ordered_by_graphs']} ordered by graphs "
              f"({time.time() - middle:.1f} s)", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder with autopar-opt, autopar-run, left_out_waits")
    parser.add_argument("--library", dest="cudart", type=pathlib.Path, required=True, help="the library that imitates CUDA")
    parser.add_argument("--seeds", type=int, default=200 if os.environ.get("AUTOPAR_FULL_TESTS") else 20)
    parser.add_argument("--only")
    options = parser.parse_args()
    failed = passed = 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for program in programs(options.only, work):
            try:
                run_program(options, work, *program)
                passed += 1
            except Failure as error:
                failed += 1
                print(f"FAILED {program[0]}: {error}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
