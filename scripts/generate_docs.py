"""Writes docs/reference from the .td files, or with --check says what is stale.

mlir-tblgen writes for a site generator; this turns its tables and headings into
plain Markdown that reads well where the repository is hosted. `ninja tile-docs`
calls it.
"""

from __future__ import annotations

import argparse
import difflib
import html
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IR = "include/Tile/IR"


@dataclass(frozen=True)
class Page:
    name: str
    title: str
    opening: str
    parts: list[tuple[str, str]]  # a generator of mlir-tblgen and its input


def pages() -> list[Page]:
    passes = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "include" / "Tile").glob("*/*Passes.td"))
    return [
        Page(
            "Ops",
            "Operations",
            "The rules that each op keeps, by label, are in [Dialect.md](../Dialect.md#rules).",
            [("-gen-op-doc", f"{IR}/TileOps.td")],
        ),
        Page(
            "Attributes",
            "Attributes and types",
            "Memory spaces, what a function says of its own check, the choices that ops name, and the one type.",
            [
                ("-gen-attrdef-doc", f"{IR}/TileAttributes.td"),
                ("-gen-enum-doc", f"{IR}/TileAttributes.td"),
                ("-gen-typedef-doc", f"{IR}/TileTypes.td"),
            ],
        ),
        Page("Passes", "Passes", "All are available in `tile-opt`.", [("-gen-pass-doc", path) for path in passes]),
    ]


def row(line: str) -> str:
    cells = [html.unescape(cell) for cell in re.findall(r"<t[hd]>(.*?)</t[hd]>", line)]
    cells = [re.sub(r"</?code>", "`", cell).replace("|", "\\|") for cell in cells]
    return "| " + " | ".join(cells) + " |"


def plain(text: str) -> str:
    """The generator's output without its site's markup."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(("<!--", "<table>", "</table>", "[TOC]")):
            continue
        if line.startswith("<tr><th>"):
            lines += [row(line), "| --- " * line.count("<th>") + "|"]
        elif line.startswith("<tr>"):
            lines.append(row(line))
        elif re.fullmatch(r"\| :?-+:? .*", line):
            lines.append("| --- " * (line.count("|") - 1) + "|")
        else:
            # "### `tile.copy` (::tile::CopyOp)": the class is for C++ readers of
            # the header, and a colon after a heading for nobody.
            line = re.sub(r"^(#+ `[^`]+`) \(::.*\)$", r"\1", line)
            line = re.sub(r"^(#+ .*):$", r"\1", line)
            lines.append(line)
    # One section for each `###`; an enumeration's attribute says no more than the
    # enumeration does.
    sections = re.split(r"^(?=### )", "\n".join(lines), flags=re.M)
    joined = "".join(section for section in sections if "| an enum of type" not in section)
    # The page's title is the only heading of the first level.
    joined = re.sub(r"^#(#+ )", r"\1", joined, flags=re.M)
    return re.sub(r"\n{3,}", "\n\n", joined).strip()


def generate(page: Page, tblgen: Path, include: Path) -> str:
    text = [
        f"# {page.title}",
        "<!-- Generated from the .td files by scripts/generate_docs.py: change those and run `ninja tile-docs`. -->",
        page.opening,
    ]
    for generator, source in page.parts:
        command = [str(tblgen), generator, f"-I{ROOT / 'include'}", f"-I{include}", str(ROOT / source)]
        text.append(plain(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    return "\n\n".join(text) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail where a page is stale")
    parser.add_argument("--llvm", type=Path, default=Path("/usr/lib/llvm-22"), help="where LLVM and MLIR are")
    options = parser.parse_args()
    stale = False
    for page in pages():
        path = ROOT / "docs" / "reference" / f"{page.name}.md"
        new = generate(page, options.llvm / "bin" / "mlir-tblgen", options.llvm / "include")
        old = path.read_text() if path.exists() else ""
        if old == new:
            continue
        stale = True
        if options.check:
            print(f"{path.relative_to(ROOT)} is stale; run `ninja -C build tile-docs`")
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), "kept", "new", n=1))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(new)
            print(f"wrote {path.relative_to(ROOT)}")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
