"""PTX without one of its synchronising instructions.

A *site* is a barrier, fence, wait, commit or arrival in the PTX of an example or of
a hand-built kernel; a *mutant* is the text without it, or with an arrival that
expects no bytes. Whatever is needed has to be missed: the emulator must report the
mutant in one of its subject's cases. mutants.json lists the mutants that need no
report, with the reason, and the subjects that were gone through: all there are.

    mutants.py                  tries all of them, and lists those not reported
    mutants.py --only=matmul    those whose subject's name contains this
"""

from __future__ import annotations

import argparse
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from cases import CASES, CHIPS, KERNELS, LONGER, ROOT, TILE_RUN, make_options

# What orders threads, warps, proxies and engines; no access to memory is among
# these, nor what only moves registers.
SYNC = re.compile(
    r"(?P<guard>@!?[%\w$]+\s+)?"
    r"\b(?P<name>(?:bar|barrier|membar|fence|mbarrier|griddepcontrol)(?:\.[\w:]+)+"
    r"|wgmma\.(?:fence|commit_group|wait_group)(?:\.[\w:]+)*"
    r"|cp\.async(?:\.bulk)?\.(?:commit_group|wait_group|wait_all|mbarrier)(?:\.[\w:]+)*)"
    r"(?P<operands>[^;{}]*);"
)


@dataclass(frozen=True)
class Site:
    """One synchronising instruction."""

    kernel: str
    start: int
    end: int
    guard: str
    name: str
    operands: str
    statement: str
    """Of the program the PTX was made from: where .loc points."""
    number: int
    """Among the kernel's sites of the same name and statement."""


@dataclass(frozen=True)
class Mutant:
    site: Site
    change: str
    """`without` it, or `expecting nothing`."""
    text: str

    def __str__(self) -> str:
        site = self.site
        place = f" of `{site.statement}`" if site.statement else ""
        return f"{site.kernel}: {self.change} {site.name}{place} ({site.number})"


