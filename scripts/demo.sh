#!/usr/bin/env bash
# Compiles a FlashAttention kernel written as a tile program, runs it on all
# cores, checks it against a reference and times it; then runs it on queries,
# keys and values made from a real text and draws the attention map. Installs
# and builds what is missing first.
#
#   scripts/demo.sh

source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

for argument in "$@"; do
  sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  [[ $argument == -h || $argument == --help ]] && exit 0
  fail "demo.sh takes no arguments, got $argument"
done

ensure_packages "${build_packages[@]}"
ensure_python "$root/scripts/requirements.txt"
build tile-run

say "examples/flash_attention.mlir: compiled, run, checked against its reference, timed"
"$root/build/bin/tile-run" "$root/examples/flash_attention.mlir" --bench=5

say "The same kernel on a text"
"$python" "$root/examples/attention_on_text/attention.py" \
  --tile-run "$root/build/bin/tile-run" --out "$root/build/demo"
