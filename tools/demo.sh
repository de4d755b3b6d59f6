#!/usr/bin/env bash
# On a fresh Debian 12: installs the packages, builds, classifies the hand-written digits and prints the book chapter's two
# experiments on emulated devices.   Environment: BUILD_DIR (default: build), JOBS (default: number of cores)
set -eu
cd "$(dirname "$0")/.."
build=${BUILD_DIR:-build}

bash tools/install-packages.sh
cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
ninja -C "$build" -j "${JOBS:-$(nproc)}" --quiet autopar-opt autopar-run bare_matmul

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
digits=test/programs/digits

echo "== 449 hand-written digits, classified by a 64-128-10 perceptron"
"$build/bin/autopar-opt" test/programs/digits.mlir -o "$work/digits.sched"
inputs=
for name in held_out_images held_out_labels w1 b1 w2 b2; do inputs="$inputs --input=@$digits/$name.npy"; done
# shellcheck disable=SC2086
"$build/bin/autopar-run" "$work/digits.sched" $inputs --output=@"$work/accuracy.npy" --output=@"$work/classes.npy" \
  --output=@"$work/logits.npy" --output=@"$work/hidden.npy"
/usr/bin/python3 - "$work" <<'PYTHON'
import sys

import numpy as np

print(f"accuracy {float(np.load(sys.argv[1] + '/accuracy.npy')):.4f}")
PYTHON

echo
echo "== the book chapter's experiments"
/usr/bin/python3 test/benchmark/book_tables.py --bin "$build/bin"
