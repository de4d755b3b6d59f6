#!/usr/bin/env python3
"""The committed programs are what make_programs.py writes; expected values may differ in the last bits (numpy's BLAS)."""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "programs"


def main():
    stale = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, PROGRAMS / "make_programs.py", "--out", folder], check=True)
        made = sorted(p for p in pathlib.Path(folder).rglob("*") if p.is_file())
        for path in made:
            committed = PROGRAMS / path.relative_to(folder)
            if not committed.exists():
                stale.append(f"{committed} is missing")
            elif path.suffix == ".npy":
                if not np.allclose(np.load(path).astype(np.float64), np.load(committed).astype(np.float64), rtol=1e-6,
                                   atol=1e-6):
                    stale.append(f"{committed} holds other values")
            elif path.read_text() != committed.read_text():
                stale.append(f"{committed} differs")
        kept = {path.relative_to(folder) for path in made}
        stale += [f"{p} is made by nothing" for p in (PROGRAMS / "expected").iterdir()
                  if p.relative_to(PROGRAMS) not in kept]
    print("\n".join(stale) or f"{len(made)} files are current")
    if stale:
        print("run test/programs/make_programs.py and commit what it writes")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
