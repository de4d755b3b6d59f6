#!/usr/bin/env python3
"""The installed runtime component, moved to another folder, classifies the digits with an empty environment, and maps
neither LLVM nor MLIR while it runs.

    relocated_runtime.py CMAKE BUILD_FOLDER
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

DIGITS = pathlib.Path(__file__).resolve().parent.parent / "programs" / "digits"
CMAKE, BUILD = sys.argv[1], pathlib.Path(sys.argv[2])


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run(CMAKE, "--install", BUILD, "--component", "runtime", "--prefix", folder / "staged")
        (folder / "staged").rename(folder / "moved")
        tool, schedule = folder / "moved" / "bin" / "autopar-run", folder / "digits.sched"
        run(BUILD / "bin" / "autopar-opt", DIGITS.parent / "digits.mlir", "-o", schedule)
        inputs = [f"--input=@{DIGITS / name}.npy" for name in
                  ("held_out_images", "held_out_labels", "w1", "b1", "w2", "b2")]
        outputs = [f"--output=@{folder / name}.npy" for name in ("accuracy", "classes", "logits", "hidden")]
        run(tool, schedule, *inputs, *outputs, env={})
        accuracy = float(np.load(folder / "accuracy.npy"))
        assert accuracy >= 0.95, accuracy

        # Long enough to be looked at.
        child = subprocess.Popen([tool, schedule, *inputs, "--repeat=1000000"], env={}, stdout=subprocess.DEVNULL)
        try:
            deadline, libraries = time.time() + 20, set()
            while time.time() < deadline and not any("dnnl" in library for library in libraries):
                time.sleep(0.1)
                libraries = set(re.findall(r"/\S+\.so\S*", pathlib.Path(f"/proc/{child.pid}/maps").read_text()))
        finally:
            child.kill()
            child.wait()
        assert any("libautopar" in library for library in libraries), libraries
        strangers = [library for library in libraries if re.search("(?i)llvm|mlir", library)]
        assert not strangers, strangers
        print(f"accuracy {accuracy:.4f} with an empty environment; {len(libraries)} libraries mapped, none of LLVM or MLIR")


if __name__ == "__main__":
    main()
