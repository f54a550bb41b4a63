#!/usr/bin/env python3
"""Faults that compute-sanitizer and the emulator both look for.

  planted.py ptx                 prints the kernels
  planted.py record > FILE       asks compute-sanitizer of each, on a GPU
  planted.py launch ENTRY        launches one through the driver, for record

Each fault has a twin without it. Kernels take one buffer of 64 words that was
never written, and run as one block of 64 threads.
"""

from __future__ import annotations

import ctypes
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

THREADS = 64


@dataclass(frozen=True)
class Fault:
    name: str
    tool: str  # of compute-sanitizer
    kind: str  # of the emulator's report
    faulty: str
    clean: str


# %r1 is the thread, %rd2 the address of its word, %r4 that of its shared word.
EXCHANGE = "xor.b32 %r5, %r1, 32; mad.lo.u32 %r6, %r5, 4, %r3; ld.shared.b32 %r7, [%r6]; st.global.b32 [%rd2], %r7;"
STORE = "st.shared.b32 [%r4], %r1; "
PAIR = "xor.b32 %r5, %r1, 1; mad.lo.u32 %r6, %r5, 4, %r3; ld.shared.b32 %r7, [%r6]; st.global.b32 [%rd2], %r7;"
FAULTS = [
    Fault("read_after_write", "racecheck", "data race", STORE + EXCHANGE, STORE + "bar.sync 0; " + EXCHANGE),
    Fault(
        "write_after_read",
        "racecheck",
        "data race",
        STORE + "bar.sync 0; " + EXCHANGE + STORE,
        STORE + "bar.sync 0; " + EXCHANGE + " bar.sync 0; " + STORE,
    ),
    Fault(
        "write_after_write",
        "racecheck",
        "data race",
        "st.shared.b32 [%r3], %r1;",
        "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.b32 [%r3], %r1;",
    ),
    Fault("lanes", "racecheck", "data race", STORE + PAIR, STORE + "bar.warp.sync -1; " + PAIR),
    Fault(
        "global_bounds",
        "memcheck",
        "out of bounds",
        "st.global.b32 [%rd2+256], %r1;",
        "st.global.b32 [%rd2], %r1;",
    ),
    Fault(
        "before_the_buffer",
        "memcheck",
        "out of bounds",
        "st.global.b32 [%rd2+-4], %r1;",
        "st.global.b32 [%rd2], %r1;",
    ),
    Fault("shared_bounds", "memcheck", "out of bounds", "st.shared.b32 [%r4+131072], %r1;", STORE),
    Fault(
        "misaligned",
        "memcheck",
        "misaligned address",
        "setp.eq.u32 %p1, %r1, 0; @%p1 st.global.b32 [%rd1+2], %r1;",
        "setp.eq.u32 %p1, %r1, 0; @%p1 st.global.b32 [%rd1+4], %r1;",
    ),
    Fault(
        "never_written",
        "initcheck",
        "read of memory never written",
        "ld.global.b32 %r7, [%rd2]; add.u32 %r7, %r7, 1; st.global.b32 [%rd2], %r7;",
        "st.global.b32 [%rd2], %r1; ld.global.b32 %r7, [%rd2]; add.u32 %r7, %r7, 1; st.global.b32 [%rd2], %r7;",
    ),
    Fault(
        "lane_outside_its_mask",
        "synccheck",
        "divergent collective",
        "bar.warp.sync 0xffff;",
        "bar.warp.sync -1;",
    ),
]


def make_ptx() -> str:
    text = ".version 7.8\n.target sm_80\n.address_size 64\n"
    for fault in FAULTS:
        for suffix, body in (("faulty", fault.faulty), ("clean", fault.clean)):
            text += (
                f"\n.visible .entry {fault.name}_{suffix}(.param .u64 out)\n{{\n"
                ".reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<3>;\n.shared .align 16 .b8 tile[256];\n"
                "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1;\nmov.u32 %r1, %tid.x;\n"
                "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd2, %rd1;\n"
                f"mov.u32 %r3, tile; mad.lo.u32 %r4, %r1, 4, %r3;\n{body}\nret;\n}}\n"
            )
    return text


def launch(entry: str) -> None:
    """A launch as any host program makes it."""
    driver = ctypes.CDLL("libcuda.so.1")

    def call(name: str, *arguments: object) -> None:
        code = getattr(driver, name)(*arguments)
        if code:
            sys.exit(f"{name}: error {code}")

    device, context, module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
    function, memory = ctypes.c_void_p(), ctypes.c_uint64()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    call("cuModuleLoadData", ctypes.byref(module), make_ptx().encode())
    call("cuModuleGetFunction", ctypes.byref(function), module, entry.encode())
    call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(4 * THREADS))
    parameters = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.pointer(memory), ctypes.c_void_p))
    call("cuLaunchKernel", function, 1, 1, 1, THREADS, 1, 1, 0, None, parameters, None)
    call("cuCtxSynchronize")


def ask_sanitizer(fault: Fault, suffix: str) -> dict[str, object]:
    """How many errors the tool counts, and the first of its words."""
    entry = f"{fault.name}_{suffix}"
    command = ["compute-sanitizer", f"--tool={fault.tool}"]
    if fault.tool == "racecheck":
        command.append("--racecheck-report=all")
    done = subprocess.run([*command, sys.executable, __file__, "launch", entry], capture_output=True, text=True)
    lines = [line.strip("= ") for line in done.stdout.splitlines() if line.startswith("=========")]
    said = [line for line in lines if line and not line.startswith(("COMPUTE-SANITIZER", "ERROR SUMMARY", "RACECHECK"))]
    count = re.search(r"(?:ERROR SUMMARY: (\d+)|RACECHECK SUMMARY: (\d+))", done.stdout)
    errors = int(next(number for number in count.groups() if number)) if count else -1
    return {"entry": entry, "tool": fault.tool, "errors": errors, "first": said[0] if said else ""}


def record() -> None:
    version = subprocess.run(["compute-sanitizer", "--version"], capture_output=True, text=True).stdout
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    gpu = subprocess.run(query, capture_output=True, text=True).stdout.strip()
    work = [(fault, suffix) for fault in FAULTS for suffix in ("faulty", "clean")]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda pair: ask_sanitizer(*pair), work))
    found = re.search(r"[Vv]ersion\s+([\d.]+)", version)
    print(json.dumps({"gpu": gpu, "sanitizer": found.group(1) if found else "", "answers": answers}, indent=1))


def main() -> None:
    verb = sys.argv[1] if len(sys.argv) > 1 else ""
    if verb == "ptx":
        print(make_ptx(), end="")
    elif verb == "launch":
        launch(sys.argv[2])
    elif verb == "record":
        record()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
