#!/usr/bin/env bash
# Installs what is missing, builds, and runs all tests: GoogleTest, lit, layering, and the runtime's tests again under
# AddressSanitizer and ThreadSanitizer.
#   --full   the long fuzzing, soak and benchmark runs as well
# Environment: BUILD_DIR (default: build), JOBS (default: number of cores)
set -eu
cd "$(dirname "$0")/.."
full=
case "${1:-}" in
  "") ;;
  --full) full=1 ;;
  *) echo "test.sh: error: unknown argument '$1'; the only one is --full" >&2; exit 1 ;;
esac
build=${BUILD_DIR:-build}
jobs=${JOBS:-$(nproc)}
export AUTOPAR_FULL_TESTS=$full

bash tools/install-packages.sh

step() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }

step "build"
cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
ninja -C "$build" -j "$jobs" --quiet

step "tests"
ctest --test-dir "$build" --output-on-failure -j 2 --timeout 7200

# The runtime alone, without LLVM, under the sanitizers.
for sanitizer in address thread; do
  step "the runtime's tests under the $sanitizer sanitizer"
  cmake -G Ninja -S . -B "$build-$sanitizer" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DAUTOPAR_BUILD_COMPILER=OFF \
    -DAUTOPAR_SANITIZE=$sanitizer >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
  ninja -C "$build-$sanitizer" -j "$jobs" --quiet
  ctest --test-dir "$build-$sanitizer" --output-on-failure -j "$jobs"
done
if [ -n "$full" ]; then
  # Figures, not pass or fail: times are this machine's.
  step "benchmarks"
  "$build/bin/executor_overhead"
  /usr/bin/python3 test/benchmark/book_tables.py --bin "$build/bin"
  /usr/bin/python3 test/benchmark/budgets.py --bin "$build/bin"
  /usr/bin/python3 test/benchmark/predictions.py --bin "$build/bin"
  /usr/bin/python3 test/benchmark/dnn_partitioning.py --bin "$build/bin"
  /usr/bin/python3 test/benchmark/paper_examples.py --bin "$build/bin"
fi
step "done"
