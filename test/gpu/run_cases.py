"""Makes recorded calls on this machine's GPU and judges their results.

    run_cases.py --library libtile-runtime.so CASES [--chips sm_80,sm_90] [--jobs 8]

CASES holds compiled programs and, for each, calls as `tile-run --record` and pack_cases.py write
them: arguments, what the results should be, and how far they may be off. A call is made twice with
other garbage in its results; an element that differs was not written. Needs the runtime's library,
the driver and numpy. `--sanitizer memcheck` (or another tool of compute-sanitizer) runs all of it
under that. Ends with a count.
"""

from __future__ import annotations

import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np

LIMIT = 60
"""Seconds for one call; under a sanitizer ten times as many."""
LOST = ("illegal", "misaligned", "launch failed", "unspecified launch", "exception", "timeout")
"""In the driver's message: the context is of no further use."""

# Elements ------------------------------------------------------------------


def float8(bits: Any, exponent_bits: int) -> Any:
    """Values of f8E4M3FN (which has no infinities) and f8E5M2."""
    mantissa_bits = 7 - exponent_bits
    sign = np.where(bits & 0x80, -1.0, 1.0)
    exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1)
    mantissa = (bits & ((1 << mantissa_bits) - 1)) / (1 << mantissa_bits)
    bias = (1 << (exponent_bits - 1)) - 1
    values = np.where(exponent == 0, mantissa * 2.0 ** (1 - bias), (1 + mantissa) * 2.0 ** (exponent - float(bias)))
    if exponent_bits == 4:
        values = np.where((bits & 0x7F) == 0x7F, np.nan, values)
    else:
        values = np.where(exponent == 31, np.where(mantissa == 0, np.inf, np.nan), values)
    return sign * values


PLAIN = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "i64": "<i8", "i32": "<i4", "i16": "<i2", "i8": "i1", "i1": "u1"}


def decode(data: bytes, dtype: str) -> Any:
    """The elements of a storage, in numbers that hold them."""
    if dtype in PLAIN:
        numbers = np.frombuffer(data, PLAIN[dtype])
        return numbers.astype(np.int64 if dtype[0] == "i" else np.float64)
    if dtype == "index":
        return np.frombuffer(data, "<i8")
    if dtype == "bf16":
        return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    raw = np.frombuffer(data, np.uint8)
    if dtype == "i4":
        halves = np.stack([raw & 15, raw >> 4], -1).reshape(-1).astype(np.int64)
        return np.where(halves > 7, halves - 16, halves)
    return float8(raw.astype(np.int64), 4 if dtype == "f8E4M3FN" else 5)


def elements(data: bytes, argument: dict[str, Any]) -> Any:
    """The array that lies in a storage."""
    numbers = decode(data, argument["type"])[argument["offset"] :]
    if 0 in argument["shape"]:
        return np.zeros(argument["shape"], numbers.dtype)
    strides = [stride * numbers.itemsize for stride in argument["strides"]]
    return np.lib.stride_tricks.as_strided(numbers, argument["shape"], strides, writeable=False)


# One call ------------------------------------------------------------------


def judge(output: dict[str, Any], argument: dict[str, Any], folder: Path, runs: list[bytes]) -> str:
    """What is wrong with one result, or nothing."""
    name = argument["name"]
    first, second = (elements(data, argument) for data in runs)
    same = (first == second) | ((first != first) & (second != second))
    if not same.all():
        return f"{name}: {(~same).sum()} of {same.size} elements differ between runs, first at {place(~same)}"
    if "reference" not in output:
        return ""
    wanted = np.load(folder / output["reference"])
    bound = np.zeros(wanted.shape)
    with np.errstate(invalid="ignore", over="ignore"):
        if wanted.dtype.kind == "f":
            bound = output["absolute"] + output["relative"] * np.abs(wanted)
            if "magnitude" in output:
                bound = bound + output["magnitudeFactor"] * np.load(folder / output["magnitude"])
            wanted = overflow(wanted, argument["type"])
        error = np.abs(first.astype(np.float64) - wanted.astype(np.float64))
        good = (error <= bound) | (first == wanted) | ((first != first) & (wanted != wanted))
    if not good.all():
        at = place(~good)
        return (
            f"{name}: {(~good).sum()} of {good.size} elements are off, first at {list(at)}: "
            f"got {first[at]}, expected {wanted[at]}"
        )
    # Of the finite ones, scaled so that squares stay finite too.
    finite = np.isfinite(error) & np.isfinite(wanted)
    scale = float(np.abs(wanted[finite]).max(initial=0)) or 1.0
    size = float(np.linalg.norm(wanted[finite] / scale))
    norm = float(np.linalg.norm(error[finite] / scale)) / size if size else 0.0
    if norm > output.get("norm", float("inf")):
        return f"{name}: the norm of the error is {norm} of that of the reference"
    return ""


def place(wrong: Any) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(wrong)[0])


LARGEST = {"f16": 65504.0, "f32": float(np.finfo(np.float32).max), "bf16": 3.3895313892515355e38}


def overflow(wanted: Any, dtype: str) -> Any:
    """Where the reference is beyond the result's type, the infinity that it becomes."""
    largest = LARGEST.get(dtype)
    if largest is None:
        return wanted
    half = largest * (1 + (2.0**-11 if dtype == "f16" else 2.0**-24 if dtype == "f32" else 2.0**-8) / 2)
    return np.where(np.abs(wanted) >= half, np.copysign(np.inf, wanted), wanted)


