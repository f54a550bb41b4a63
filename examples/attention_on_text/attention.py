"""Attention on real text, by the tile kernels of `flash_attention.mlir`.

Reads a document, gives each of its words a query, a key and a value in four
heads, runs attention on them with `tile-run`, checks the result against NumPy,
tells what some words attend to, and draws the attention as a picture.

    python examples/attention_on_text/attention.py [--tile-run PATH] [--out DIRECTORY]

The embedding is built from the document alone and is the same on every run:

- spelling: hashed n-grams of characters, so that `keeper` is near `keepers`;
- company: which words stand near which, by a singular value decomposition of
  their pointwise mutual information, so that `lens` is near `prisms`.

Head 0 attends by spelling, head 1 by company, head 2 by place in the text, and
head 3, for meaning, by spelling and company together.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KERNELS = ROOT / "examples" / "flash_attention.mlir"
WIDTH = 64
"""Channels of a head, as the kernel has them."""
HEADS = ("spelling", "company", "place", "meaning")

Array = np.ndarray[Any, np.dtype[Any]]


# The document --------------------------------------------------------------


@dataclass
class Document:
    words: list[str]
    """As they stand in the text."""
    paragraphs: list[int]
    """Where each paragraph begins, and at the end the number of words."""
    ids: Array
    """For each word its number in the vocabulary."""
    vocabulary: list[str]


def read(path: Path) -> Document:
    words: list[str] = []
    starts = [0]
    for paragraph in path.read_text().split("\n\n"):
        words += re.findall(r"[\w'-]+", paragraph)
        starts.append(len(words))
    vocabulary = sorted({word.lower() for word in words})
    number = {word: i for i, word in enumerate(vocabulary)}
    return Document(words, starts, np.array([number[word.lower()] for word in words]), vocabulary)


# The embedding -------------------------------------------------------------


def normalise(rows: Array) -> Array:
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)


def by_spelling(vocabulary: list[str]) -> Array:
    """Counts of hashed n-grams. The hash picks a channel and a sign, so that
    unrelated words are nearly orthogonal although channels are few."""
    rows = np.zeros((len(vocabulary), WIDTH))
    for row, word in zip(rows, vocabulary, strict=True):
        marked = f"<{word}>"
        for n in (2, 3, 4, 5):
            for i in range(len(marked) - n + 1):
                code = zlib.crc32(marked[i : i + n].encode())
                row[code % WIDTH] += 1 if code & 0x10000 else -1
    return normalise(rows)


def by_company(document: Document, reach: int = 6) -> Array:
    """Directions in which the words' neighbourhoods differ most."""
    size = len(document.vocabulary)
    counts = np.full((size, size), 1e-3)
    for distance in range(1, reach + 1):
        left, right = document.ids[:-distance], document.ids[distance:]
        np.add.at(counts, (left, right), 1 / distance)
        np.add.at(counts, (right, left), 1 / distance)
    joint = counts / counts.sum()
    alone = joint.sum(axis=1)
    # Damped for frequent words, which are everybody's neighbours.
    information = np.log(joint / np.outer(alone, alone**0.75 / (alone**0.75).sum()))
    left_vectors, values, _ = np.linalg.svd(np.maximum(information, 0))
    return normalise(left_vectors[:, :WIDTH] * np.sqrt(values[:WIDTH]))


