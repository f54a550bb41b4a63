"""Ways to break a program, each a function of its text and a random source.

Token by token rather than byte by byte: most such programs still parse, so that
what breaks is a verifier or a pass and not only the lexer.
"""

from __future__ import annotations

import random
import re

TOKEN = re.compile(r"\s+|//[^\n]*|\"[^\"\n]*\"|[%#@!^]?[A-Za-z_][\w.$]*|-?\d+|->|.", re.S)
NUMBER = re.compile(r"-?\d+$")
NUMBERS = [0, 1, -1, 2, 3, 7, 31, 33, 48, 1024, 4096, 2**31, 2**32, 2**62, 2**63 - 1, -(2**63)]
ELEMENTS = "f64 f32 f16 bf16 f8E4M3FN f8E5M2 i64 i32 i16 i8 i4 i1 index f128 tf32 none".split()
SPACES = ["#tile.shared", "#tile.fragment", "#tile.local", "1", '"global"', "#gpu.address_space<workgroup>"]
WORDS = "clear transpose_a transpose_b accumulate unsigned saturate pad to sizes stages step in ? x , ( ) [ ] { }"


def tokens(text: str) -> list[str]:
    return TOKEN.findall(text)


def truncate(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text))]


def flip_bytes(text: str, chance: random.Random) -> str:
    data = bytearray(text.encode())
    for _ in range(chance.randint(1, 4)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return data.decode(errors="replace")


def drop_lines(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    start = chance.randrange(len(lines))
    return "".join(lines[:start] + lines[start + chance.randint(1, 3) :])


def repeat_lines(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    start = chance.randrange(len(lines))
    end = start + chance.randint(1, 5)
    return "".join(lines[:end] + lines[start:end] + lines[end:])


def change_number(text: str, chance: random.Random) -> str:
    # Also those inside memref<64x32xf16>.
    spots = [match.span() for match in re.finditer(r"(?<![\w%#])\d+|(?<=x)\d+(?=x)", text)]
    if not spots:
        return truncate(text, chance)
    start, end = chance.choice(spots)
    return text[:start] + str(chance.choice(NUMBERS)) + text[end:]


def change_word(text: str, chance: random.Random) -> str:
    """Every occurrence of one element type, memory space or op becomes another, or
    only the first: types that agree stay in agreement or do not."""
    pools = [ELEMENTS, SPACES, sorted(set(re.findall(r"\b[a-z]+\.[a-z_]+\b", text)))]
    pool = chance.choice(pools)
    present = [word for word in pool if word in text]
    if not present:
        return truncate(text, chance)
    old, new = chance.choice(present), chance.choice(pool)
    return text.replace(old, new, -1 if chance.random() < 0.7 else 1)


def change_token(text: str, chance: random.Random) -> str:
    words = tokens(text)
    solid = [index for index, word in enumerate(words) if not word.isspace()]
    if not solid:
        return text + chance.choice(WORDS.split())
    at = chance.choice(solid)
    what = chance.randrange(4)
    if what == 0:
        del words[at]
    elif what == 1:
        words.insert(at, words[chance.choice(solid)] + " ")
    elif what == 2:
        words[at] = words[chance.choice(solid)]
    else:
        words[at] = chance.choice(WORDS.split())
    return "".join(words)


def swap_values(text: str, chance: random.Random) -> str:
    values = sorted(set(re.findall(r"%[A-Za-z_]\w*", text)))
    uses = list(re.finditer(r"%[A-Za-z_]\w*", text))
    if not uses:
        return truncate(text, chance)
    use = chance.choice(uses)
    return text[: use.start()] + chance.choice(values) + text[use.end() :]


# Gentle ones, after which many a program is still valid and reaches the passes.

FAMILIES = [
    "arith.addf arith.subf arith.mulf arith.divf arith.maximumf arith.minimumf arith.maxnumf arith.remf".split(),
    "arith.addi arith.subi arith.muli arith.divsi arith.remsi arith.floordivsi arith.ceildivsi arith.minsi".split(),
    "math.exp math.exp2 math.log math.tanh math.sqrt math.rsqrt math.absf math.sin math.erf math.floor".split(),
    "slt, sle, sgt, sge, eq, ne, ult, uge,".split(),
    "olt, ole, ogt, oge, oeq, une, ord, uno,".split(),
    "reduce sum,reduce max,reduce min,reduce product,reduce abs_max,reduce abs_sum,reduce xor".split(","),
    "along 0,along 1,along 2".split(","),
    "bounds(guard),bounds(trap),bounds(assume)".split(","),
    "stages(1),stages(2),stages(3),stages(9)".split(","),
    ["scf.for", "tile.pipelined"],
    ["tile.alloc_shared", "tile.alloc_fragment"],
]
FLAGS = [" clear", " accumulate", " transpose_a", " transpose_b", " saturate", " unsigned", " fastmath<fast>"]
EXTENTS = [0, 1, 2, 3, 5, 16, 31, 33, 65, 100, 127]


def change_word_of_a_family(text: str, chance: random.Random) -> str:
    present = [(word, family) for family in FAMILIES for word in family if word in text]
    if not present:
        return change_number(text, chance)
    old, family = chance.choice(present)
    spots = [match.start() for match in re.finditer(re.escape(old), text)]
    at = chance.choice(spots)
    return text[:at] + chance.choice(family) + text[at + len(old) :]


def rename_extent(text: str, chance: random.Random) -> str:
    """One extent becomes another in all types, boxes, tiles and index constants."""
    extents = sorted(set(re.findall(r"(?<=[<x])\d+(?=x)", text)))
    if not extents:
        return change_number(text, chance)
    old, new = chance.choice(extents), str(chance.choice(EXTENTS))
    return re.sub(rf"(?<![\w.%]){old}(?!\w)|(?<=[<x]){old}(?=x)", new, text)


def add_flag(text: str, chance: random.Random) -> str:
    spots = [match.start() for match in re.finditer(r"(?=\s+: memref)", text)]
    if not spots:
        return text
    at = chance.choice(spots)
    return text[:at] + chance.choice(FLAGS) + text[at:]


def change_index(text: str, chance: random.Random) -> str:
    """An index in brackets becomes another value, or a constant."""
    pattern = r"(?<=[\[ ])%\w+(?=[,\]])"
    spots = list(re.finditer(pattern, text))
    if not spots:
        return text
    spot = chance.choice(spots)
    others = sorted(set(re.findall(pattern, text))) + ["0", "-1", "7"]
    return text[: spot.start()] + chance.choice(others) + text[spot.end() :]


def shuffle_statements(text: str, chance: random.Random) -> str:
    """A statement without a result is dropped, repeated or moved."""
    lines = text.splitlines(keepends=True)
    effects = [
        at
        for at, line in enumerate(lines)
        if re.match(r"\s*(tile\.(copy|fill|gemm|reduce)|memref\.store)", line) and ":" in line
    ]
    if not effects:
        return text
    at, other = chance.choice(effects), chance.choice(effects)
    what = chance.randrange(3)
    if what == 0:
        del lines[at]
    elif what == 1:
        lines.insert(other, lines[at])
    else:
        lines[at], lines[other] = lines[other], lines[at]
    return "".join(lines)


ROUGH = [
    truncate,
    flip_bytes,
    drop_lines,
    repeat_lines,
    change_number,
    change_word,
    change_word,
    change_token,
    change_token,
    swap_values,
]
GENTLE = [change_word_of_a_family, rename_extent, add_flag, change_index, shuffle_statements]


def mutate(text: str, chance: random.Random) -> str:
    """One to four mutations of a program."""
    mutations = GENTLE if chance.random() < 0.6 else ROUGH
    for _ in range(chance.choice([1, 1, 2, 3, 4])):
        text = chance.choice(mutations)(text or " ", chance)
    return text
