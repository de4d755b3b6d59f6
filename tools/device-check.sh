#!/usr/bin/env bash
# Proves the CUDA device on a machine that has a GPU but no compiler of ours.
#   tools/device-check.sh prepare FOLDER   here: installs the packages that a build needs (as tools/install-packages.sh), builds,
#                                          compiles the programs, installs the runtime, packs both (below 60 MiB)
#   FOLDER/device-check.sh [OUT]           there: runs everything within 8 minutes, figures in OUT/results.json after each
#                                          step, a table at the end; status 1 if a result is wrong
# There it needs python3 with numpy, an NVIDIA driver and a CUDA 13 runtime with cuBLAS; PyTorch to compare with, if it is there.
# Environment here: BUILD_DIR (default: build); there: PYTHON (default: python3), AUTOPAR_CUDA_LIBRARY.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ -d "$here/check" ]; then  # in the packed folder
  exec "${PYTHON:-python3}" "$here/check/check.py" "$here" "${1:-$here/out}"
fi
if [ "${1:-}" != prepare ] || [ $# -ne 2 ]; then
  echo "device-check.sh: error: say 'prepare FOLDER'; the folder's own device-check.sh runs the check" >&2
  exit 1
fi
cd "$here/.."
build=${BUILD_DIR:-build}
bash tools/install-packages.sh
cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
ninja -C "$build" --quiet autopar-opt autopar-run
/usr/bin/python3 tools/device-check/prepare.py --build "$build" "$2"