def by_place(count: int) -> Array:
    """Waves of growing length, as in the first transformers: places near each
    other have similar phases."""
    lengths = 4.0 * 400.0 ** (np.arange(WIDTH // 2) / (WIDTH // 2 - 1))
    phases = 2 * np.pi * np.arange(count)[:, None] / lengths
    return normalise(np.concatenate([np.cos(phases), np.sin(phases)], axis=1))


def make_heads(document: Document) -> tuple[Array, Array, Array]:
    """Queries, keys and values of [1, head, word, channel]."""
    count = len(document.ids)
    spelling = by_spelling(document.vocabulary)[document.ids]
    company = by_company(document)[document.ids]
    place = by_place(count)
    # Rare words say more than frequent ones: short vectors attend to all alike.
    frequency = np.bincount(document.ids)[document.ids]
    weight = (np.log(count / frequency) / np.log(count))[:, None]
    # A fixed random projection brings two embeddings into one head and keeps
    # their angles.
    projection = np.random.default_rng(7).normal(size=(2 * WIDTH, WIDTH)) / np.sqrt(WIDTH)
    both = normalise(np.concatenate([spelling, company], axis=1) @ projection)
    embeddings = (spelling * weight, company * weight, place, both * weight)
    # Scores are q.k / 8; the factors make each softmax as sharp as it should be.
    sharpness = (8.0, 9.0, 12.0, 9.0)
    keys = np.stack([rows * np.sqrt(8 * f) for rows, f in zip(embeddings, sharpness, strict=True)])
    values = np.stack(embeddings)
    return tuple(x[None].astype(np.float32) for x in (keys, keys, values))  # type: ignore[return-value]


# The kernels ---------------------------------------------------------------


def run(tile_run: Path, entry: str, arguments: dict[str, Path], results: dict[str, Path]) -> None:
    """Runs an entry of the kernels' file on arrays from files. The tool also
    compares the result with the reference in the file."""
    command = [str(tile_run), str(KERNELS), "--entry", entry]
    for name, path in arguments.items():
        command += ["--arg", f"{name}={path}"]
    for name, path in results.items():
        command += ["--save", f"{name}={path}"]
    shown = ["tile-run", str(KERNELS.relative_to(ROOT)), *command[2:]]
    print("$ " + " ".join(word.replace(f"{ROOT}/", "") for word in shown), flush=True)
    process = subprocess.run(command, check=False)
    if process.returncode:
        sys.exit(f"{tile_run.name} ended with exit code {process.returncode}")


def attend(queries: Array, keys: Array, values: Array) -> tuple[Array, Array]:
    """The definition, in float64: output and probabilities."""
    q, k, v = (x.astype(np.float64) for x in (queries, keys, values))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    probabilities = weights / weights.sum(axis=-1, keepdims=True)
    return probabilities @ v, probabilities


def check(name: str, result: Array, expected: Array) -> None:
    error = float(np.linalg.norm(result - expected) / np.linalg.norm(expected))
    print(f"{name:13} differs from NumPy's float64 by {error:.1e} (relative, Frobenius)")
    if not error < 1e-5:
        sys.exit(f"{name} is wrong")


# What there is to see ------------------------------------------------------


def tell(document: Document, probabilities: Array) -> None:
    """For some words, which others they attend to most."""
    for head, word in ((0, "keeper"), (0, "lighthouse"), (1, "lens"), (1, "storm"), (3, "fire"), (3, "mirror")):
        at = next((i for i, other in enumerate(document.words) if other.lower() == word), None)
        if at is None:
            continue
        most: dict[str, float] = {}
        for other, p in zip(document.words, probabilities[head, at], strict=True):
            if other.lower() != word:
                most[other.lower()] = max(most.get(other.lower(), 0), float(p))
        best = sorted(most.items(), key=lambda item: -item[1])[:5]
        print(f"by {HEADS[head]:8}  {word:10} attends to {', '.join(other for other, _ in best)}")


def draw(document: Document, probabilities: Array, rows: slice, columns: slice, path: Path) -> None:
    """The words in `rows` attending to those in `columns`, and all by paragraph."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(
        1, 2, figsize=(18, 7), gridspec_kw={"width_ratios": [1.45, 1]}, layout="constrained"
    )
    queries, keys = document.words[rows], document.words[columns]
    part = probabilities[3, rows, columns]
    part = part / part.sum(axis=1, keepdims=True)
    image = left.imshow(part, cmap="magma_r", norm=matplotlib.colors.PowerNorm(0.6, 0, part.max()))
    left.set_xticks(range(len(keys)), keys, rotation=90, fontsize=10)
    left.set_yticks(range(len(queries)), queries, fontsize=10)
    left.set_xlabel("the beginning of the text")
    left.set_ylabel("its last sentence")
    left.set_title(f"What the last words attend to in the first, head “{HEADS[3]}”")
    figure.colorbar(image, ax=left, shrink=0.6, label="probability within these words")

    starts = document.paragraphs
    spans = list(zip(starts, starts[1:], strict=False))
    blocks = np.array(
        [[probabilities[1, a0:a1, b0:b1].sum() / (a1 - a0) for b0, b1 in spans] for a0, a1 in spans]
    )
    names = [" ".join(document.words[start : start + 4]) + f" …  {i + 1}" for i, (start, _) in enumerate(spans)]
    image = right.imshow(100 * blocks, cmap="magma_r", vmin=0)
    for (i, j), share in np.ndenumerate(blocks):
        color = "white" if share > 0.55 * blocks.max() else "black"
        right.text(j, i, f"{100 * share:.0f}", ha="center", va="center", fontsize=10, color=color)
    right.set_xticks(range(len(spans)), [str(i + 1) for i in range(len(spans))])
    right.set_yticks(range(len(spans)), names, fontsize=10)
    right.set_xlabel("paragraph of the keys")
    right.set_title(f"All {len(document.words)} words by paragraph, head “{HEADS[1]}”")
    figure.colorbar(image, ax=right, shrink=0.6, label="share of a word’s attention in percent")
    figure.savefig(path, dpi=110)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tile-run", type=Path, default=ROOT / "build" / "bin" / "tile-run")
    parser.add_argument("--text", type=Path, default=HERE / "lighthouses.txt")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "attention_on_text")
    options = parser.parse_args()
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)

    document = read(options.text)
    queries, keys, values = make_heads(document)
    print(
        f"{options.text.name}: {len(document.paragraphs) - 1} paragraphs, {len(document.words)} words, "
        f"{len(document.vocabulary)} different; Q, K and V are {list(queries.shape)}"
    )
    files = {name: out / f"{name}.npy" for name in ("Q", "K", "V", "O", "LSE", "P")}
    for name, array in (("Q", queries), ("K", keys), ("V", values)):
        np.save(files[name], array)

    def pick(*names: str) -> dict[str, Path]:
        return {name: files[name] for name in names}

    run(options.tile_run, "flash_attention", pick("Q", "K", "V"), pick("O", "LSE"))
    run(options.tile_run, "attention_map", pick("Q", "K", "LSE"), pick("P"))

    expected, expected_map = attend(queries, keys, values)
    check("the output", np.load(files["O"]), expected)
    probabilities = np.load(files["P"])
    check("the map", probabilities, expected_map)
    tell(document, probabilities[0])
    picture = out / "attention.png"
    count = len(document.words)
    draw(document, probabilities[0], slice(count - 30, count), slice(0, 42), picture)
    print(f"picture: {picture}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
