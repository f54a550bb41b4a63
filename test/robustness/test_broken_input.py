"""Any input gives a result or a diagnostic with a location, never a crash."""

from __future__ import annotations

import random

import pytest
from mutations import mutate
from tool import Tool, programs

BATCH = 100
BATCHES = 10


def report(found: list[tuple[str, str]]) -> str:
    return f"{len(found)} inputs crash; the first is\n{found[0][0]}\n{found[0][1]}" if found else ""


PIPELINES = {
    "parse": [],
    "canonicalize": ["--canonicalize", "--cse"],
    "lower": ["--tile-to-cpu"],
    "lower-to-gpu": ["--tile-to-cuda"],
}


@pytest.mark.parametrize("options", PIPELINES.values(), ids=PIPELINES)
def test_mutated_programs(tile_opt: Tool, chance: random.Random, options: list[str]) -> None:
    right, wrong = programs()
    found: list[tuple[str, str]] = []
    for _ in range(BATCHES):
        # Mostly right ones: what is wrong already stops at the first rule.
        kinds = chance.choices([right, wrong], [9, 1], k=BATCH)
        found += tile_opt.crashers(options, [mutate(chance.choice(kind), chance) for kind in kinds])
    assert not found, report(found)


def test_truncated_programs(tile_opt: Tool) -> None:
    """One program cut after every token of its first half kilobyte and every line."""
    text = max(programs()[0], key=len)
    cuts = list(range(1, 512, 3)) + [at for at, letter in enumerate(text) if letter == "\n"]
    found = tile_opt.crashers([], [text[:cut] for cut in cuts])
    assert not found, report(found)


KERNEL = """
func.func @f(%n: index, %x: memref<?xf32>) {{
  tile.launch blocks(%b) in (%n) {{
    {body}
  }}
  return
}}
"""


def deep(levels: int) -> str:
    """Loops inside loops."""
    body = "memref.store %v, %x[%b] : memref<?xf32>"
    for level in range(levels):
        body = f"tile.pipelined %k{level} = %b to %n stages(2) {{ {body} }}"
    return KERNEL.format(body=f"%v = arith.constant 0.0 : f32\n{body}")


def wide(count: int) -> str:
    """Many buffers and copies in one block."""
    lines = []
    for at in range(count):
        lines.append(f"%s{at} = tile.alloc_shared : memref<8xf32, #tile.shared>")
        lines.append(f"tile.copy %x[{at}] to %s{at} : memref<?xf32> to memref<8xf32, #tile.shared>")
    return KERNEL.format(body="\n    ".join(lines))


@pytest.mark.parametrize("text", [deep(200), wide(5000)], ids=["deep", "wide"])
def test_large_programs_are_accepted(tile_opt: Tool, text: str) -> None:
    done = tile_opt.run(["--canonicalize"], text)
    assert done.returncode == 0, done.stderr[-2000:]


NESTED = {
    "attributes": "module attributes {test.a = " + "[" * 100000 + "]" * 100000 + "} {}",
    "types": "func.func private @f(" + "tuple<" * 100000 + ">" * 100000 + ")",
    "regions": "module {" * 100000 + "}" * 100000,
    "loops": deep(5000),
    "open": "(" * 100000,
}


@pytest.mark.parametrize("text", NESTED.values(), ids=NESTED)
def test_deep_nesting_is_refused(tile_opt: Tool, text: str) -> None:
    """MLIR's own parser would run out of stack."""
    done = tile_opt.run([], text)
    assert done.returncode == 1
    assert "brackets nest too deep here" in done.stderr


HUGE = [
    "%s = tile.alloc_shared : memref<9223372036854775807x9223372036854775807xf32, #tile.shared>",
    "%s = tile.alloc_fragment : memref<4294967296x4294967296xf32, #tile.fragment>",
    "tile.parallel (%i, %j) in (9223372036854775807, 9223372036854775807) { }",
    "tile.copy %x[9223372036854775807] sizes [9223372036854775807] to %x[0] : memref<?xf32> to memref<?xf32>",
    "%s = tile.alloc_shared : memref<" + "1x" * 5000 + "f32, #tile.shared>",
    "tile.parallel (" + ", ".join(f"%i{at}" for at in range(500)) + ") in (" + ", ".join(["2"] * 500) + ") { }",
]


def test_huge_extents(tile_opt: Tool) -> None:
    texts = [KERNEL.format(body=body) for body in HUGE]
    found = tile_opt.crashers([], texts) + tile_opt.crashers(["--canonicalize"], texts)
    assert not found, report(found)


FOREIGN = [
    # Ops of other dialects in a kernel, and of this one outside any function.
    "gpu.barrier",
    "%p = llvm.mlir.zero : !llvm.ptr",
    "%t = tensor.empty() : tensor<4x4xf32>",
    "func.func @inner() { return }",
    "%m = memref.alloc() : memref<4xf32>",
    "%m = memref.alloca() : memref<4xf32, 3>",
    "nvvm.barrier0",
    "%r = scf.while (%a = %b) : (index) -> index {"
    " %c = arith.cmpi ult, %a, %n : index scf.condition(%c) %a : index } do { ^bb0(%a: index): scf.yield %a : index }",
    "omp.barrier",
    "linalg.generic",
]


def test_other_dialects(tile_opt: Tool) -> None:
    texts = [KERNEL.format(body=body) for body in FOREIGN]
    texts += [
        "tile.launch",
        "%0 = tile.alloc_shared : memref<4xf32, #tile.shared>",
        '"tile.yield"() : () -> ()',
        '"tile.launch"() ({}) : () -> ()',
        '"tile.parallel"() <{static_extents = array<i64>}> ({}) : () -> ()',
        '"tile.gemm"() : () -> ()',
        "module { tile.tunable }",
        'module attributes {tile.name = 1} { "tile.unknown"() : () -> () }',
        "#x = #tile.tolerance<norm = 1.0e400>",
        "#x = #tile.shared<>",
        "!t = !tile.buffer",
    ]
    for options in ([], ["--canonicalize"], ["--allow-unregistered-dialect", "--verify-each"]):
        found = tile_opt.crashers(options, texts)
        assert not found, report(found)
