#!/usr/bin/env python3
"""Packs what tools/device-check.sh carries to a machine with a GPU: the runtime component, the programs' schedules with
their inputs and expected results, and the schedules that are timed.

    prepare.py --build build FOLDER [--size 4000] [--products 50] [--nodes 1 10 100 1000] [--only NAME ...]
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "test" / "e2e"))
try:
    import run_programs  # noqa: E402
except ImportError as error:
    if error.name != "numpy":
        raise
    sys.exit(f"device-check: error: {sys.executable} has no numpy, which the programs' inputs are made with; "
             "install it (on Debian: python3-numpy)")

MOST_BYTES = 60 << 20
# Title -> GPUs of the plan, flags. Few streams a GPU, so that small tasks spread over the others.
PLANS = {
    "one stream": (1, ["--max-streams=1"]),
    "streams": (1, []),
    "two devices": (2, ["--max-streams=1"]),
    "four devices": (4, ["--max-streams=2"]),
}

README = """\
What this is: a check of autopar's CUDA device, made by `tools/device-check.sh prepare` at commit {commit}. It holds the runtime
(runtime/), {programs} programs as schedules with their inputs and expected results (programs/, data/), and schedules that are timed
(timed/). It can be copied anywhere; nothing is installed and nothing outside of the folder of its results is written.

How to run it:  ./device-check.sh [OUT]      OUT: folder of the results, default out/ here. At most 8 minutes.
                PYTHON=python3.11 ./device-check.sh, AUTOPAR_CUDA_LIBRARY=/path/to/libcudart.so.13 ./device-check.sh

