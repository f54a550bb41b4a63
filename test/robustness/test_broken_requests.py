"""tile-run answers any file and any options with a result or a message and the exit
code 2, never with a crash."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from mutations import mutate
from tool import ROOT, Tool, programs

PROGRAM = ROOT / "examples" / "vector_add.mlir"
MUTANTS = 40


def check(tool: Tool, options: list[str], text: str = "") -> str:
    """What tile-run says on refusing a request."""
    done = tool.run(options, text)
    assert done.returncode == 2, f"{options}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    assert done.stderr.strip(), f"{options}: refused without a word"
    return done.stderr


@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 100, b"\xff\xfe\x00", b"ML\xefR", b"ML\xefR" + bytes(range(200)), b"module {" * 50000, b"// words"],
    ids=["empty", "zeros", "utf16", "magic", "bytecode", "nested", "comment"],
)
def test_files_that_are_no_programs(tile_run: Tool, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "program.mlir"
    file.write_bytes(content)
    check(tile_run, [str(file)])


def test_files_that_are_not_there(tile_run: Tool, tmp_path: Path) -> None:
    assert "absent.mlir" in check(tile_run, [str(tmp_path / "absent.mlir")])
    check(tile_run, [str(tmp_path)])


@pytest.mark.parametrize(
    "option",
    [
        "--entry=nothing",
        "--target=moon",
        "--set=block=1",
        "--set=block",
        "--arg=X=randn:axb",
        "--arg=X=randn:-1x4xf32",
        "--arg=X=randn:4x4xf33",
        "--arg=X=randn:4x4x4xf32",
        "--arg=X=randn:9000000000x9000000000xf32",
        "--arg=X=randn:900000000000x9xf32",
        "--arg=X=absent.npy",
        "--arg=NOTHING=1",
        "--arg=7=ones:4x4xf32",
        "--arg=X=randn:X[0]x4xf32",
        "--arg=X=randn:Y[0]x4xf32",
        "--reference=nothing",
        "--expect=Z=absent.npy",
        "--save=NOTHING=x.npy",
        "--arg=X=uniform(nan,1):4x4xf32",
        "--arg=X=uniform(2,1):4x4xf32",
        "--arg=X=randn(0,-1):4x4xf32",
        "--arg=Z=empty:10x10xf32",
        "--reference=",
        "--tolerance=much",
        "--tolerance=1e999",
        "--tolerance=norm=1,norm=2",
        "--emit=nothing",
        "--unknown",
    ],
)
def test_wrong_options(tile_run: Tool, option: str) -> None:
    check(tile_run, [str(PROGRAM), option])


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\x01\x00\xff\xff",
        b"\x93NUMPY\x01\x00\x46\x00{'descr': '<f4', 'fortran_order': False, 'shape': (4, 4), }          \n",
        b"\x93NUMPY\x01\x00\x50\x00{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }\n",
        b"\x93NUMPY\x01\x00\x46\x00{'descr': '|O', 'fortran_order': False, 'shape': (4, 4), }           \n",
        b"\x93NUMPY\x09\x00\x46\x00{'descr': '<f4', 'fortran_order': True, 'shape': -1, }               \n",
    ],
    ids=["empty", "magic", "length", "truncated", "huge", "objects", "version"],
)
def test_wrong_npy(tile_run: Tool, tmp_path: Path, header: bytes) -> None:
    file = tmp_path / "x.npy"
    file.write_bytes(header)
    check(tile_run, [str(PROGRAM), f"--arg=X={file}"])


def test_a_pipe_is_no_array(tile_run: Tool, tmp_path: Path) -> None:
    pipe = tmp_path / "x.npy"
    os.mkfifo(pipe)
    assert "not a regular file" in check(tile_run, [str(PROGRAM), f"--arg=X={pipe}"])


def test_a_device_is_no_program(tile_run: Tool) -> None:
    assert "device" in check(tile_run, ["/dev/zero"])


def test_saving_goes_through_links_and_into_devices(tile_run: Tool, tmp_path: Path) -> None:
    file, link = tmp_path / "z.npy", tmp_path / "link.npy"
    file.write_bytes(b"before")
    link.symlink_to(file)
    small = [str(PROGRAM), "--target=cpu", "--arg=X=ones:2x3xf32"]
    assert tile_run.run([*small, f"--save=Z={link}"], "").returncode == 0
    assert link.is_symlink()
    assert file.read_bytes().startswith(b"\x93NUMPY")
    assert "/dev/full" in check(tile_run, [*small, "--save=Z=/dev/full"])
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize("options", [[], ["--emit=llvm"]], ids=["table", "stage"])
def test_a_full_disk_is_no_wrong_result(tile_run: Tool, options: list[str]) -> None:
    done = tile_run.run_into("/dev/full", [str(PROGRAM), "--target=cpu", "--arg=X=ones:2x3xf32", *options])
    assert done.returncode == 2
    assert done.stderr == "tile-run: error: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize(
    "tool, options, code",
    [
        ("tile-opt", [str(PROGRAM)], 1),
        ("tile-opt", ["--help"], 1),
        ("tile-opt", ["--version"], 1),
        ("tile-run", ["--help"], 2),
        ("tile-layout", ["(4,8):(8,1)"], 1),
    ],
)
def test_other_tools_meet_a_full_disk(tool: str, options: list[str], code: int) -> None:
    done = Tool(tool).run_into("/dev/full", options)
    assert done.returncode == code
    assert "LLVM" not in done.stderr
    assert "the output cannot be written" in done.stderr


@pytest.mark.parametrize("count", ["", "many", "0", "-1", "2,", "99999999999"])
def test_wrong_numbers_of_threads(tile_run: Tool, monkeypatch: pytest.MonkeyPatch, count: str) -> None:
    """OpenMP's runtime would abort, or hang."""
    monkeypatch.setenv("OMP_NUM_THREADS", count)
    assert f"from 1 to 10000, got '{count}'" in check(tile_run, [str(PROGRAM)])


@pytest.mark.parametrize("stride", [0, 1, 6, -3])
def test_outputs_with_several_elements_in_one_place(tile_run: Tool, stride: int) -> None:
    program = [str(ROOT / "test/conformance/views.mlir"), "--entry=strided_arguments", "--target=cpu"]
    program += ["--arg=x=ones:4x7xf16"]
    said = check(tile_run, [*program, f"--arg=y=empty:4x7xf32:strides={stride},1:offset=9"])
    assert f"several elements in one place: extents [4, 7] with strides [{stride}, 1]" in said
    assert tile_run.run([*program, "--arg=y=empty:4x7xf32:strides=7,1"], "").returncode == 0


def test_the_version_is_that_of_this_project(tile_run: Tool) -> None:
    assert tile_run.run(["--version"], "").stdout.startswith("tile-run ")


def test_mutated_programs_compile_or_not(tile_run: Tool, tmp_path: Path, chance: random.Random) -> None:
    """Only compiled: what a mutant computes may take forever."""
    right, _ = programs()
    for _ in range(MUTANTS):
        text = mutate(chance.choice(right), chance)
        done = tile_run.run(["-", "--emit=llvm", "-o", str(tmp_path / "out.ll")], text)
        assert done.returncode in (0, 2), f"exit code {done.returncode}:\n{text}\n{done.stderr[-3000:]}"
        assert done.returncode == 0 or done.stderr.strip(), f"refused without a word:\n{text}"
