"""Runs a kernel of an artifact on the PTX emulator, as it is and without each of its barriers.

    remove_barriers.py ARTIFACT FUNCTION CHIP SHAPE...

SHAPE is that of each argument, `136x200xf16`, the last one being the result. The plan may hold
constants and addresses only. Fails where the whole kernel is at fault, or where it is not without
some barrier.
"""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path


def read_sections(path: str) -> dict[str, bytes]:
    """The artifact's sections: names and contents behind their lengths, after 8 bytes."""
    data, at, sections = Path(path).read_bytes(), 8, {}

    def take() -> bytes:
        nonlocal at
        (length,) = struct.unpack_from("<Q", data, at)
        at += 8 + length
        return data[at - length : at]

    while at + 16 <= len(data):
        name = take().decode()
        sections[name] = take()
    return sections


def get_launch(plan: str) -> tuple[str, list[int], list[int]]:
    """The first launch: its kernel, grid, block and shared bytes, and whose address it passes."""
    values: list[tuple[str, int]] = []
    for line in plan.splitlines():
        kind, *words = line.split()
        if kind == "value" and words[0] in ("const", "address"):
            values.append((words[0], int(words[1])))
        elif kind == "value":
            operands = [values[int(word)] for word in words[1:] if int(word) < len(values)]
            addresses = [value for value in operands if value[0] == "address"]
            values.append(addresses[0] if addresses else ("const", 0))
        elif kind == "launch":
            numbers = [values[int(word)][1] for word in words[1:8]]
            return words[0], numbers, [values[int(w.split(":")[1])][1] for w in words[8:]]
    raise SystemExit("the plan has no launch")


def is_right(ptx: str, kernel: str, numbers: list[int], order: list[int], shapes: list[str]) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.ptx"
        path.write_text(ptx)
        grid, block = (",".join(map(str, numbers[i : i + 3])) for i in (0, 3))
        command = ["tile-run", str(path), f"--entry={kernel}", f"--grid={grid}"]
        command += [f"--block={block}", f"--shared={numbers[6]}", "--seeds=3"]
        for argument in order:
            kind = "empty" if argument == len(shapes) - 1 else "randn"
            command += ["--arg", f"B{argument}={kind}:{shapes[argument]}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(done.stdout + done.stderr)
        return done.returncode == 0


def main() -> None:
    artifact, function, chip, *shapes = sys.argv[1:]
    sections = read_sections(artifact)
    kernel, numbers, order = get_launch(sections[f"plan/{function}"].decode())
    ptx = sections[f"ptx/{function}/{chip}"].decode()
    barriers = list(re.finditer(r"^\s*(?:bar|barrier)\.sync\b.*;\n", ptx, re.MULTILINE))
    if not is_right(ptx, kernel, numbers, order, shapes):
        raise SystemExit("the whole kernel is at fault")
    for number, barrier in enumerate(barriers):
        without = ptx[: barrier.start()] + ptx[barrier.end() :]
        if is_right(without, kernel, numbers, order, shapes):
            raise SystemExit(f"barrier {number} of {len(barriers)} is not needed")
    print(f"{kernel}: {len(barriers)} barriers, all needed")


if __name__ == "__main__":
    main()