class Source:
    """Lines of the files that .loc names."""

    def __init__(self, ptx: str) -> None:
        self.names = {int(n): name for n, name in re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', ptx, re.MULTILINE)}
        self.lines: dict[int, list[str]] = {}

    def get(self, file: int, line: int) -> str:
        if file not in self.lines:
            path = Path(self.names.get(file, ""))
            self.lines[file] = path.read_text().splitlines() if path.is_file() else []
        lines = self.lines[file]
        return " ".join(lines[line - 1].split()) if 0 < line <= len(lines) else f"line {line}"


def find_sites(ptx: str) -> list[Site]:
    source, sites = Source(ptx), []
    seen: Counter[tuple[str, str, str]] = Counter()
    kernel, statement, at = "", "", 0
    for line in ptx.splitlines(keepends=True):
        if entry := re.search(r"\.entry\s+([\w$]+)", line):
            kernel = entry.group(1)
        elif place := re.match(r"\s*\.loc\s+(\d+)\s+(\d+)", line):
            statement = source.get(int(place.group(1)), int(place.group(2)))
        elif not line.lstrip().startswith(("//", ".")):
            for found in SYNC.finditer(line.split("//")[0]):
                start, end = at + found.start(), at + found.end()
                parts = (found["guard"] or "", found["name"], found["operands"])
                same = (kernel, found["name"], statement)
                sites.append(Site(kernel, start, end, *parts, statement, seen[same]))
                seen[same] += 1
        at += len(line)
    return sites


def replace(ptx: str, site: Site, instruction: str) -> str:
    return f"{ptx[: site.start]}{instruction}{ptx[site.end :]}"


def find_mutants(ptx: str) -> Iterator[Mutant]:
    for site in find_sites(ptx):
        nothing = ""
        if re.match(r"mbarrier\.(try|test)_wait", site.name):
            # It answers that the phase is complete, or its loop would not end.
            nothing = f"setp.eq.u32 {site.operands.split(',')[0].strip()}, 0, 0;"
        yield Mutant(site, "without", replace(ptx, site, nothing))
        if "arrive.expect_tx" in site.name:
            # The bytes are the last operand.
            operands = site.operands.rsplit(",", 1)[0]
            plain = f"{site.guard}{site.name.replace('.expect_tx', '')}{operands};"
            yield Mutant(site, "expecting nothing", replace(ptx, site, plain))


@dataclass(frozen=True)
class Outcome:
    mutant: Mutant
    is_reported: bool
    is_reached: bool

    def __str__(self) -> str:
        what = "reported" if self.is_reported else "not reported" if self.is_reached else "never reached"
        return f"{self.mutant}: {what}"


class Artifact:
    """Sections of a file that tile-run writes, and reads again."""

    MAGIC_BYTES = 8

    def __init__(self, path: Path) -> None:
        data, at = path.read_bytes(), self.MAGIC_BYTES
        self.magic = data[:at]
        self.sections: dict[str, bytes] = {}
        while at < len(data):
            parts = []
            for _ in range(2):
                (length,) = struct.unpack_from("<Q", data, at)
                parts.append(data[at + 8 : at + 8 + length])
                at += 8 + length
            self.sections[parts[0].decode()] = parts[1]

    def replace(self, name: str, contents: bytes) -> bytes:
        """The file with another section of that name."""
        out = bytearray(self.magic)
        for key, value in {**self.sections, name: contents}.items():
            for part in (key.encode(), value):
                out += struct.pack("<Q", len(part)) + part
        return bytes(out)


@dataclass(frozen=True)
class Subject:
    """Code and the launches that show what it does."""

    name: str
    ptx: str
    suffix: str
    make_file: Callable[[str], bytes]
    """What tile-run takes, with that PTX in it."""
    cases: list[list[str]]

    @property
    def mutants(self) -> list[Mutant]:
        return list(find_mutants(self.ptx))

    def find_faults(self, ptx: str, seeds: int) -> str:
        """What the emulator says of a text: nothing, or the faults of the first case that has some."""
        with tempfile.NamedTemporaryFile(suffix=self.suffix) as file:
            file.write(self.make_file(ptx))
            file.flush()
            for options in self.cases:
                command = [str(TILE_RUN), file.name, f"--seeds={seeds}", *options]
                done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
                if done.returncode == 1:
                    return done.stdout + done.stderr
                if done.returncode != 0:
                    raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
        return ""

    @cached_property
    def launched(self) -> set[str]:
        """The kernels that some case runs."""
        kernels = set()
        for entry in re.finditer(r"\.entry\s+([\w$]+)[^{]*\{", self.ptx):
            if self.find_faults(f"{self.ptx[: entry.end()]}trap;{self.ptx[entry.end() :]}", 1):
                kernels.add(entry[1])
        return kernels

    def judge(self, mutant: Mutant, seeds: int) -> Outcome:
        if mutant.site.kernel not in self.launched:
            return Outcome(mutant, False, False)
        if self.find_faults(mutant.text, seeds):
            return Outcome(mutant, True, True)
        probe = replace(self.ptx, mutant.site, f"{mutant.site.guard}trap;")
        return Outcome(mutant, False, bool(self.find_faults(probe, 1)))


def load_example(example: str, entry: str, chip: str, cases: Sequence[str]) -> Subject:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.tile"
        file = ROOT / "examples" / f"{example}.mlir"
        command = [str(TILE_RUN), str(file), f"--entry={entry}", f"--chip={chip}", "--emit=artifact", "-o", str(path)]
        subprocess.run(command, check=True, capture_output=True, text=True)
        artifact = Artifact(path)
    section = f"ptx/{entry}/{chip}"
    ptx = artifact.sections.get(section, b"").decode()
    options = [["--target=emulator", *make_options(case)] for case in cases]
    return Subject(f"{entry}/{chip}", ptx, ".tile", lambda text: artifact.replace(section, text.encode()), options)


def load_kernel(name: str, options: list[str]) -> Subject:
    ptx = (ROOT / "test" / "Emulator" / f"{name}.ptx").read_text()
    return Subject(name, ptx, ".ptx", str.encode, [options])


def find_subjects() -> dict[str, Callable[[], Subject]]:
    """By name, how to load each."""
    cases: dict[tuple[str, str], list[str]] = {}
    longer = [(example, case) for example, list_ in LONGER.items() for case in list_]
    for example, case in [*longer, *CASES]:
        cases.setdefault((example, case.split()[0]), []).append(case)
    subjects: dict[str, Callable[[], Subject]] = {}
    for chip in CHIPS:
        for (example, entry), list_ in cases.items():
            subjects[f"{entry}/{chip}"] = lambda a=(example, entry, chip, list_): load_example(*a)  # type: ignore[misc]
    for name, options in KERNELS.items():
        subjects[name] = lambda a=(name, options): load_kernel(*a)  # type: ignore[misc]
    return subjects


def drop_twins(subjects: Sequence[Subject]) -> list[Subject]:
    """Those whose code no other has: chips often get the same."""
    seen: dict[str, Subject] = {}
    for subject in subjects:
        seen.setdefault(re.sub(r"^\.(version|target).*$", "", subject.ptx, flags=re.MULTILINE), subject)
    return list(seen.values())


class Findings:
    """What the last runs of all mutants found: mutants.json beside this file."""

    def __init__(self) -> None:
        record = json.loads((Path(__file__).parent / "mutants.json").read_text())
        self.tried: list[str] = record["tried"]
        """Subjects all of whose mutants were tried, or a twin's."""
        self.redundant: list[dict[str, Any]] = record["redundant"]
        """Patterns of mutants that need no report, and why; whether a case gets there, which is so where a row does
        not say."""

    def find(self, subject: str, outcome: Outcome) -> int | None:
        """The number of the row that says why a mutant needs no report."""
        for number, row in enumerate(self.redundant):
            if (
                fnmatchcase(subject, row["subject"])
                and fnmatchcase(str(outcome.mutant), row["mutant"])
                and outcome.is_reached == row.get("reached", True)
            ):
                return number
        return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    findings, left = Findings(), 0
    with ThreadPoolExecutor(options.jobs) as pool:
        loads = [load for name, load in find_subjects().items() if options.only in name]
        subjects = list(pool.map(lambda load: load(), loads))
        work = [(subject, mutant) for subject in drop_twins(subjects) for mutant in subject.mutants]
        names = {pool.submit(subject.judge, mutant, options.seeds): subject.name for subject, mutant in work}
        for done in as_completed(names):
            name, outcome = names[done], done.result()
            if outcome.is_reported:
                continue
            is_listed = findings.find(name, outcome) is not None
            left += not is_listed
            print(f"{'  ' if is_listed else '! '}{name}: {outcome}", flush=True)
    print(f"{len(work)} mutants, {left} neither reported nor listed")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
