"""Runs the project's test suites and sums up what they counted.

Each suite is a function from a `Bench` to an `Outcome`. It has a budget of
minutes, reported when exceeded, and is ended at three times that, so that
nothing hangs. Nothing is left out silently: a suite or a test that cannot run
here says why and is counted as skipped. Called by test.sh; needs nothing but
the standard library.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
LOGS = BUILD / "test-logs"
LLVM = Path("/usr/lib/llvm-22/bin")
HARD_LIMIT = 3  # times the budget


@dataclass
class Outcome:
    """What a suite counted, and the lines a person should read."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    notes: list[str] = field(default_factory=list)

    def check(self, holds: bool, what: str) -> None:
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            self.notes.append(f"FAILED {what}")

    def skip(self, what: str, why: str) -> None:
        self.skipped += 1
        self.notes.append(f"skipped {what}: {why}")


class Bench:
    """Runs a suite's commands, with one log and one deadline for all of them."""

    def __init__(self, name: str, minutes: float) -> None:
        self.log = LOGS / f"{name}.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_text("")
        self.deadline = time.monotonic() + HARD_LIMIT * minutes * 60

    def run(
        self,
        command: Sequence[str | Path],
        *,
        show: bool = False,
        env: dict[str, str] | None = None,
    ) -> bool:
        """Whether the command ended well in time. Its output goes to the log, or to
        the terminal where its progress is worth seeing."""
        words = [str(word) for word in command]
        with self.log.open("a") as log:
            log.write("$ " + " ".join(words) + "\n")
            log.flush()
            process = subprocess.Popen(
                words,
                cwd=ROOT,
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=None if show else log,
                stderr=None if show else subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                code = process.wait(timeout=max(1.0, self.deadline - time.monotonic()))
            except (subprocess.TimeoutExpired, KeyboardInterrupt) as stop:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                log.write("ended: the suite's time is up\n")
                if isinstance(stop, KeyboardInterrupt):
                    raise
                return False
            log.write(f"exit code {code}\n")
            return code == 0

    def capture(self, command: Sequence[str | Path], text: str) -> str:
        """The output of a command that is given a text, or nothing where it fails."""
        words = [str(word) for word in command]
        limit = max(1.0, self.deadline - time.monotonic())
        done = subprocess.run(words, input=text, capture_output=True, text=True, timeout=limit)
        with self.log.open("a") as log:
            log.write(f"$ {' '.join(words)}\n{done.stderr}exit code {done.returncode}\n")
        return done.stdout if done.returncode == 0 else ""

    def tail(self, lines: int) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


# What tools report ---------------------------------------------------------


def count_unit(bench: Bench, outcome: Outcome, build: Path) -> None:
    """Runs the GoogleTest cases of a build tree."""
    results = bench.log.with_suffix(".xml")
    results.unlink(missing_ok=True)
    jobs = str(os.cpu_count() or 1)
    command = ["ctest", "--test-dir", str(build), "-L", "unit", "-j", jobs, "--timeout", "300"]
    bench.run([*command, "--output-on-failure", "--output-junit", results])
    count_junit(results, outcome)


def count_lit(bench: Bench, outcome: Outcome, build: Path) -> None:
    """Runs the lit suite of a build tree."""
    results = bench.log.with_suffix(".json")
    results.unlink(missing_ok=True)
    ended = bench.run([LLVM / "lit", "-v", "--output", results, build / "test"])
    if not results.exists():
        outcome.check(False, "lit wrote no results")
        return
    tests = json.loads(results.read_text())["tests"]
    for test in tests:
        name, code = test["name"], test["code"]
        if code in ("PASS", "XFAIL", "FLAKYPASS"):
            outcome.passed += 1
        elif code in ("UNSUPPORTED", "SKIPPED", "EXCLUDED"):
            reason = test.get("output", "").strip().splitlines()
            outcome.skip(name, reason[0] if reason else code.lower())
        else:
            outcome.check(False, f"{name} ({code})")
    if not tests or not ended and not outcome.failed:
        outcome.check(False, "lit did not end well")


def count_junit(results: Path, outcome: Outcome) -> None:
    """Adds the cases of a JUnit file, as ctest and pytest write them."""
    if not results.exists():
        outcome.check(False, f"no results in {results.name}")
        return
    cases = list(ElementTree.parse(results).iter("testcase"))
    for case in cases:
        name = f"{case.get('classname', '')}.{case.get('name', '')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            outcome.check(False, name)
        elif skipped is not None or case.get("status") in ("notrun", "disabled"):
            outcome.skip(name, (skipped.get("message") if skipped is not None else None) or "not run")
        else:
            outcome.passed += 1
    if not cases:
        outcome.check(False, f"no test was found for {results.name}")


def tracked(*patterns: str) -> list[str]:
    """Files of the tree that git tracks or would track."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in listing.stdout.split("\0") if name and (ROOT / name).exists()]


# Suites --------------------------------------------------------------------


def run_format(bench: Bench, outcome: Outcome) -> None:
    """C++ is formatted by clang-format, no file is too long to read"""
    sources = tracked("*.cpp", "*.h")
    outcome.check(bench.run([LLVM / "clang-format", "--dry-run", "-Werror", *sources]), "clang-format")
    for name in tracked("*.cpp", "*.h", "*.td", "*.py", "*.cmake", "*.mlir", "*.sh"):
        length = len((ROOT / name).read_text(errors="replace").splitlines())
        if length > 600:
            outcome.check(False, f"{name} has {length} lines, the limit is 600")
    outcome.check(not outcome.failed, "length of files")


def run_python(bench: Bench, outcome: Outcome) -> None:
    """Python is clean by ruff and typed"""
    sources = tracked("*.py")
    outcome.check(bench.run([sys.executable, "-m", "ruff", "check", "--no-cache", *sources]), "ruff")
    # Folder by folder: two folders may have modules of one name.
    for folder in sorted({str(Path(name).parent) for name in sources}):
        # The names in lit's configuration come from lit.
        names = [name for name in sources if str(Path(name).parent) == folder and not name.endswith("lit.cfg.py")]
        mypy = [sys.executable, "-m", "mypy", "--ignore-missing-imports", "--disallow-untyped-defs"]
        if names:
            outcome.check(bench.run([*mypy, "--cache-dir", BUILD / "mypy", *names]), f"types in {folder}")


def run_unit(bench: Bench, outcome: Outcome) -> None:
    """GoogleTest cases of the C++ libraries, each in a process of its own"""
    count_unit(bench, outcome, BUILD)


def run_lit(bench: Bench, outcome: Outcome) -> None:
    """The dialect, passes and tools by what they print"""
    count_lit(bench, outcome, BUILD)


def run_pytest(folder: str, bench: Bench, outcome: Outcome, **settings: str) -> None:
    results = bench.log.with_suffix(".xml")
    results.unlink(missing_ok=True)
    # Tests are of the compiler, not of what it did yesterday.
    tools = {"TILE_BUILD": str(BUILD), "TILE_CACHE_DIR": "", "PYTHONDONTWRITEBYTECODE": "1", **settings}
    command = [sys.executable, "-m", "pytest", "-ra", "-p", "no:cacheprovider"]
    bench.run([*command, "--junitxml", results, ROOT / "test" / folder], env=tools)
    count_junit(results, outcome)


def run_examples(bench: Bench, outcome: Outcome) -> None:
    """Every example as it is, at odd and at large shapes, against its reference"""
    run_pytest("examples", bench, outcome)


def run_conformance(bench: Bench, outcome: Outcome) -> None:
    """Small programs construct by construct, and 100 generated ones, by their numbers"""
    run_pytest("conformance", bench, outcome)


def run_emulator(bench: Bench, outcome: Outcome) -> None:
    """The GPU's code without a GPU: examples and small programs, searched for races"""
    run_pytest("emulator", bench, outcome)


def run_mutants(bench: Bench, outcome: Outcome) -> None:
    """The GPU's code without one barrier, fence, wait or commit at a time: all must be missed"""
    run_pytest("emulator/test_mutants.py", bench, outcome, TILE_MUTANTS="all")


def run_robustness(bench: Bench, outcome: Outcome) -> None:
    """Truncated, mutated, huge, nested and foreign input gives diagnostics"""
    run_pytest("robustness", bench, outcome)


def run_package(bench: Bench, outcome: Outcome) -> None:
    """The Python package: its language, launches, tuning, and a wheel in an empty environment"""
    run_pytest("python", bench, outcome)


def run_install(bench: Bench, outcome: Outcome) -> None:
    """An out-of-tree compiler builds against the installed package and lowers a program"""
    prefix, tree = BUILD / "install-test" / "prefix", BUILD / "install-test" / "build"
    for stale in (prefix, tree):
        shutil.rmtree(stale, ignore_errors=True)
    outcome.check(bench.run(["cmake", "--install", BUILD, "--prefix", prefix]), "cmake --install")
    # Installed headers only: the source tree's may not leak in.
    compilers = ["-DCMAKE_C_COMPILER=clang-22", "-DCMAKE_CXX_COMPILER=clang++-22"]
    linker = "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld-22"
    source = ["-S", str(ROOT / "test" / "install"), "-B", str(tree), "-G", "Ninja"]
    configured = bench.run(["cmake", *source, *compilers, linker, f"-DCMAKE_PREFIX_PATH={prefix}"])
    outcome.check(configured and bench.run(["ninja", "-C", tree]), "the embedder's compiler builds")
    program = (ROOT / "test" / "install" / "program.mlir").read_text()
    lowered = bench.capture([tree / "tiny-compiler"], program)
    outcome.check("llvm.func @double" in lowered and "tile." not in lowered, "it lowers a tile program")
    library = next(prefix.glob("lib*/libtile.so"), None)
    outcome.check(library is not None and (prefix / "include/Tile/C/Tile.h").exists(), "the C ABI is installed")
    refused = bench.capture([tree / "tiny-compiler"], program.replace("memref<64xf32, #tile.fragment>", "f32"))
    outcome.check(refused == "", "it refuses a wrong one")
    installed = bench.capture([prefix / "bin" / "tile-opt", "--convert-tile-to-cpu"], program)
    outcome.check("tile." not in installed and "@double" in installed, "the installed tile-opt runs")


def build_preset(preset: str, bench: Bench, outcome: Outcome, *options: str) -> Path | None:
    """Builds all of a preset's tree, every warning an error; nothing where that fails."""
    tree = ROOT / f"build-{preset}"
    python = f"-DPython3_EXECUTABLE={sys.executable}"
    if not (tree / "build.ninja").exists():
        options = (python, "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON", *options)
        if not bench.run(["cmake", "--preset", preset, *options]):
            outcome.check(False, f"cmake --preset {preset}")
            return None
    built = bench.run(["ninja", "-k0", "-C", tree], show=True, env={"NINJA_STATUS": f"[{preset} %f/%t %es] "})
    outcome.check(built, f"the build of preset {preset}")
    return tree if built else None


FUZZERS = {"tile-fuzzer": "corpus", "ptx-fuzzer": "ptx-corpus"}
"""And the folder of each one's inputs."""


def run_sanitizers(bench: Bench, outcome: Outcome) -> None:
    """Unit tests, lit and the fuzzers' corpora under address and undefined-behaviour checks"""
    tree = build_preset("asan", bench, outcome)
    if tree:
        count_unit(bench, outcome, tree)
        count_lit(bench, outcome, tree)
        for fuzzer, corpus in FUZZERS.items():
            # No new inputs: each file of the corpus once.
            replay: list[str | Path] = [tree / "bin" / fuzzer, "-runs=0", ROOT / "fuzz" / corpus]
            outcome.check(bench.run(replay), f"the corpus of {fuzzer}")


def run_gcc(bench: Bench, outcome: Outcome) -> None:
    """The system's GCC builds all of it without a warning, and an example runs"""
    # What the optimizer would add is time: the code is the same.
    tree = build_preset("gcc", bench, outcome, "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG")
    if tree:
        example = ROOT / "examples" / "flash_attention.mlir"
        outcome.check(bench.run([tree / "bin" / "tile-run", example]), "tile-run examples/flash_attention.mlir")
        for fuzzer, corpus in FUZZERS.items():
            replay: list[str | Path] = [tree / "bin" / fuzzer, *sorted((ROOT / "fuzz" / corpus).iterdir())]
            outcome.check(bench.run(replay), f"the corpus of {fuzzer}")


@dataclass(frozen=True)
class Suite:
    name: str
    budget: float  # minutes
    run: Callable[[Bench, Outcome], None]
    # Whether it runs without being named. The others build all of the project
    # once more, or take long.
    is_usual: bool = True

    @property
    def summary(self) -> str:
        return (self.run.__doc__ or "").splitlines()[0]


SUITES = [
    Suite("format", 1, run_format),
    Suite("python", 1, run_python),
    Suite("unit", 2, run_unit),
    Suite("lit", 2, run_lit),
    Suite("examples", 4, run_examples),
    Suite("conformance", 4, run_conformance),
    Suite("emulator", 5, run_emulator),
    Suite("robustness", 2, run_robustness),
    Suite("package", 4, run_package),
    Suite("install", 2, run_install),
    Suite("mutants", 30, run_mutants, is_usual=False),
    Suite("sanitizers", 20, run_sanitizers, is_usual=False),
    Suite("gcc", 30, run_gcc, is_usual=False),
]
BUILD_BUDGET = 15  # minutes, from nothing


# The program ---------------------------------------------------------------


def run_suite(suite: Suite) -> tuple[Outcome, float]:
    print(f"\n== {suite.name}: {suite.summary}", flush=True)
    bench, outcome = Bench(suite.name, suite.budget), Outcome()
    started = time.monotonic()
    try:
        suite.run(bench, outcome)
    except (OSError, subprocess.SubprocessError, ValueError, ElementTree.ParseError) as error:
        outcome.check(False, f"{suite.name} could not run: {error}")
    seconds = time.monotonic() - started
    for note in outcome.notes:
        print(f"   {note}")
    if outcome.failed:
        print(f"   the end of {bench.log.relative_to(ROOT)}:\n{bench.tail(60)}")
    print(
        f"   {outcome.passed} passed, {outcome.failed} failed, {outcome.skipped} skipped in {seconds:.1f} s",
        flush=True,
    )
    return outcome, seconds


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the test suites; see test.sh.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="run these only")
    parser.add_argument("--all", action="store_true", help="run those too that run only when named")
    parser.add_argument("--list", action="store_true", help="print the suites and stop")
    parser.add_argument("--check", action="store_true", help="check the arguments and stop")
    parser.add_argument("--build-seconds", type=float, default=0, help="what the build took, for the table")
    options = parser.parse_args()
    if options.list:
        for suite in SUITES:
            named = "" if suite.is_usual else " (when named, or with --all)"
            print(f"  {suite.name:11} {suite.budget:>4g} min  {suite.summary}{named}")
        return 0
    unknown = [name for name in options.suites if name not in {suite.name for suite in SUITES}]
    if unknown:
        parser.error(f"no suite {', '.join(unknown)}; there are {', '.join(suite.name for suite in SUITES)}")
    if options.check:
        return 0

    rows = [("build", Outcome(), options.build_seconds, float(BUILD_BUDGET))]
    for suite in SUITES:
        if suite.name in options.suites or options.all or suite.is_usual and not options.suites:
            rows.append((suite.name, *run_suite(suite), suite.budget))

    print(f"\n{'suite':11} {'passed':>7} {'failed':>7} {'skipped':>8} {'seconds':>8}  budget")
    total = Outcome()
    for name, outcome, seconds, budget in rows:
        late = "  over budget" if seconds > budget * 60 else ""
        counts = f"{outcome.passed:7} {outcome.failed:7} {outcome.skipped:8}"
        print(f"{name:11} {counts} {seconds:8.1f}  {budget:g} min{late}")
        total.passed += outcome.passed
        total.failed += outcome.failed
        total.skipped += outcome.skipped
    unusual = [suite.name for suite in SUITES if not suite.is_usual]
    if not options.suites and not options.all:
        print(f"\nnot run, since nobody named them: {', '.join(unusual)} (scripts/test.sh --all)")
    print(f"\n{total.passed} passed, {total.failed} failed, {total.skipped} skipped", flush=True)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
