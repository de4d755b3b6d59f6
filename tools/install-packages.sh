#!/usr/bin/env bash
# Installs what autopar is built and tested with, on Debian 12. Does nothing where all is there.
#   --runtime   only what the runtime needs (no LLVM, no MLIR)
set -eu
runtime="g++ cmake ninja-build ccache pkg-config libabsl-dev libflatbuffers-dev flatbuffers-compiler libdnnl-dev
  libhwloc-dev nlohmann-json3-dev libcli11-dev libxxhash-dev libgtest-dev libbenchmark-dev python3 python3-numpy"
compiler="libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools liblld-22-dev zlib1g-dev libzstd-dev"
packages=$runtime
[ "${1:-}" = --runtime ] || packages="$runtime $compiler"

missing=
for package in $packages; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

run=
[ "$(id -u)" = 0 ] || run=sudo
echo "installing:$missing"
$run apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $run apt-get install -y -qq --no-install-recommends $missing >/dev/null
