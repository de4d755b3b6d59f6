#!/usr/bin/env python3
"""Every kernel of every program of test/programs, as code for GPUs, assembled by ptxas: for sm_75, sm_80 and sm_90 what is
written for them, and on all three what is written for sm_75. Prints registers, spills and shared memory of each kernel.

Fails if ptxas refuses anything, if a kernel spills, if a text needs a function that it lacks, holds an atomic operation or
other kernels than it should. Without ptxas it says that it is skipped (exit status 77).

    ptx_assembles.py --bin build/bin [--ptxas PATH] [--only NAME] [PROGRAM.mlir...]
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from ptx_tools import Failure, Program, call

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent.parent / "programs"
ARCHITECTURES = ("sm_75", "sm_80", "sm_90")
FORBIDDEN = {r"\.extern\b": "needs something that is not in it", r"\b(atom|red)\.": "has an atomic operation",
             r"\bcall\b": "calls a function", r"\.approx\b": "has an approximate instruction", r"\.ftz\b": "loses small numbers",
             r"\b(add|sub|mul|div)\.f(32|64)\b": "does not say how it rounds"}
SKIPPED = 77


def assemble(ptxas, arch, text, folder):
    """Per kernel: registers, bytes of spills, of stack, of shared memory."""
    source = folder / "kernels.ptx"
    source.write_text(text)
    done = subprocess.run([ptxas, f"-arch={arch}", "-v", source, "-o", folder / "kernels.cubin"], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"ptxas for {arch}: {(done.stdout + done.stderr).strip()[:2000]}")
    table = {}
    for part in re.split(r"Compiling entry function ", done.stderr + done.stdout)[1:]:
        name = re.match(r"'([^']+)'", part)[1]
        stack, stores, loads = map(int, re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads",
                                                  part).groups())
        shared = re.search(r"(\d+) bytes smem", part)
        table[name] = (int(re.search(r"Used (\d+) registers", part)[1]), stores + loads, stack,
                       int(shared[1]) if shared else 0)
    return table


def check_text(text, launches, what):
    for pattern, fault in FORBIDDEN.items():
        if match := re.search(pattern, text):
            line = text[text.rfind("\n", 0, match.start()) + 1:text.find("\n", match.end())].strip()
            raise Failure(f"{what}: the PTX {fault}: {line}")
    entries = set(re.findall(r"\.visible \.entry ([\w$]+)\(", text))
    if entries != set(launches):
        raise Failure(f"{what}: the PTX has the kernels {sorted(entries)}, launched are {sorted(launches)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--ptxas", default=shutil.which("ptxas") or "")
    parser.add_argument("--only")
    parser.add_argument("programs", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    if not options.ptxas or options.ptxas.endswith("NOTFOUND"):
        print("skipped: there is no ptxas on this machine (it comes with the CUDA toolkit)")
        return SKIPPED
    call([options.ptxas, "--version"])
    programs = options.programs or sorted(PROGRAMS.glob("*.mlir"))
    count, most = 0, {arch: 0 for arch in ARCHITECTURES}
    print(f"{'program':<22} {'kernel':<44}" + "".join(f"{arch:>22}" for arch in ARCHITECTURES))
    print(f"{'':<22} {'':<44}" + "   regs spill   shared" * len(ARCHITECTURES))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for path in programs:
            if options.only not in (None, path.stem):
                continue
            rows = {}
            for arch in ARCHITECTURES:
                program = Program(options.bin / "autopar-opt", path, arch)
                wanted = {k.name for k in program.kernels if k.has_code}
                if wanted != {n for launches in program.launches for n in launches}:
                    raise Failure(f"{path.stem}: not every kernel with code has code for {arch}")
                for text, launches in zip(program.ptx, program.launches):
                    check_text(text, launches, f"{path.stem} for {arch}")
                    for kernel, figures in assemble(options.ptxas, arch, text, folder).items():
                        rows.setdefault(kernel, {})[arch] = figures
                        if figures[1]:
                            raise Failure(f"{path.stem}: {kernel} spills {figures[1]} bytes on {arch}")
                    if arch == ARCHITECTURES[0]:
                        for newer in ARCHITECTURES[1:]:
                            for kernel, figures in assemble(options.ptxas, newer, text, folder).items():
                                if figures[1]:
                                    raise Failure(f"{path.stem}: {kernel}, written for {arch}, spills on {newer}")
            for kernel, figures in rows.items():
                cells = "".join(f"{figures[a][0]:>7}{figures[a][1]:>6}{figures[a][3]:>9}" for a in ARCHITECTURES)
                print(f"{path.stem:<22.22} {kernel:<44.44}{cells}")
                for arch in ARCHITECTURES:
                    most[arch] = max(most[arch], figures[arch][0])
            count += len(rows)
    if count == 0:
        raise Failure("no kernel was assembled")
    print(f"{count} kernels, no spills; most registers: " + ", ".join(f"{a} {n}" for a, n in most.items()))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"ptx_assembles: {failure}")
