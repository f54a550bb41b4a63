"""Kernels of statements picked at random, most of them wrong: each becomes a program
that verifies, or an error of ours at a line of the kernel. Never another exception."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
import tile
from conftest import SEED
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from tile import _native

HEAD = """import tile.language as T

@T.prim_func
def kernel(A: T.Tensor((16, 16), "float32"), B: T.Tensor((16,), "int32"), H: T.Tensor((16, 16), "float16"), n: T.int32):
    with T.Kernel(2, threads=128) as b:
        s = T.alloc_shared((16, 16), "float32")
        f = T.alloc_fragment((16, 16), "float32")
        h = T.alloc_shared((16, 16), "float16")
        r = T.alloc_fragment((16,), "float32")
        v = T.alloc_var("int32", 0)
        x = 3
        y = A[b, 0]
"""
NAMES = ["A", "B", "H", "s", "f", "h", "r", "v", "x", "y", "b", "n", "i", "nothing", "T", "[1, 2]", "None", '"text"']
NUMBERS = ["0", "1", "-1", "15", "16", "1.5", "2**70", "1e400", "True", "10**6"]
FUNCTIONS = ["exp", "max", "min", "cast", "reduce_sum", "reduce_max", "copy", "fill", "clear", "gemm", "cumsum", "view"]
FUNCTIONS += ["reshape", "atomic_add", "if_then_else", "alloc_shared", "alloc_fragment", "alloc_var", "ws", "print"]
FUNCTIONS += [
    "sync_threads",
    "shfl_xor",
    "get_thread_binding",
    "alloc_barrier",
    "barrier_wait",
    "tma_copy",
    "transpose",
]
FUNCTIONS += [
    "reinterpret",
    "annotate_layout",
    "use_swizzle",
    "alloc_reducer",
    "device_assert",
    "infinity",
    "frobnicate",
]

atoms = st.sampled_from(NAMES + NUMBERS)
expressions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from("+ - * / // % ** << & == < and @".split()), inner),
        st.builds("{}[{}]".format, st.sampled_from(NAMES[:10]), inner),
        st.builds("{}[{}, {}]".format, st.sampled_from(NAMES[:10]), inner, inner),
        st.builds("{}[{}:{}, :]".format, st.sampled_from(NAMES[:10]), inner, inner),
        st.builds("T.{}({})".format, st.sampled_from(FUNCTIONS), inner),
        st.builds("T.{}({}, {})".format, st.sampled_from(FUNCTIONS), inner, inner),
        st.builds("T.{}({}, {}, {})".format, st.sampled_from(FUNCTIONS), inner, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("{}.astype({})".format, inner, st.sampled_from(['"float16"', '"int8"', '"no"', "T.bool", "3"])),
    ),
    max_leaves=5,
)
simple = st.one_of(
    expressions,
    st.builds(
        "{} = {}".format,
        st.sampled_from(["x", "v", "y", "s", "A[0, 0]", "B[x]", "f[i, 0]", "a.b", "x, y"]),
        expressions,
    ),
    st.builds("{} += {}".format, st.sampled_from(["x", "v", "r[0]", "s", "B[b]"]), expressions),
    st.sampled_from(
        ["pass", "break", "continue", "return", "return x", "raise ValueError('no')", "assert x == 4", "del x"]
    ),
    st.sampled_from(
        ["global x", "import os", "lambda: 0", "yield x", "async_ = await_", "x: T.int32 = 1", "[*A]", "{**B}"]
    ),
)
heads = st.one_of(
    st.builds("for i in T.Parallel({}):".format, expressions),
    st.builds("for i, j in T.Parallel({}, {}):".format, atoms, atoms),
    st.builds("for i in T.serial({}, {}):".format, expressions, atoms),
    st.builds("for i in T.Pipelined({}, num_stages={}):".format, expressions, atoms),
    st.builds(
        "for i in T.Pipelined(2, order={}, stage={}):".format, atoms, st.sampled_from(["[0]", "[0, 1]", "[-1]", "x"])
    ),
    st.builds("for i in {}:".format, expressions),
    st.builds("if {}:".format, expressions),
    st.builds("while {}:".format, expressions),
    st.builds("with T.ws({}):".format, expressions),
    st.builds("with {}:".format, expressions),
    st.just("try:"),
    st.just("def inner(q):"),
)


def indent(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


blocks = st.recursive(
    st.lists(simple, min_size=1, max_size=3),
    lambda inner: st.builds(lambda head, body, rest: [head, *indent(body), *rest], heads, inner, inner),
    max_leaves=4,
)


@seed(SEED)
@settings(max_examples=300, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(body=blocks)
def test_any_statements(tmp_path_factory: pytest.TempPathFactory, body: list[str]) -> None:
    text = HEAD + "\n".join(indent(indent(body))) + "\n"
    try:
        compile(text, "kernel", "exec")
    except (SyntaxError, ValueError):
        return  # not a program of Python
    path = Path(tmp_path_factory.mktemp("fuzz")) / "kernel.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("kernel", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        program = module.kernel.trace()
    except tile.TileError as error:
        assert re.search(rf"{re.escape(str(path))}:\d+:\d+: error: ", str(error)), f"{text}\n{error}"
        return
    try:
        _native.session().load(program.text, "kernel")
    except tile.CompileError as error:
        # The compiler's own checks speak of a line of the kernel, and never of text that
        # does not parse.
        assert re.search(rf"{re.escape(str(path))}:\d+:\d+: error: 'tile\.", str(error)), f"{text}\n{error}"
