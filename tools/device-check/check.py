#!/usr/bin/env python3
"""Runs what prepare.py packed, on a machine with a GPU. Needs numpy; PyTorch if it is there.

    check.py FOLDER OUT

After each step OUT/results.json holds what is known. Status 1 if a result is wrong or a program does not run.
"""
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

try:
    import numpy as np
except ImportError:
    sys.exit(f"device-check: error: {sys.executable} has no numpy, which the results are compared with; "
             "install it (python3 -m pip install numpy), or name another Python with PYTHON=")

DEADLINE_S = 460
ROUNDS = 2  # autopar and PyTorch in turn


class Check:
    def __init__(self, folder, out):
        self.folder, self.out = folder, out
        self.manifest = json.loads((folder / "manifest.json").read_text())
        self.results = {"commit": self.manifest["commit"], "failures": []}
        self.start = time.monotonic()
        self.environment = dict(os.environ)
        self.cudart = []  # the flag that names the CUDA library, if one had to be found

    def seconds_left(self):
        return DEADLINE_S - (time.monotonic() - self.start)

    def run(self, *command, timeout=60, schedule=None):
        environment = dict(self.environment)
        if schedule:  # read by the imitation of CUDA that the check is rehearsed with
            environment["AUTOPAR_FAKE_SCHEDULE"] = str(schedule)
        limit = max(1.0, min(timeout, self.seconds_left()))
        try:
            return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=limit,
                                  env=environment)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, "", f"ran longer than {limit:.0f} s")

    def autopar(self, schedule, *flags, timeout=60):
        return self.run(self.folder / "runtime/bin/autopar-run", self.folder / schedule, *self.cudart, *flags,
                        timeout=timeout, schedule=self.folder / schedule)

    def fail(self, what, done=None):
        sentence = f"{what}: {done.stderr.strip()[:500]}" if done else what
        self.results["failures"].append(sentence)
        print(f"  FAILED {sentence}", flush=True)

    def step(self, title, action):
        begin = time.monotonic()
        print(f"== {title}", flush=True)
        if self.seconds_left() < 5:
            self.fail(f"{title}: no time left")
        else:
            try:
                self.results[title] = action()
            except Exception as error:  # a step that breaks must not take the others with it
                self.fail(f"{title}: {type(error).__name__}: {error}")
        self.results.setdefault("seconds", {})[title] = round(time.monotonic() - begin, 1)
        (self.out / "results.json").write_text(json.dumps(self.results, indent=1))

    # ---- the steps

    def environment_step(self):
        found = {"python": sys.version.split()[0], "numpy": np.__version__}
        smi = self.run("nvidia-smi", "--query-gpu=name,driver_version,memory.total,clocks.sm,clocks.max.sm,pcie.link.gen.current",
                       "--format=csv,noheader") if shutil.which("nvidia-smi") else None
        found["gpus"] = smi.stdout.strip().splitlines() if smi else []
        torch = self.run(sys.executable, "-c", "import torch; print(torch.__version__, torch.version.cuda)")
        found["torch"] = torch.stdout.strip() if torch.returncode == 0 else None
        found["autopar"] = self.run(self.folder / "runtime/bin/autopar-run", "--version").stdout.strip()
        # The library: as the loader finds it, else that of PyTorch's wheels.
        first = self.manifest["timed"]["kernels"][0]["file"]
        candidates = [[]]
        for site in {path for path in sys.path if path.endswith("-packages")}:
            candidates += [[f"--cuda-library={path}"] for path in sorted(pathlib.Path(site).glob("nvidia/*/lib/libcudart.so.1*"))]
        sentences = []
        for candidate in candidates:
            self.cudart = candidate
            done = self.autopar(first, "--input=16xf32=1", timeout=90)
            if done.returncode == 0:
                found["library"] = candidate or "as the loader finds it"
                return found
            # This check is of a GPU: advice to run without one is no help here.
            sentences.append(re.sub(r"; to run without \w+, map \w+ with --device=\S+", "", done.stderr.strip()))
        self.fail(f"no program runs on the GPU: {'; '.join(sentences)}")
        return found

    def correctness_step(self):
        """Every program under every plan, on streams and as graphs; all bits equal to those of one stream."""
        table = {}
        for entry in self.manifest["programs"]:
            name, rows, reference = entry["name"], {}, None
            inputs = [f"--input=@{self.folder / path}" for path in entry["inputs"]]
            outputs = [self.out / f"{name}.{k}.npy" for k in range(len(entry["expected"]))]
            for title, plan in entry["schedules"].items():
                devices = ["--device=" + ",".join(f"gpu{i}=cuda:0" for i in range(plan["gpus"]))]
                for mode in ("off", "on"):
                    label = f"{title}, {'graph' if mode == 'on' else 'launches'}"
                    done = self.autopar(plan["file"], *inputs, *devices, f"--cuda-graph={mode}", "--warmup=1", "--repeat=2",
                                        *[f"--output=@{path}" for path in outputs])
                    if done.returncode != 0:
                        rows[label] = "failed"
                        self.fail(f"{name}, {label}", done)
                        continue
                    bits = [path.read_bytes() for path in outputs]
                    if reference is None:
                        reference = bits
                        rows["numpy"] = self.within_bounds(name, outputs, entry["expected"])
                    rows[label] = "same bits" if bits == reference else "OTHER BITS"
                    if bits != reference:
                        self.fail(f"{name}, {label}: other bits than one stream")
                    if done.stderr.strip():
                        rows[label] += f" ({done.stderr.strip()})"
            table[name] = rows
            print(f"  {name}: {rows}", flush=True)
            for path in outputs:
                path.unlink(missing_ok=True)
        return table

    def within_bounds(self, name, outputs, expected):
        worst = 0.0
        for path, want in zip(outputs, expected):
            got, reference = np.load(path), np.load(self.folder / want["file"])
            if got.dtype != np.float32:
                if not (got == reference).all():
                    self.fail(f"{name}: {path.name} differs from numpy's")
                continue
            error = np.abs(got.astype(np.float64) - reference.astype(np.float64))
            bound = want["atol"] + want["rtol"] * np.abs(reference.astype(np.float64))
            same = (got == reference) | (np.isnan(got) & np.isnan(reference))
            share = np.where(same, 0.0, error / np.where(bound > 0, bound, 1e-300))
            worst = max(worst, float(np.nanmax(share, initial=0.0)))
            if not (share <= 1).all():
                self.fail(f"{name}: {path.name} differs from numpy's beyond {want}")
        return f"worst error {worst:.2f} of its bound"

    def machine_step(self):
        done = self.run(self.folder / "runtime/bin/autopar-run", "--describe-machine", "--machine=cuda:1", *self.cudart,
                        timeout=90)
        if done.returncode != 0:
            self.fail("--describe-machine", done)
            return None
        (self.out / "machine.json").write_text(done.stdout)
        return json.loads(done.stdout)

    def overhead_step(self):
        """Wall and processor time of a call of n tiny kernels, as launches and as a graph."""
        rows = []
        for kernels in self.manifest["timed"]["kernels"]:
            for mode in ("off", "on"):
                calls = max(20, 5000 // kernels["nodes"])
                cpu = [self.cpu_seconds(kernels["file"], mode, n) for n in (1, 1 + calls)]
                done = self.autopar(kernels["file"], "--input=16xf32=1", f"--cuda-graph={mode}", "--warmup=3",
                                    f"--repeat={calls}", "--output_max_element_count=1")
                if done.returncode != 0 or None in cpu:
                    self.fail(f"{kernels['file']}, {mode}", done)
                    continue
                found = re.search(r"time_ms min=([0-9.]+) median=([0-9.]+)", done.stdout)
                rows.append({"shape": kernels["shape"], "nodes": kernels["nodes"], "graph": mode == "on",
                             "wall_us_min": float(found.group(1)) * 1e3, "wall_us_median": float(found.group(2)) * 1e3,
                             "cpu_us": (cpu[1] - cpu[0]) / calls * 1e6})
                print(f"  {rows[-1]}", flush=True)
        return rows

    def cpu_seconds(self, schedule, mode, calls):
        before = os.times()
        done = self.autopar(schedule, "--input=16xf32=1", f"--cuda-graph={mode}", f"--repeat={calls}",
                            "--output_max_element_count=1")
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        return used if done.returncode == 0 else None

    def book_step(self):
        """The book chapter's experiment, autopar and PyTorch in turn. Milliseconds."""
        timed = self.manifest["timed"]
        size, products = timed["size"], timed["products"]
        operand = self.out / "operand.npy"
        np.save(operand, np.random.default_rng(1).random((size, size), dtype=np.float32))
        inputs = [f"--input=@{operand}"] * products
        rows = {"autopar": [], "torch": []}
        for _ in range(ROUNDS):
            row = {}
            for name, schedule in timed["book"].items():
                begin = time.monotonic()
                first = self.autopar(schedule, *inputs, "--repeat=1", "--output_max_element_count=1", timeout=120)
                total = time.monotonic() - begin
                steady = self.autopar(schedule, *inputs, "--warmup=1", "--repeat=7", "--output_max_element_count=1", timeout=120)
                if first.returncode != 0 or steady.returncode != 0:
                    self.fail(f"book, {name}", first if first.returncode != 0 else steady)
                    continue
                ms = [float(re.search(r"median=([0-9.]+)", done.stdout).group(1)) for done in (first, steady)]
                row[name] = {"first": ms[0], "median": ms[1], "process": round(total * 1e3)}
            if len(row) == 3:
                row["run and copy / longer"] = row["run and copy"]["median"] / max(row["run"]["median"], row["copy"]["median"])
            rows["autopar"].append(row)
            print(f"  autopar: {row}", flush=True)
            torch = self.run(sys.executable, pathlib.Path(__file__).with_name("torch_forms.py"), size, products, timeout=120)
            if torch.returncode == 0:
                rows["torch"].append(json.loads(torch.stdout))
                print(f"  torch: {rows['torch'][-1]}", flush=True)
            else:
                print(f"  torch: {(torch.stderr.strip().splitlines() or ['failed'])[-1]}", flush=True)
        self.check_product(timed, operand, inputs)
        operand.unlink()
        return rows

    def check_product(self, timed, operand, inputs):
        """One of the products against numpy's in double precision."""
        x = np.load(operand).astype(np.float64)
        expected = self.out / "product.npy"
        np.save(expected, (x @ x).astype(np.float32))
        others = ["--expected_output=(ignored)"] * (timed["products"] - 1)
        done = self.autopar(timed["book"]["run and copy"], *inputs, f"--expected_output=@{expected}", *others,
                            "--expected_rtol=1e-4", timeout=120)
        expected.unlink()
        if done.returncode != 0:
            self.fail("book, product", done)

    def sanitizer_step(self):
        tool = shutil.which("compute-sanitizer")
        if not tool:
            return "compute-sanitizer is not installed"
        entry = next(e for e in self.manifest["programs"] if e["name"] == "every_op")
        found = {}
        for kind in ("memcheck", "racecheck"):
            schedule = self.folder / entry["schedules"]["streams"]["file"]
            done = self.run(tool, f"--tool={kind}", "--error-exitcode=9", self.folder / "runtime/bin/autopar-run", schedule,
                            *self.cudart, *[f"--input=@{self.folder / path}" for path in entry["inputs"]],
                            "--output_max_element_count=1", timeout=90)
            found[kind] = "clean" if done.returncode == 0 else f"status {done.returncode}"
            if done.returncode == 9:
                self.fail(f"compute-sanitizer {kind}: {done.stdout.strip()[:500]}")
        return found

    # ---- the end

    def table(self):
        lines = [f"device check of {self.results['commit']}", ""]
        for title, seconds in self.results["seconds"].items():
            lines.append(f"{title}: {seconds} s")
        book = (self.results.get("the book's experiment") or {}).get("autopar") or []
        for name in ("run", "copy", "run and copy"):
            for field in ("first", "median"):
                values = [row[name][field] for row in book if name in row]
                if values:
                    lines.append(f"autopar, {name}, {field}: {statistics.median(values):.1f} ms")
        ratios = [row["run and copy / longer"] for row in book if "run and copy / longer" in row]
        if ratios:
            lines.append(f"autopar, run and copy / longer of the two: {', '.join(f'{r:.3f}' for r in ratios)} (target 1.05)")
        torch = (self.results.get("the book's experiment") or {}).get("torch") or []
        for name in torch[0] if torch else []:
            lines.append(f"PyTorch, {name}: first {torch[0][name]['first']:.1f} ms, "
                         f"median {statistics.median(row[name]['median'] for row in torch):.1f} ms")
        for row in self.results.get("launches and graphs") or []:
            lines.append(f"{row['nodes']} kernels, {row['shape']}, {'graph' if row['graph'] else 'launches'}: wall "
                         f"{row['wall_us_min']:.1f} us, processor {row['cpu_us']:.1f} us a call")
        failures = self.results["failures"]
        lines += [f"FAILED {sentence}" for sentence in failures] or ["all results are right"]
        return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    check = Check(folder, out)
    check.step("environment", check.environment_step)
    if not check.results["failures"]:  # else nothing would run
        check.step("programs", check.correctness_step)
        check.step("machine", check.machine_step)
        check.step("launches and graphs", check.overhead_step)
        check.step("the book's experiment", check.book_step)
        check.step("compute-sanitizer", check.sanitizer_step)
    text = check.table()
    (out / "table.txt").write_text(text)
    print("\n" + text, end="")
    return 1 if check.results["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
