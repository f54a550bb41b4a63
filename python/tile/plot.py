"""Pictures of layouts and of pipelines."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import TileError

if TYPE_CHECKING:
    from .kernel import Kernel

_MODES = r"\(([^()]*)\):\(([^()]*)\)"
_FRAGMENT = re.compile(rf"^\s*(\S+?)\s+threads\s+(\d+)\s+{_MODES}\s+registers\s+{_MODES}\s*$")
_SHARED = re.compile(rf"^\s*{_MODES}\s*$")


@dataclass
class FragmentLayout:
    """Which register of which thread holds which element: `owners[(i, j, ...)]` are
    the (thread, register) pairs, more than one where it is replicated."""

    shape: tuple[int, ...]
    threads: int
    owners: dict[tuple[int, ...], list[tuple[int, int]]]


def parse_fragment(text: str) -> FragmentLayout:
    """A fragment's layout from its text, such as
    `16x8 threads 32 (4,8):(2@1,1@0) registers (2,2):(1@1,8@0)`; docs/Layouts.md has
    the grammar."""
    match = _FRAGMENT.match(text)
    if not match:
        raise TileError(f"{text!r} is not a fragment's layout: SHAPE threads N (..):(..) registers (..):(..)")
    shape = tuple(int(extent) for extent in match.group(1).split("x"))
    thread_places = _places(match.group(3), match.group(4), len(shape))
    register_places = _places(match.group(5), match.group(6), len(shape))
    owners: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for (thread, a), (register, b) in itertools.product(enumerate(thread_places), enumerate(register_places)):
        at = tuple(x + y for x, y in zip(a, b))
        if all(x < extent for x, extent in zip(at, shape)):
            owners.setdefault(at, []).append((thread, register))
    return FragmentLayout(shape, int(match.group(2)), owners)


def _places(extents: str, strides: str, rank: int) -> list[tuple[int, ...]]:
    """The coordinates that a number's digits contribute, the first digit fastest."""
    sizes = [int(extent) for extent in extents.split(",") if extent.strip()]
    steps = []
    for stride in (item.strip() for item in strides.split(",") if item.strip()):
        length, _, dimension = stride.partition("@")
        step = [0] * rank
        if dimension:
            step[int(dimension)] = int(length)
        elif length != "0":
            raise TileError(f"the stride {stride!r} names no dimension (as in 2@1)")
        steps.append(step)
    if len(sizes) != len(steps):
        raise TileError(f"({extents}):({strides}) has {len(sizes)} extents and {len(steps)} strides")
    places = []
    for digits in itertools.product(*(range(size) for size in reversed(sizes))):
        ordered = list(reversed(digits))
        places.append(tuple(sum(d * s[dim] for d, s in zip(ordered, steps)) for dim in range(rank)))
    return places


def layouts(kernel: Kernel) -> dict[str, list[str]]:
    """The layouts that the compiler chose for a GPU's kernel: the texts of fragments
    and of shared buffers, in the order of the program."""
    names = [name for name in kernel.stages() if name.startswith("tile-infer-layouts")]
    if not names:
        raise TileError("layouts are inferred for a GPU: compile with target='cuda'")
    text = kernel.mlir(names[-1])
    return {
        "fragment": list(dict.fromkeys(re.findall(r'#tile\.fragment<"([^"]+)">', text))),
        "shared": list(dict.fromkeys(re.findall(r"#tile\.shared<([^>]+)>", text))),
    }


