# What demo.sh and test.sh share: installs what is missing and builds. To be
# sourced. Relies on Debian 12's packages and on nothing installed before;
# without the right to install it prints the command that someone else has to
# run. Everything but the packages stays inside the tree.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# To build and run.
build_packages=(
  clang-22 lld-22 llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools
  libomp-22-dev cmake ninja-build libgtest-dev g++ python3 python3-dev python3-venv)
# To run every suite: the sanitizers' run time, formatters, and what lit needs
# to end a test that hangs.
test_packages=(libclang-rt-22-dev clang-format-22 python3-psutil)

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 2; }

# ensure_packages NAME...: installs the Debian packages that are missing.
ensure_packages() {
  local package missing=() become=()
  if ! command -v dpkg-query >/dev/null; then
    say "Not a Debian system: these packages, or what they hold, must be there: $*"
    return
  fi
  for package in "$@"; do
    if [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
      missing+=("$package")
    fi
  done
  if [[ ${#missing[@]} -eq 0 ]]; then
    return
  fi
  if [[ $(id -u) -ne 0 ]]; then
    # A password can be asked for at a terminal only.
    if command -v sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
      become=(sudo)
    else
      fail "these packages are missing and this user may not install them; run as root:
  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
    fi
  fi
  say "Installing ${missing[*]}"
  # A source of the machine's that is unreachable need not be one of ours.
  "${become[@]}" apt-get update -q || true
  "${become[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${missing[@]}" ||
    fail "apt-get could not install: ${missing[*]}"
}

# ensure_python FILE: a virtual environment in .venv with the packages that the
# requirements file names. Made by the system's Python, since a user's own may
# lack a module that its version should have.
python="$root/.venv/bin/python"
ensure_python() {
  local wanted="$1" stamp="$root/.venv/installed.txt" system=/usr/bin/python3
  [[ -x $system ]] || system=$(command -v python3) || fail "python3 is missing"
  if [[ -x $python ]] && cmp -s "$wanted" "$stamp"; then
    return
  fi
  say "Python packages into .venv"
  "$system" -m venv "$root/.venv" || fail "$system cannot make a virtual environment; on Debian install python3-venv"
  "$python" -m pip install --quiet --no-cache-dir --disable-pip-version-check -r "$wanted" ||
    fail "pip could not install what $wanted names"
  cp "$wanted" "$stamp"
}

# configure PRESET [OPTION...]: once; later ninja notices what has changed.
configure() {
  local preset="$1" folder="$root/build"
  shift
  [[ $preset == release ]] || folder="$root/build-$preset"
  if [[ ! -e $folder/build.ninja ]]; then
    say "Configuring $folder"
    (cd "$root" && cmake --preset "$preset" -DPython3_EXECUTABLE="$python" "$@")
  fi
}

# build TARGET...: in the release tree, with ninja's progress shown.
build() {
  configure release
  say "Building ${*:-everything}"
  NINJA_STATUS='[%f/%t %es] ' ninja -C "$root/build" "$@"
}