class Caller:
    """Makes calls; in a process of its own, since a kernel may take its context along."""

    def __init__(self, library: Path) -> None:
        from cuda_memory import Device
        from tile_runtime import Runtime

        self.device = Device()
        self.runtime = Runtime(library)

    def check(self, path: Path, chip: str) -> str:
        case = json.loads(path.read_text())
        module = self.runtime.load(path.parent / case["artifact"], case["function"], chip)
        runs = [self.call(module, case, path.parent, garbage) for garbage in (0x5B, 0xA6)]
        for output in case["outputs"]:
            index = output["argument"]
            problem = judge(output, case["arguments"][index], path.parent, [run[index] for run in runs])
            if problem:
                return problem
        return ""

    def call(self, module: Any, case: dict[str, Any], folder: Path, garbage: int) -> dict[int, bytes]:
        from cuda_memory import Buffer
        from tile_runtime import ArrayAt

        values: list[ArrayAt | int | float] = []
        buffers: dict[int, Buffer] = {}
        for index, argument in enumerate(case["arguments"]):
            if "bits" in argument:
                values.append(struct.unpack("<d", struct.pack("<q", argument["bits"]))[0])
                continue
            if "value" in argument:
                values.append(int(argument["value"]))
                continue
            size = int(argument["bytes"])
            data = (folder / argument["contents"]).read_bytes() if "contents" in argument else bytes([garbage]) * size
            buffers[index] = Buffer(self.device, size)
            buffers[index].upload(data)
            # As many elements as 64 bits hold.
            per_word = decode(bytes(8), argument["type"]).size
            address = buffers[index].address + argument["offset"] * 8 // per_word
            values.append(ArrayAt(address, argument["shape"], argument["strides"]))
        module.launch(values)
        self.device.synchronize()
        return {output["argument"]: buffers[output["argument"]].download() for output in case["outputs"]}


def work(library: Path) -> None:
    """Answers each line (a case and a chip) with one: what is wrong, or nothing."""
    caller = Caller(library)
    print(caller.device.name, flush=True)
    for line in sys.stdin:
        path, chip = json.loads(line)
        try:
            problem = caller.check(Path(path), chip)
        except Exception as error:  # whatever it is, it is this case's
            problem = f"{type(error).__name__}: {error}"
        print(json.dumps(problem), flush=True)
        if any(word in problem for word in LOST):
            os._exit(3)


# All calls -----------------------------------------------------------------


@dataclass
class Tally:
    passed: int = 0
    failed: int = 0
    device: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, name: str, problem: str) -> None:
        with self.lock:
            if problem:
                self.failed += 1
                print(f"FAIL {name}: {problem}", flush=True)
            else:
                self.passed += 1


class Worker:
    """A process that makes calls, replaced where one of them ends it."""

    def __init__(self, options: argparse.Namespace, tally: Tally) -> None:
        self.options, self.tally = options, tally
        self.process: subprocess.Popen[str] | None = None
        self.log = Path(tempfile.mkstemp(suffix=".log")[1])

    def start(self) -> subprocess.Popen[str]:
        command = [sys.executable, __file__, "--worker", "--library", str(self.options.library), "-"]
        if self.options.sanitizer:
            command = ["compute-sanitizer", "--tool", self.options.sanitizer, f"--log-file={self.log}", *command]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdout
        self.tally.device = process.stdout.readline().strip()
        return process

    def check(self, path: Path, chip: str) -> str:
        if not self.process:
            self.process = self.start()
        process = self.process
        assert process.stdin and process.stdout
        limit = LIMIT * (10 if self.options.sanitizer else 1)
        timer = threading.Timer(limit, process.kill)
        timer.start()
        try:
            process.stdin.write(json.dumps([str(path), chip]) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finished = timer.is_alive()
        timer.cancel()
        if not line or any(word in line for word in LOST):
            process.kill()
            process.wait()
            self.process = None
        if line:
            return str(json.loads(line))
        return "the process ended" if finished else f"took longer than {limit} s"

    def close(self) -> None:
        """Ends the process; under a sanitizer, hands on what it found."""
        if self.process and self.process.stdin:
            self.process.stdin.close()
            self.process.wait()
        if not self.options.sanitizer:
            return
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        found = [line for line in lines if "ERROR SUMMARY" in line or "RACECHECK SUMMARY" in line]
        clean = found and all(": 0 errors" in line or "0 hazards" in line for line in found)
        self.tally.add(f"{self.options.sanitizer} {self.log}", "" if clean else "\n".join(lines[:40]) or "no log")


def run_all(options: argparse.Namespace) -> int:
    paths = sorted(options.cases.rglob("*.json"))
    if options.only:
        paths = [path for path in paths if any(part in str(path) for part in options.only)]
    jobs: SimpleQueue[tuple[Path, str] | None] = SimpleQueue()
    for path in paths:
        for chip in options.chips.split(","):
            jobs.put((path, chip))
    for _ in range(options.jobs):
        jobs.put(None)
    tally = Tally()

    def serve() -> None:
        worker = Worker(options, tally)
        while job := jobs.get():
            path, chip = job
            problem = worker.check(path, chip)
            tally.add(f"{path.parent.name}/{path.stem} {chip}", problem)
        worker.close()

    with ThreadPoolExecutor(options.jobs) as pool:
        for done in [pool.submit(serve) for _ in range(options.jobs)]:
            done.result()
    what = f" under {options.sanitizer}" if options.sanitizer else ""
    print(f"{tally.device}, {len(paths)} recorded calls{what}: {tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed or not paths else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("cases", type=Path)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--chips", default="sm_80,sm_90")
    parser.add_argument("--jobs", type=int, default=8, help="processes")
    parser.add_argument("--only", action="append", help="calls with this in their path")
    parser.add_argument("--sanitizer", choices=["memcheck", "racecheck", "initcheck", "synccheck"])
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.library)
        return 0
    return run_all(options)


if __name__ == "__main__":
    sys.exit(main())
