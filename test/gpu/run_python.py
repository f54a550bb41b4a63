"""Runs the programs of examples/python, and the tests of torch's operators, on a GPU.

Each program checks itself. Needs the package `tile` (or `python` and `build/python` on
PYTHONPATH) and torch; ends with a count, as gpu-test.sh does.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LIMIT = 120  # seconds for one program


def run(path: Path, options: list[str]) -> tuple[str, str, float]:
    """How a program ended (passed, failed or skipped), what it printed, and how long
    it took."""
    started = time.monotonic()
    command = [sys.executable, str(path), "--target=cuda", *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, cwd=path.parent)
    except subprocess.TimeoutExpired:
        return "failed", f"took longer than {LIMIT} s", time.monotonic() - started
    output = done.stdout + done.stderr
    refused = re.search(r".*(has no lowering to the cuda target|which the cuda target cannot pass).*", output)
    if refused:
        return "skipped", refused.group(0).strip(), time.monotonic() - started
    right = (
        done.returncode == 0 and ": right, relative error" in output or "--large" in options and done.returncode == 0
    )
    return "passed" if right else "failed", output, time.monotonic() - started


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("programs", nargs="*", help="names without .py; all by default")
    parser.add_argument("--large", action="store_true", help="sizes worth timing, one program at a time")
    parser.add_argument("--record", help="write what each program printed as JSON")
    parser.add_argument("--jobs", type=int, default=6, help="programs at a time")
    options = parser.parse_args()
    paths = sorted((ROOT / "examples" / "python").glob("*.py"))
    paths = [
        p
        for p in paths
        if p.stem not in ("common", "online_softmax") and (not options.programs or p.stem in options.programs)
    ]
    extra = ["--large"] if options.large else []
    os.environ.setdefault("TILE_CACHE_DIR", "/tmp/tile-gpu-test-cache")
    with ThreadPoolExecutor(1 if options.large else options.jobs) as pool:
        results = list(pool.map(lambda path: run(path, extra), paths))
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for path, (verdict, output, seconds) in zip(paths, results, strict=True):
        counts[verdict] += 1
        lines = output.strip().splitlines()
        shown = lines if options.large and verdict == "passed" else lines[-6:] if verdict == "failed" else lines[-1:]
        print(f"{verdict:8} {path.stem} ({seconds:.0f} s)")
        for line in shown:
            print(f"         {line[:200]}")
    if options.record:
        record = {
            path.stem: {"verdict": v, "seconds": s, "output": o} for path, (v, o, s) in zip(paths, results, strict=True)
        }
        Path(options.record).write_text(json.dumps(record, indent=1))
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
