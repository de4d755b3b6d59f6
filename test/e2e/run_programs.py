#!/usr/bin/env python3
"""Every program of test/programs, from .mlir to results.

1. Under --ignore-pins, unfused and on one stream: the oracle. Its results must equal numpy's committed values within the
   bounds in NAME.json.
2. Fused, on host with 1 and 2 streams, virtual:1, virtual:2 and virtual:4: the same bits as the oracle, in every one of
   --calls calls, each with other random delays between commands.
3. With poisoned gaps between buffers: nothing outside the regions is written (odd sizes and tiles included).
4. As written, with its pins, on virtual:2: the oracle's bits too.
5. Planned for the GPUs of cuda:3, with code for them, and run by the same file's CPU code on virtual devices: alike.

    run_programs.py --bin build/bin [--calls 20] [--only NAME]
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "programs"
CONFIGURATIONS = {
    "host, 1 stream": ["--machine=host", "--max-streams=1", "--ignore-pins"],
    "host, 2 streams": ["--machine=host", "--max-streams=2", "--ignore-pins"],
    "virtual:1": ["--machine=virtual:1", "--ignore-pins"],
    "virtual:2": ["--machine=virtual:2", "--ignore-pins"],
    "virtual:4": ["--machine=virtual:4", "--ignore-pins"],
    "virtual:2, pinned": ["--machine=virtual:2"],
    "cuda:3, pinned": ["--machine=cuda:3"],
}
# Where to run the devices of the plan, of the configurations that name it.
DEVICES = {"cuda:3, pinned": ["--device=gpu0=virtual:0,gpu1=virtual:1,gpu2=virtual:2"]}
ORACLE = ["--machine=host", "--max-streams=1", "--ignore-pins", "--fuse=off"]


class Failure(Exception):
    pass


def call(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"{' '.join(str(w) for w in command)}\n  exit status {done.returncode}: {done.stderr.strip()[:2000]}")
    return done.stdout


def programs(only, folder):
    """Name, .mlir, input files, expected (file, bounds) pairs."""
    call([sys.executable, PROGRAMS / "make_programs.py", "--inputs", folder])
    for description in sorted(PROGRAMS.glob("*.json")):
        name = description.stem
        if only in (None, name):
            rows = json.loads(description.read_text())
            yield (name, PROGRAMS / f"{name}.mlir", [folder / f"{name}.in{k}.npy" for k in range(rows["inputs"])],
                   [(PROGRAMS / "expected" / f"{name}.{k}.npy", r["bounds"]) for k, r in enumerate(rows["results"])])
    if only in (None, "digits"):
        digits = PROGRAMS / "digits"
        inputs = ["held_out_images", "held_out_labels", "w1", "b1", "w2", "b2"]
        exact = {"rtol": 0, "atol": 0}
        # Bounds written down beforehand: 64 and 128 products of magnitude below 4 in float32.
        expected = [("accuracy", exact), ("classes", exact), ("logits", {"rtol": 1e-5, "atol": 2e-5}),
                    ("hidden", {"rtol": 1e-5, "atol": 5e-6})]
        yield ("digits", PROGRAMS / "digits.mlir", [digits / f"{n}.npy" for n in inputs],
               [(digits / f"expected_{n}.npy", b) for n, b in expected])


def check_bounds(outputs, expected):
    for k, (path, (reference, bounds)) in enumerate(zip(outputs, expected)):
        got, want = np.load(path), np.load(reference)
        if got.dtype != want.dtype or got.shape != want.shape:
            raise Failure(f"result {k}: {got.dtype}{got.shape}, numpy has {want.dtype}{want.shape}")
        if got.dtype == np.float32:
            good = np.isclose(got.astype(np.float64), want.astype(np.float64), equal_nan=True, **bounds)
        else:
            good = got == want
        if not good.all():
            at = tuple(np.argwhere(~good)[0])
            raise Failure(f"result {k}: {(~good).sum()} of {good.size} elements differ from numpy's beyond {bounds}; "
                          f"the first at {at}: {got[at]} instead of {want[at]}")


def run_program(options, work, name, source, inputs, expected):
    opt, run = options.bin / "autopar-opt", options.bin / "autopar-run"
    flags = [f"--input=@{path}" for path in inputs]

    def execute(schedule, extra=()):
        outputs = [work / f"{name}.out{k}.npy" for k in range(len(expected))]
        call([run, schedule, *flags, *[f"--output=@{o}" for o in outputs], *extra])
        return outputs

    schedule = work / f"{name}.sched"
    call([opt, source, *ORACLE, "-o", schedule])
    outputs = execute(schedule)
    check_bounds(outputs, expected)
    oracle = [path.read_bytes() for path in outputs]
    for title, machine in CONFIGURATIONS.items():
        call([opt, source, *machine, "-o", schedule])
        for seed in range(options.calls + 1):
            # The last call is the one with poisoned gaps.
            extra = ["--poison"] if seed == options.calls else [f"--delay-seed={seed + 1}"]
            for k, path in enumerate(execute(schedule, extra + DEVICES.get(title, []))):
                if path.read_bytes() != oracle[k]:
                    raise Failure(f"{title}, {extra[0]}: result {k} has other bits than the unfused one-stream run")
        print(f"  {name}: {title}: {options.calls + 1} calls bit-identical", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder with autopar-opt and autopar-run")
    full = bool(os.environ.get("AUTOPAR_FULL_TESTS"))  # tools/test.sh --full
    parser.add_argument("--calls", type=int, default=500 if full else 20)
    parser.add_argument("--only")
    options = parser.parse_args()
    failed = passed = 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for name, source, inputs, expected in programs(options.only, work):
            try:
                run_program(options, work, name, source, inputs, expected)
                passed += 1
            except Failure as error:
                failed += 1
                print(f"FAILED {name}: {error}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
