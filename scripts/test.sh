#!/usr/bin/env bash
# Runs every test: installs what is missing, builds, then runs the suites and
# ends with a line that reads `N passed, N failed, N skipped`.
#
#   scripts/test.sh             the usual suites
#   scripts/test.sh lit unit    these only
#   scripts/test.sh --all       those too that build everything once more or take long
#   scripts/test.sh --list      names, budgets and what each suite shows
#
# Logs are in build/test-logs/. The exit code is 0 when nothing failed, 1 when
# a test failed, 2 when something could not be installed or built.

source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

suites="$root/scripts/run_suites.py"
for argument in "$@"; do
  case "$argument" in
  -h | --help)
    sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exec python3 "$suites" --list
    ;;
  --list) exec python3 "$suites" --list ;;
  esac
done

ensure_packages "${build_packages[@]}" "${test_packages[@]}"
ensure_python "$root/scripts/requirements.txt"
"$python" "$suites" --check "$@"
started=$(date +%s)
build all || { echo '0 passed, 1 failed, 0 skipped'; exit 2; }
exec "$python" "$suites" --build-seconds $(($(date +%s) - started)) "$@"
