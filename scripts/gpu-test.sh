#!/bin/sh
# Runs the GPU suite and ends with a count.
#
#   scripts/gpu-test.sh pack DIR [BUILD]   compile examples, conformance programs and
#                                          generated ones into DIR, for a machine that
#                                          has a GPU but no build
#   scripts/gpu-test.sh run DIR            run what was packed, on this machine: needs
#                                          DIR, the driver, python3 and numpy, and for
#                                          the examples torch
#   scripts/gpu-test.sh [BUILD]            both, and the programs in Python
#
# BUILD is the build directory (build). GENERATED=N packs N generated programs (300),
# SEED=N says from which seed on (1). A machine without a GPU skips the run.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
chips=sm_80,sm_90

pack() {
  build=${2:-$root/build}
  mkdir -p "$1/artifacts" "$1/lib" "$1/test" "$1/cases"
  cp "$build/lib/libtile-runtime.so" "$1/lib"
  cp "$root"/test/gpu/*.py "$root/benchmarks/benchmark.py" "$1/test"
  "$root/test/gpu/pack.sh" "$build/bin/tile-run" "$root" "$1/artifacts" "$chips"
  python=$root/.venv/bin/python
  [ -x "$python" ] || python=python3
  "$python" "$root/test/gpu/pack_cases.py" "$build/bin/tile-run" "$1/cases" --chips "$chips" \
    --generated "${GENERATED:-300}" --seed "${SEED:-1}"
}

has_gpu() {
  python3 -c 'import ctypes, numpy
n = ctypes.c_int()
cuda = ctypes.CDLL("libcuda.so.1")
assert cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(n)) == 0 and n.value' 2>/dev/null
}

has_torch() {
  python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null
}

# Each prints a line that ends in "N passed, N failed".
run_parts() {
  python3 "$1/test/run_cases.py" "$1/cases" --library "$1/lib/libtile-runtime.so" --chips "$chips" || :
  if has_torch; then
    python3 "$1/test/run_examples.py" --library "$1/lib/libtile-runtime.so" \
      --artifacts "$1/artifacts" --chips "$chips" || :
    # The programs in Python are compiled here: they need the build itself.
    if [ -n "${2:-}" ]; then
      PYTHONPATH="$root/python:$2/python" python3 "$root/test/gpu/run_python.py" || :
    fi
  else
    echo "no torch here: examples and programs in Python skipped, 0 passed, 0 failed"
  fi
}

run() {
  if ! has_gpu; then
    echo "no GPU (or no numpy) here: GPU suite skipped"
    return 0
  fi
  log=$(mktemp)
  run_parts "$1" "${2:-}" 2>&1 | tee "$log"
  # A part that ended without its count failed.
  counts=$(grep -oE '[0-9]+ passed, [0-9]+ failed' "$log" | awk '{p += $1; f += $3} END {print p + 0, f + 0, NR}')
  rm -f "$log"
  set -- $counts
  failed=$2
  [ "$3" -ge 2 ] || failed=$((failed + 1))
  echo "GPU suite: $1 passed, $failed failed"
  [ "$failed" -eq 0 ]
}

case ${1:-} in
pack) pack "$2" "${3:-}" ;;
run) run "$2" ;;
*)
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  pack "$dir" "${1:-}"
  run "$dir" "${1:-$root/build}"
  ;;
esac