What it needs:  Linux on x86-64 with AVX2 and a C library no older than where this was made; an NVIDIA GPU (sm_75 or newer) and
                its driver; a CUDA 13 runtime with cuBLAS (that of PyTorch's wheels will do); python3 with numpy. PyTorch is
                compared with, and compute-sanitizer run, if there.

What comes out: a table on standard output and in OUT/table.txt; all figures in OUT/results.json, after each step; the measured
                machine file in OUT/machine.json. Status 1, and lines that begin with FAILED, if a result is wrong or a program
                does not run.
"""


def call(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(w) for w in command)}\nexit status {done.returncode}: {done.stderr.strip()[:2000]}")
    return done.stdout


def eager_machine(gpus):
    """GPUs and a host joined by fast links, so that it pays to use all GPUs."""
    names = [f"gpu{i}" for i in range(gpus)]
    devices = [{"name": "cpu0", "kind": "cpu", "cores": 1, "streams": 1}]
    devices += [{"name": name, "kind": "cuda", "arch": "sm_75", "streams": 8, "memory_bytes": 4 << 30} for name in names]
    links = [{"from": a, "to": b, "bytes_per_s": 10**12, "engines": [f"{a}.out", f"{b}.in"]}
             for a in ["cpu0", *names] for b in ["cpu0", *names] if a != b]
    return {"devices": devices, "links": links}


def compile_for_gpus(tools, source, schedule, work, *flags):
    """Every task on a GPU: the times that the plan goes by say that the host takes a second for each."""
    call(tools["opt"], source, *flags, "-o", schedule)
    labels = set(re.findall(r"^ *launch .* label '([^']*)'", call(tools["run"], schedule, "--dump"), re.MULTILINE))
    profile = work / "profile.json"
    profile.write_text(json.dumps({"tasks": {label: {"cpu": 10**9, "cuda": 10**5} for label in labels}}))
    call(tools["opt"], source, *flags, f"--profile={profile}", "-o", schedule)
    profile.unlink()
    launches = re.findall(r"^ *launch .* on @(\w+)\[", call(tools["run"], schedule, "--dump"), re.MULTILINE)
    if not launches or "cpu0" in launches:
        sys.exit(f"{schedule.name}: launches are on {sorted(set(launches))}, which are to be on GPUs alone")


def run_and_copy(size, products, computes, copies):
    """The book chapter's experiment: `products` products on the GPU, their results copied to the host. Distinct operands,
    so that nothing is computed once for all."""
    t = f"tensor<{size}x{size}xf32>"
    arguments = ", ".join(f'%w{i}: {t} {{autopar.device = "gpu0"}}' for i in range(products))
    body = [f'  %y{i} = autopar.matmul %w{i}, %w{i} {{autopar.device = "gpu0"}} : {t}, {t} -> {t}' if computes else ""
            for i in range(products)]
    names = [f"%y{i}" if computes else f"%w{i}" for i in range(products)]
    home = "" if copies else ' {autopar.device = "gpu0"}'
    return (f"func.func @main({arguments}) -> ({', '.join([t + home] * products)}) {{\n" + "\n".join(body) +
            f"\n  return {', '.join(names)} : {', '.join([t] * products)}\n}}\n")


def small_kernels(nodes, is_chain):
    """Kernels of 16 elements, one after the other or side by side."""
    t = "tensor<16xf32>"
    pin = '{autopar.device = "gpu0"}'
    lines = [f"  %v{i} = autopar.sin %{f'v{i - 1}' if is_chain and i else 'x'} {pin} : {t}" if is_chain else
             f"  %c{i} = autopar.constant dense<{i + 1}.0> : {t}\n  %v{i} = autopar.mul %x, %c{i} {pin} : {t}"
             for i in range(nodes)]
    kept = [f"%v{nodes - 1}"] if is_chain else [f"%v{i}" for i in range(nodes)]
    return (f"func.func @main(%x: {t} {pin}) -> ({', '.join([f'{t} {pin}'] * len(kept))}) {{\n" + "\n".join(lines) +
            f"\n  return {', '.join(kept)} : {', '.join([t] * len(kept))}\n}}\n")


def prepare_programs(options, tools, folder):
    """Entries of the manifest: one per program, with a schedule for each plan."""
    entries = []
    data, schedules = folder / "data", folder / "programs"
    data.mkdir(), schedules.mkdir()
    machines = {}
    for gpus in {gpus for gpus, _ in PLANS.values()}:
        machines[gpus] = folder / f"eager{gpus}.json"
        machines[gpus].write_text(json.dumps(eager_machine(gpus)))
    for name, source, inputs, expected in run_programs.programs(None, data):
        if options.only and name not in options.only:
            continue
        entry = {"name": name, "inputs": [], "expected": [], "schedules": {}}
        for path in inputs:
            if path.parent != data:
                shutil.copy(path, data / path.name)
            entry["inputs"].append(f"data/{path.name}")
        for path, bounds in expected:
            shutil.copy(path, data / path.name)
            entry["expected"].append({"file": f"data/{path.name}", **bounds})
        for title, (gpus, flags) in PLANS.items():
            schedule = schedules / f"{name}.{title.replace(' ', '-')}.sched"
            compile_for_gpus(tools, source, schedule, folder, "--ignore-pins", f"--machine={machines[gpus]}",
                             "--target-cpu=x86-64-v3", *flags)
            entry["schedules"][title] = {"file": f"programs/{schedule.name}", "gpus": gpus}
        entries.append(entry)
    return entries


def prepare_timed(options, tools, folder):
    timed = folder / "timed"
    timed.mkdir()

    def compile(name, text, *flags):
        source, schedule = timed / f"{name}.mlir", timed / f"{name}.sched"
        source.write_text(text)
        call(tools["opt"], source, "--target-cpu=x86-64-v3", *flags, "-o", schedule)
        source.unlink()
        return f"timed/{name}.sched"

    one_gpu = folder / "one_gpu.json"
    one_gpu.write_text(call(tools["run"], "--describe-machine", "--machine=h200-sxm:1").replace("sm_90", "sm_75"))
    book = {name: compile(name, run_and_copy(options.size, options.products, *steps), f"--machine={one_gpu}")
            for name, steps in {"run": (True, False), "copy": (False, True), "run and copy": (True, True)}.items()}
    kernels = [{"shape": shape, "nodes": nodes,
                "file": compile(f"{shape}{nodes}", small_kernels(nodes, shape == "chain"), f"--machine={one_gpu}",
                                "--fuse=off", "--effort=0")}
               for shape, most in (("chain", 10**9), ("wide", 100)) for nodes in options.nodes if nodes <= most]
    return {"size": options.size, "products": options.products, "book": book, "kernels": kernels}


def at_least_one(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1")
    return int(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--size", type=at_least_one, default=4000)
    parser.add_argument("--products", type=at_least_one, default=50)
    parser.add_argument("--nodes", type=at_least_one, nargs="+", default=[1, 10, 100, 1000])
    names = [path.stem for path in sorted(run_programs.PROGRAMS.glob("*.mlir"))]
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help="these programs instead of all")
    options = parser.parse_args()
    target = options.folder.resolve()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        sys.exit(f"device-check: error: '{target}' is no empty folder; give a new one")
    target.parent.mkdir(parents=True, exist_ok=True)
    # Beside it first: what breaks off leaves nothing behind.
    with tempfile.TemporaryDirectory(dir=target.parent) as beside:
        folder = pathlib.Path(beside) / "packed"
        folder.mkdir()
        summary, status = pack(options, folder)
        if target.exists():
            target.rmdir()
        folder.rename(target)
    print(f"{target}: {summary}")
    return status


def pack(options, folder):
    """What it holds, in words, and the exit status."""
    bin_folder = options.build.resolve() / "bin"
    tools = {"opt": bin_folder / "autopar-opt", "run": bin_folder / "autopar-run"}
    call("cmake", "--install", options.build, "--component", "runtime", "--prefix", folder / "runtime")
    manifest = {"programs": prepare_programs(options, tools, folder), "timed": prepare_timed(options, tools, folder)}
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    manifest["commit"] = commit.stdout.strip()
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1))
    (folder / "README.txt").write_text(README.format(commit=manifest["commit"], programs=len(manifest["programs"])))
    shutil.copy(HERE.parent / "device-check.sh", folder)
    (folder / "check").mkdir()
    for name in ("check.py", "torch_forms.py"):
        shutil.copy(HERE / name, folder / "check")
    total = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return f"{total / 2**20:.1f} MiB, {len(manifest['programs'])} programs", 1 if total > MOST_BYTES else 0


if __name__ == "__main__":
    sys.exit(main())
