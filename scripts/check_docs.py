"""Checks that documentation, code and tests speak of the same things.

`examples`: every ```mlir block of the .td descriptions and of the documentation
is a program that tile-opt accepts. `rules`: every rule that a verifier labels,
as in `// gemm-c2`, has a negative test and stands in docs/Dialect.md, and the
reverse. `links`: every relative link leads to a file, every anchor to a heading.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LABEL = re.compile(r"\b[a-z]+(?:-[a-z]+)*-c\d+\b")


def pages() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def check_examples(tile_opt: Path) -> list[str]:
    wrong = []
    sources = [*sorted((ROOT / "include").rglob("*.td")), *pages()]
    count = 0
    for source in sources:
        if source.parent.name == "reference":  # written from the .td files
            continue
        text = source.read_text()
        for block in re.finditer(r"^( *)```mlir\n(.*?)^ *```", text, re.M | re.S):
            count += 1
            line = text.count("\n", 0, block.start()) + 2
            program = textwrap.dedent(block.group(2))
            done = subprocess.run([str(tile_opt), "-o", "/dev/null"], input=program, capture_output=True, text=True)
            if done.returncode != 0:
                wrong.append(f"{source.relative_to(ROOT)}:{line}: the example is refused:\n{done.stderr}")
    if count == 0:
        wrong.append("no example was found")
    return wrong


def labels_of(paths: list[Path], line: str) -> dict[str, str]:
    """The labels in lines that match, each with the file that has it first."""
    found: dict[str, str] = {}
    for path in paths:
        for match in re.finditer(line, path.read_text(), re.M):
            for label in LABEL.findall(match.group(0)):
                found.setdefault(label, str(path.relative_to(ROOT)))
    return found


def check_rules(_: Path) -> list[str]:
    # A comment that opens with the label; prose may mention one anywhere.
    comment = r"^\s*// [a-z-]+-c\d+\b"
    enforced = labels_of(sorted((ROOT / "lib" / "Tile").rglob("*.cpp")), comment)
    tested = labels_of(sorted((ROOT / "test").rglob("invalid-*.mlir")), comment)
    written = labels_of([ROOT / "docs" / "Dialect.md"], r"^\| `[a-z-]+-c\d+` \|")
    wrong = []
    for label in sorted({**enforced, **tested, **written}):
        if label not in enforced:
            place = tested.get(label) or written[label]
            wrong.append(f"{place} speaks of {label}, which no verifier has")
        else:
            if label not in tested:
                wrong.append(f"{enforced[label]}: {label} has no negative test in test/*/invalid-*.mlir")
            if label not in written:
                wrong.append(f"{enforced[label]}: {label} is missing from the rules in docs/Dialect.md")
    return wrong


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def check_links(_: Path) -> list[str]:
    wrong = []
    for page in pages():
        text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (page.parent / name) if name else page
            if not file.exists():
                wrong.append(f"{page.relative_to(ROOT)}: {target} leads nowhere")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                wrong.append(f"{page.relative_to(ROOT)}: {name or page.name} has no heading #{anchor}")
    return wrong


CHECKS = {"examples": check_examples, "rules": check_rules, "links": check_links}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("check", choices=CHECKS)
    parser.add_argument("--tile-opt", type=Path, default=ROOT / "build" / "bin" / "tile-opt")
    options = parser.parse_args()
    wrong = CHECKS[options.check](options.tile_opt)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