def plot_layout(
    layout: str | FragmentLayout,
    name: str = "layout",
    save_directory: str | None = None,
    formats: str = "svg",
    show: bool = False,
) -> Any:
    """Draws a fragment of one or two dimensions: each element with its thread and
    register, coloured by thread. Writes `save_directory/name.FORMAT` for each of
    `formats` (comma between them); gives matplotlib's figure."""
    try:
        import matplotlib
    except ImportError:
        raise TileError("tile.plot_layout needs the package matplotlib") from None
    if not show:
        matplotlib.use("Agg")
    from matplotlib import pyplot

    parsed = parse_fragment(layout) if isinstance(layout, str) else layout
    if len(parsed.shape) > 2:
        raise TileError(f"a layout of {len(parsed.shape)} dimensions cannot be drawn on a plane")
    rows, columns = parsed.shape if len(parsed.shape) == 2 else (1, parsed.shape[0])
    figure, axes = pyplot.subplots(figsize=(max(4, columns * 0.55), max(2, rows * 0.45)))
    colours = pyplot.get_cmap("tab20")
    for row, column in itertools.product(range(rows), range(columns)):
        at = (row, column) if len(parsed.shape) == 2 else (column,)
        held = parsed.owners.get(at, [])
        colour = colours(held[0][0] % 20) if held else "white"
        axes.add_patch(pyplot.Rectangle((column, row), 1, 1, facecolor=colour, edgecolor="black", linewidth=0.4))
        label = "\n".join(f"T{thread}\nR{register}" for thread, register in held[:1])
        if len(held) > 1:
            label += f"\n+{len(held) - 1}"
        axes.text(column + 0.5, row + 0.5, label, ha="center", va="center", fontsize=5)
    axes.set_xlim(0, columns)
    axes.set_ylim(rows, 0)
    axes.set_aspect("equal")
    axes.set_xticks(range(0, columns + 1, max(1, columns // 8)))
    axes.set_yticks(range(0, rows + 1, max(1, rows // 8)))
    axes.set_title(f"{name}: {'x'.join(map(str, parsed.shape))} on {parsed.threads} threads")
    if save_directory is not None:
        from pathlib import Path

        folder = Path(save_directory)
        folder.mkdir(parents=True, exist_ok=True)
        for form in formats.split(","):
            figure.savefig(folder / f"{name}.{form.strip()}", bbox_inches="tight")
    if show:
        pyplot.show()
    pyplot.close(figure)
    return figure


@dataclass
class Pipeline:
    """A pipelined loop: its statements, which of them run ahead, and by how many
    iterations at most."""

    statements: list[str]
    ahead: list[bool]
    stages: int

    def text(self, iterations: int = 5) -> str:
        """The loop over time: a line for each statement, a column for each slot, in it
        the iteration that it works on."""
        lead = max(0, self.stages - 1)
        slots = iterations + lead
        width = max(len(statement) for statement in self.statements)
        lines = [" " * width + "  " + " ".join(f"{slot:>2}" for slot in range(slots))]
        for statement, early in zip(self.statements, self.ahead):
            start = 0 if early else lead
            cells = [f"{slot - start:>2}" if start <= slot < start + iterations else " ." for slot in range(slots)]
            lines.append(f"{statement:<{width}}  " + " ".join(cells))
        return "\n".join(lines)


def pipelines(kernel: Kernel) -> list[Pipeline]:
    """The pipelined loops of a kernel's source. Copies from global to shared memory run
    ahead of what uses them, by as many iterations as there are stages, less one."""
    found = []
    lines = kernel.source.splitlines()
    for number, line in enumerate(lines):
        head = re.match(r"(\s*)tile\.pipelined .*stages\((\d+)\)", line)
        if not head:
            continue
        statements, ahead = [], []
        for inner in lines[number + 1 :]:
            if inner.startswith(head.group(1) + "}"):
                break
            op = re.match(rf"{head.group(1)}  (tile\.\w+)(.*)", inner)
            if op:
                names = re.findall(r"%([A-Za-z_]\w*)", op.group(2).split(" : ")[0])
                names = [n for n in dict.fromkeys(names) if not re.fullmatch(r"c\d+(_\d+)?", n)]
                kinds = op.group(2).split(" : ")[-1]
                copies = (
                    op.group(1) == "tile.copy"
                    and "#tile.shared" in kinds.split(" to ")[-1]
                    and "#tile" not in kinds.split(" to ")[0]
                )
                statements.append(f"{op.group(1)[5:]} {' '.join(names[:3])}".strip())
                ahead.append(copies)
        found.append(Pipeline(statements, ahead, int(head.group(2))))
    return found


def plot_pipeline(kernel: Kernel, iterations: int = 5) -> str:
    """The pipelined loops of a kernel as text, one below the other."""
    loops: Sequence[Pipeline] = pipelines(kernel)
    if not loops:
        raise TileError(f"{kernel.name} has no T.Pipelined loop")
    return "\n\n".join(f"stages={loop.stages}\n{loop.text(iterations)}" for loop in loops)
