#!/bin/sh
# Runs the GPU suite and ends with a count.
#
#   scripts/gpu-test.sh pack DIR [BUILD]   compile all examples into DIR, for a
#                                          machine that has a GPU but no build
#   scripts/gpu-test.sh run DIR            run what was packed, on this machine
#   scripts/gpu-test.sh [BUILD]            both, and the programs in Python
#
# BUILD is the build directory (build). A machine without a GPU skips the run.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
chips=sm_80,sm_90

pack() {
  build=${2:-$root/build}
  mkdir -p "$1/artifacts" "$1/lib" "$1/test"
  cp "$build/lib/libtile-runtime.so" "$1/lib"
  cp "$root"/test/gpu/*.py "$root/benchmarks/benchmark.py" "$1/test"
  "$root/test/gpu/pack.sh" "$build/bin/tile-run" "$root" "$1/artifacts" "$chips"
}

run() {
  if ! python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
    echo "no GPU (or no torch) here: GPU suite skipped"
    return 0
  fi
  python3 "$1/test/run_examples.py" --library "$1/lib/libtile-runtime.so" \
    --artifacts "$1/artifacts" --chips "$chips"
}

case ${1:-} in
pack) pack "$2" "${3:-}" ;;
run) run "$2" ;;
*)
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  pack "$dir" "${1:-}"
  run "$dir"
  # The programs in Python, compiled here: they need the build itself.
  build=${1:-$root/build}
  if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
    PYTHONPATH="$root/python:$build/python" python3 "$root/test/gpu/run_python.py"
  fi
  ;;
esac
