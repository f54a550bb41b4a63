#!/usr/bin/env python3
"""Records what the GPU answers to one small kernel an instruction family.

  make_truth.py ptx > truth.ptx          prints the kernels
  make_truth.py run truth.ptx > truth.txt  runs them on the GPU (CUDA driver)

Every kernel has the parameters (in, out): thread t reads 16 words from
in[16 t], works on %r0..%r15, and leaves its answer in %o0.. . The records hold
the inputs by kind and the outputs by kernel; the unit test TruthTest repeats
them on the emulator. Matrix inputs are small integers in every format, so sums
are exact in any order and even floats must agree bit for bit.
"""

import ctypes
import random
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass

HEADER = ".version 8.6\n.target sm_90a\n.address_size 64\n"


@dataclass
class Kernel:
    name: str
    kind: str  # of input
    outputs: int  # words a thread
    tolerance: str  # exact, or a relative bound for f32 outputs
    body: str
    threads: int = 32
    shared: str = ""
    blocks: int = 1  # of one cluster; the first answers


def kernels() -> list[Kernel]:
    out: list[Kernel] = []

    def add(name: str, kind: str, body: str, outputs: int = 1, tolerance: str = "exact") -> None:
        out.append(Kernel(name, kind, outputs, tolerance, body))

    for op in (
        "add.s32",
        "sub.s32",
        "mul.lo.s32",
        "mul.hi.s32",
        "mul.hi.u32",
        "mul24.lo.s32",
        "mul24.hi.u32",
        "min.s32",
        "max.u32",
        "min.s16x2",
        "max.u16x2",
        "add.sat.s32",
        "and.b32",
        "xor.b32",
    ):
        add(op, "bits", f"{op} %o0, %r0, %r1;")
    for op in (
        "popc.b32",
        "clz.b32",
        "bfind.s32",
        "bfind.u32",
        "brev.b32",
        "abs.s32",
        "cnot.b32",
        "bfind.shiftamt.u32",
    ):
        add(op, "bits", f"{op} %o0, %r0;")
    for op in ("bfe.u32", "bfe.s32"):
        add(op, "bits", f"and.b32 %r1, %r1, 63; and.b32 %r2, %r2, 63; {op} %o0, %r0, %r1, %r2;")
    add("bfi.b32", "bits", "and.b32 %r2, %r2, 63; and.b32 %r3, %r3, 63; bfi.b32 %o0, %r0, %r1, %r2, %r3;")
    for mode in ("clamp", "wrap"):
        add(f"bmsk.{mode}", "bits", f"and.b32 %r0, %r0, 63; and.b32 %r1, %r1, 63; bmsk.{mode}.b32 %o0, %r0, %r1;")
        add(f"szext.{mode}.s32", "bits", f"and.b32 %r1, %r1, 63; szext.{mode}.s32 %o0, %r0, %r1;")
        for side in "lr":
            add(f"shf.{side}.{mode}", "bits", f"and.b32 %r2, %r2, 63; shf.{side}.{mode}.b32 %o0, %r0, %r1, %r2;")
    for op in ("shl.b32", "shr.u32", "shr.s32"):
        add(op, "bits", f"and.b32 %r1, %r1, 63; {op} %o0, %r0, %r1;")
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        add(f"prmt{mode}", "bits", f"prmt.b32{mode} %o0, %r0, %r1, %r2;")
    add("lop3", "bits", "lop3.b32 %o0, %r0, %r1, %r2, 0x5A;")
    add("fns", "bits", "and.b32 %r1, %r1, 31; and.b32 %r2, %r2, 7; sub.s32 %r2, %r2, 3; fns.b32 %o0, %r0, %r1, %r2;")
    add("sad", "bits", "sad.s32 %o0, %r0, %r1, %r2;")
    for a in "us":
        for b in "us":
            add(f"dp4a.{a}{b}", "bits", f"dp4a.{a}32.{b}32 %o0, %r0, %r1, %r2;")
            add(f"dp2a.hi.{a}{b}", "bits", f"dp2a.hi.{a}32.{b}32 %o0, %r0, %r1, %r2;")

    for op in ("add", "sub", "mul"):
        for mode in ("rn", "rz", "rm", "rp", "rn.ftz", "rn.sat"):
            add(f"{op}.{mode}.f32", "f32", f"{op}.{mode}.f32 %o0, %r0, %r1;")
    for mode in ("rn", "rz", "rm", "rp", "rn.ftz", "rn.sat"):
        add(f"fma.{mode}.f32", "f32", f"fma.{mode}.f32 %o0, %r0, %r1, %r2;")
    for mode in ("rn", "rz", "rm", "rp"):
        add(f"div.{mode}.f32", "f32", f"div.{mode}.f32 %o0, %r0, %r1;")
        add(f"rcp.{mode}.f32", "f32", f"rcp.{mode}.f32 %o0, %r0;")
        add(f"sqrt.{mode}.f32", "f32", f"sqrt.{mode}.f32 %o0, %r0;")
    for op in ("min", "max", "min.NaN", "max.NaN", "max.ftz", "min.xorsign.abs", "max.NaN.xorsign.abs"):
        add(f"{op}.f32", "f32", f"{op}.f32 %o0, %r0, %r1;")
    for op in (
        "ex2.approx.ftz",
        "lg2.approx.ftz",
        "rcp.approx.ftz",
        "rsqrt.approx.ftz",
        "sqrt.approx.ftz",
        "tanh.approx",
        "sin.approx.ftz",
        "cos.approx.ftz",
    ):
        bound = {"tanh.approx": "5e-4", "sin.approx.ftz": "2e-6", "cos.approx.ftz": "2e-6"}.get(op, "5e-7")
        kind = "positive" if op.startswith(("lg2", "rsqrt", "sqrt")) else "moderate"
        add(f"{op}.f32", kind, f"{op}.f32 %o0, %r0;", tolerance=bound)
    for op in ("add", "sub", "mul", "min", "max", "min.NaN", "max.NaN"):
        for ty in ("f16x2", "bf16x2"):
            add(f"{op}.{ty}", ty, f"{op}.{ty} %o0, %r0, %r1;")
    for ty in ("f16x2", "bf16x2"):
        add(f"fma.rn.{ty}", ty, f"fma.rn.{ty} %o0, %r0, %r1, %r2;")
        add(f"fma.rn.relu.{ty}", ty, f"fma.rn.relu.{ty} %o0, %r0, %r1, %r2;")
        add(f"neg.{ty}", ty, f"neg.{ty} %o0, %r0;")
    add("fma.rn.sat.f16x2", "f16x2", "fma.rn.sat.f16x2 %o0, %r0, %r1, %r2;")
    for op in ("add", "mul", "div"):
        for mode in ("rn", "rz", "rp"):
            add(
                f"{op}.{mode}.f64",
                "f32",
                "cvt.f64.f32 %d0, %r0; cvt.f64.f32 %d1, %r1; "
                f"{op}.{mode}.f64 %d0, %d0, %d1; mov.b64 {{%o0, %o1}}, %d0;",
                2,
            )
    for to, ty in (("rni.s32", "f32"), ("rzi.u32", "f32"), ("rmi.s32", "f32"), ("rpi.s32", "f32"), ("rni.f32", "f32")):
        add(f"cvt.{to}.{ty}", "f32", f"cvt.{to}.{ty} %o0, %r0;")
    for mode in ("rn", "rz", "rm", "rp"):
        add(f"cvt.{mode}.f32.s32", "bits", f"cvt.{mode}.f32.s32 %o0, %r0;")
        add(f"cvt.{mode}.f32.u64", "bits", f"mov.b64 %d0, {{%r0, %r1}}; cvt.{mode}.f32.u64 %o0, %d0;")
    for mode in ("rn", "rz", "rn.relu"):
        for ty in ("f16", "bf16"):
            add(f"cvt.{mode}.{ty}x2.f32", "f32", f"cvt.{mode}.{ty}x2.f32 %o0, %r0, %r1;")
    for fmt in ("e4m3", "e5m2"):
        for relu in ("", ".relu"):
            add(
                f"cvt.{fmt}{relu}.f32",
                "moderate",
                f"cvt.rn.satfinite{relu}.{fmt}x2.f32 %h0, %r0, %r1; cvt.u32.u16 %o0, %h0;",
            )
        add(f"cvt.{fmt}.f16x2", "f16x2", f"cvt.rn.satfinite.{fmt}x2.f16x2 %h0, %r0; cvt.u32.u16 %o0, %h0;")
        add(f"cvt.f16x2.{fmt}", "bits", f"cvt.u16.u32 %h0, %r0; cvt.rn.f16x2.{fmt}x2 %o0, %h0;")
    add("cvt.rna.tf32", "f32", "cvt.rna.tf32.f32 %o0, %r0;")
    add("cvt.pack", "bits", "shr.s32 %r0, %r0, 16; shr.s32 %r1, %r1, 24; cvt.pack.sat.s8.s32.b32 %o0, %r0, %r1, %r2;")
    for mode in ("up", "down", "bfly", "idx"):
        add(
            f"shfl.{mode}",
            "bits",
            "and.b32 %r1, %r1, 31; "
            f"shfl.sync.{mode}.b32 %o0|%p0, %r0, 5, {'0x1800' if mode == 'up' else '0x181f'}, -1; "
            f"selp.u32 %o1, 1, 0, %p0;",
            2,
        )
    for op in ("add.u32", "min.s32", "max.u32", "and.b32", "xor.b32"):
        add(f"redux.{op}", "bits", f"redux.sync.{op} %o0, %r0, -1;")
    add("match.any", "bits", "and.b32 %r0, %r0, 3; match.any.sync.b32 %o0, %r0, -1;")
    add("movmatrix", "bits", "movmatrix.sync.aligned.m8n8.trans.b16 %o0, %r0;")

    # Matrices: registers of A, B, C follow one another in the input.
    def mma(m: int, k: int, d: str, a: str, b: str, kind: str, extra: str = "") -> None:
        bits = {"f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "e4m3": 8, "e5m2": 8, "b1": 1}[a]
        na, nb = m * k * bits // 1024, 8 * k * bits // 1024
        nc = m * 8 // 32 if d != "f16" else m * 8 // 64
        names = [f"%r{i}" for i in range(16)]
        ops = [
            "{" + ", ".join(x) + "}"
            for x in ([f"%o{i}" for i in range(nc)], names[:na], names[na : na + nb], [f"%c{i}" for i in range(nc)])
        ]
        init = " ".join(
            f"mov.b32 %c{i}, {'0f40400000' if d == 'f32' else '0x42004200' if d == 'f16' else str(i + 1)};"
            for i in range(nc)
        )
        name = f"m{m}n8k{k}.row.col.{d}.{a}.{b}.{d}{extra}"
        add("mma." + name, kind, f"{init} mma.sync.aligned.{name} {', '.join(ops)};", nc)

    for ty in ("f16", "bf16"):
        for k in (8, 16):
            mma(16, k, "f32", ty, ty, f"int_{ty}")
    mma(16, 16, "f16", "f16", "f16", "int_f16")
    for k in (4, 8):
        mma(16, k, "f32", "tf32", "tf32", "int_f32")
    for a, b in (("s8", "s8"), ("u8", "s8"), ("u8", "u8")):
        for m, k in ((8, 16), (16, 16), (16, 32)):
            mma(m, k, "s32", a, b, "bits")
    for a, b in (("s4", "s4"), ("u4", "s4")):
        for m, k in ((8, 32), (16, 32), (16, 64)):
            mma(m, k, "s32", a, b, "bits")
    for op in ("xor", "and"):
        for m, k in ((8, 128), (16, 128), (16, 256)):
            mma(m, k, "s32", "b1", "b1", "bits", f".{op}.popc")
    for a, b in (("e4m3", "e4m3"), ("e5m2", "e4m3")):
        mma(16, 32, "f32", a, b, "int_" + a if a == b else "int_mixed")
    add(
        "mma.m8n8k4.f64",
        "int_f32",
        "cvt.f64.f32 %d0, %r0; cvt.f64.f32 %d1, %r1; mov.f64 %d2, 0d3FF0000000000000; "
        "mov.f64 %d3, 0d4000000000000000; "
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d4, %d5}, {%d0}, {%d1}, {%d2, %d3}; "
        "mov.b64 {%o0, %o1}, %d4; mov.b64 {%o2, %o3}, %d5;",
        4,
    )

    # wgmma: shared memory is filled with the input, its layout is the descriptor's affair.
    def wgmma(
        n: int,
        a: str,
        kind: str,
        swizzle: int,
        trans_a: int = 0,
        trans_b: int = 0,
        lbo: int = 0,
        sbo: int = 0,
        d: str = "f32",
        reg_a: bool = False,
        scale: str = "1, 1",
    ) -> None:
        k = {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32, "s8": 32, "u8": 32}[a]
        nd = n // 2
        body = (
            "mov.u32 %r15, %tid.x; mul.lo.u32 %c0, %r15, 16; mov.u32 %c1, tile; add.u32 %c1, %c1, %c0;\n"
            "mov.u32 %c2, 0;\nFILL: st.shared.v4.b32 [%c1], {%r0, %r1, %r2, %r3}; "
            "st.shared.v4.b32 [%c1+2048], {%r4, %r5, %r6, %r7};\n"
            "st.shared.v4.b32 [%c1+4096], {%r8, %r9, %r10, %r11}; "
            "st.shared.v4.b32 [%c1+6144], {%r12, %r13, %r14, %r0};\n"
            "add.u32 %c1, %c1, 8192; add.u32 %c2, %c2, 1; setp.lt.u32 %p0, %c2, 4; @%p0 bra FILL;\n"
            "fence.proxy.async; bar.sync 0;\n"
            "mov.u32 %c0, tile; and.b32 %c0, %c0, 0x3ffff; shr.u32 %c0, %c0, 4; cvt.u64.u32 %d0, %c0;\n"
            f"or.b64 %d0, %d0, {(swizzle << 62) | ((lbo >> 4) << 16) | ((sbo >> 4) << 32)};\n"
            "add.u64 %d1, %d0, 1024;\n"  # B starts 16 KB behind A
            + "".join(f"mov.b32 %w{i}, {'0f40000000' if d == 'f32' else '2'};" for i in range(nd))
            + "\nwgmma.fence.sync.aligned;\n"
        )
        tail = "" if a in ("s8", "u8") else f", {scale}"
        if a in ("f16", "bf16"):
            tail += f", {trans_b}" if reg_a else f", {trans_a}, {trans_b}"
        first = "{%r0, %r1, %r2, %r3}" if reg_a else "%d0"
        body += (
            f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.{d}.{a}.{a} {{"
            + ", ".join(f"%w{i}" for i in range(nd))
            + f"}}, {first}, %d1, 1{tail};\nwgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
            + "".join(f"mov.b32 %o{i}, %w{i};" for i in range(nd))
        )
        name = (
            f"wgmma.n{n}.{a}.s{swizzle}.t{trans_a}{trans_b}"
            + (".reg" if reg_a else "")
            + ("" if scale == "1, 1" else ".neg")
        )
        out.append(Kernel(name, kind, nd, "exact", body, 128, ".shared .align 1024 .b8 tile[32768];"))

    for swizzle, sbo, lbo in ((0, 256, 128), (3, 256, 0), (2, 512, 0), (1, 1024, 0)):
        wgmma(16, "f16", "int_f16", swizzle, lbo=lbo, sbo=sbo)
        wgmma(8, "s8", "bits", swizzle, lbo=lbo, sbo=sbo, d="s32")
    wgmma(24, "bf16", "int_bf16", 1, sbo=1024)
    wgmma(16, "tf32", "int_f32", 1, sbo=1024)
    wgmma(16, "e4m3", "int_e4m3", 1, sbo=1024)
    wgmma(16, "e5m2", "int_e5m2", 2, sbo=512)
    wgmma(8, "u8", "bits", 1, sbo=1024, d="s32")
    for swizzle, lbo, sbo in ((1, 2048, 1024), (2, 1024, 512), (3, 512, 256), (0, 2048, 256)):
        wgmma(16, "f16", "int_f16", swizzle, 1, 1, lbo=lbo, sbo=sbo)
    wgmma(128, "f16", "int_f16", 1, 0, 1, lbo=4096, sbo=1024)
    wgmma(16, "f16", "int_f16", 1, sbo=1024, reg_a=True)
    wgmma(16, "f16", "int_f16", 1, sbo=1024, scale="-1, 1")

    # Of 128 bits, in the thread's own 16 bytes of the output; even threads compare with what is there.
    start = (
        ".reg .b128 %q<4>; st.global.v4.b32 [%a1], {%r0, %r1, %r2, %r3}; and.b32 %c1, %c0, 1;\n"
        "setp.eq.u32 %p0, %c1, 0; selp.b32 %c2, %r0, %r4, %p0;\n"
        "mov.b64 %d0, {%c2, %r1}; mov.b64 %d1, {%r2, %r3}; mov.b128 %q0, {%d0, %d1};\n"
        "mov.b64 %d2, {%r5, %r6}; mov.b64 %d3, {%r7, %r8}; mov.b128 %q1, {%d2, %d3};\n"
    )
    end = (
        "mov.b128 {%d4, %d5}, %q2; mov.b64 {%w0, %w1}, %d4; mov.b64 {%w2, %w3}, %d5;\n"
        "ld.global.v4.b32 {%w4, %w5, %w6, %w7}, [%a1];\n"
        + "".join(f"mad.lo.u32 %o{i}, %w{i + 4}, 7, %w{i};" for i in range(4))
    )
    add("atom.cas.b128", "bits", start + "atom.global.cas.b128 %q2, [%a1], %q0, %q1;\n" + end, 4)
    add("atom.exch.b128", "bits", start + "atom.global.exch.b128 %q2, [%a1], %q1;\n" + end, 4)

    # Eight threads of each of two blocks reduce into each of four places of the first.
    def remote(name: str, width: int, instruction: str) -> None:
        senders = 32 if name.startswith("st") else 64
        body = (
            "mov.u32 %c1, place; mov.u32 %c2, bar; mov.u32 %c6, %cluster_ctarank; setp.eq.u32 %p3, %c6, 0;\n"
            "setp.eq.u32 %p0, %c0, 0; setp.lt.u32 %p1, %c0, 4; mov.u32 %c5, 5;\n"
            "@%p0 mbarrier.init.shared.b64 [%c2], 1; fence.mbarrier_init.release.cluster;\n"
            "and.b32 %c3, %c0, 3; mad.lo.u32 %c3, %c3, 8, %c1; mad.lo.u32 %c4, %c0, 16, %c1; add.u32 %c4, %c4, 32;\n"
            "mov.b64 %d0, {%r0, %r1}; mov.b64 %d1, {%r2, %r3}; @%p1 st.shared.b64 [%c3], %d1;\n"
            f"@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%c2], {senders * width};\n"
            "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
            "mapa.shared::cluster.u32 %w0, %c3, 0; mapa.shared::cluster.u32 %w1, %c4, 0;\n"
            "mapa.shared::cluster.u32 %w2, %c2, 0;\n"
            f"{instruction};\n"
            "@!%p3 bra E;\n"
            "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%c2], 0; @!%p2 bra W;\n"
        )
        if name.startswith("st"):
            body += "ld.shared.v4.b32 {%o0, %o1, %o2, %o3}, [%c4];\n"
        else:
            body += "ld.shared.v2.b32 {%o0, %o1}, [%c3]; mov.u32 %o2, 0; mov.u32 %o3, 0;\n"
        body += "E: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n@!%p3 bra D;"
        shared = ".shared .align 16 .b8 place[544]; .shared .align 8 .b64 bar;"
        out.append(Kernel(name, "bits", 4, "exact", body, 32, shared, 2))

    tail = "shared::cluster.mbarrier::complete_tx::bytes"
    values = {"u64": "%d0", "b32": "%r0", "u32": "%r0", "s32": "%r0"}
    for op in (
        "add.u32",
        "add.s32",
        "add.u64",
        "min.u32",
        "min.s32",
        "max.u32",
        "max.s32",
        "and.b32",
        "or.b32",
        "xor.b32",
    ):
        width = 8 if op.endswith("64") else 4
        remote(
            f"red.async.{op}",
            width,
            f"red.async.relaxed.cluster.{tail}.{op} [%w0], {values[op.split('.')[1]]}, [%w2]",
        )
    for op in ("inc", "dec"):
        remote(f"red.async.{op}.u32", 4, f"red.async.relaxed.cluster.{tail}.{op}.u32 [%w0], %c5, [%w2]")
    remote("st.async.v4.b32", 16, f"@!%p3 st.async.weak.{tail}.v4.b32 [%w1], {{%r4, %r5, %r6, %r7}}, [%w2]")
    return out


def ptx() -> str:
    text = HEADER
    for index, k in enumerate(kernels()):
        text += (
            f"// {k.name} {k.kind} {k.outputs} {k.tolerance} {k.threads}\n"
            f".visible .entry k{index}(.param .u64 input, .param .u64 output)\n"
            f".reqntid {k.threads}\n"
            + (f".reqnctapercluster {k.blocks}\n" if k.blocks > 1 else ".minnctapersm 1\n")
            + "{\n"
            f".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<16>, %o<{max(k.outputs, 1)}>, %c<8>, %w<64>;\n"
            f".reg .b64 %d<8>, %a<8>; {k.shared}\n"
            "ld.param.u64 %a0, [input]; ld.param.u64 %a1, [output]; mov.u32 %c0, %tid.x;\n"
            f"mul.wide.u32 %a2, %c0, 64; add.s64 %a0, %a0, %a2; mul.wide.u32 %a2, %c0, {4 * k.outputs}; "
            "add.s64 %a1, %a1, %a2;\n"
        )
        for i in range(0, 16, 4):
            text += f"ld.global.v4.b32 {{%r{i}, %r{i + 1}, %r{i + 2}, %r{i + 3}}}, [%a0+{4 * i}];\n"
        text += (
            k.body
            + "\n"
            + "".join(f"st.global.b32 [%a1+{4 * i}], %o{i};\n" for i in range(k.outputs))
            + ("D: " if k.blocks > 1 else "")
            + "ret;\n}\n"
        )
    return text


def inputs() -> dict[str, list[int]]:
    rng = random.Random(5)

    def f32(x: float) -> int:
        return struct.unpack("<I", struct.pack("<f", x))[0]

    def f16(x: float) -> int:
        return struct.unpack("<H", struct.pack("<e", x))[0]

    special = [
        0,
        0x80000000,
        0x7F800000,
        0xFF800000,
        0x7FC00000,
        1,
        0x80000001,
        0x007FFFFF,
        0x7F7FFFFF,
        0x3F800000,
        0x33800000,
    ]
    special16 = [0, 0x8000, 0x7C00, 0xFC00, 0x7E00, 1, 0x03FF, 0x7BFF, 0x3C00]
    small = [0, 1, 2, 3, -1, -2, -3, 4]
    fp8 = {
        "int_e4m3": {0: 0, 1: 0x38, 2: 0x40, 3: 0x44, -1: 0xB8, -2: 0xC0, -3: 0xC4, 4: 0x48},
        "int_e5m2": {0: 0, 1: 0x3C, 2: 0x40, 3: 0x42, -1: 0xBC, -2: 0xC0, -3: 0xC2, 4: 0x44},
    }
    n = 128 * 16

    def pairs(one: Callable[[], int]) -> list[int]:
        return [one() | one() << 16 for _ in range(n)]

    def bytes4(table: dict[int, int]) -> list[int]:
        return [sum(table[rng.choice(small)] << 8 * i for i in range(4)) for _ in range(n)]

    sets = {
        "bits": [rng.getrandbits(32) for _ in range(n)],
        "f32": [
            rng.choice(special) if rng.random() < 0.2 else f32(rng.gauss(0, 1) * 2.0 ** rng.randint(-12, 12))
            for _ in range(n)
        ],
        "moderate": [f32(rng.uniform(-4, 4)) for _ in range(n)],
        "positive": [f32(rng.uniform(0.01, 100)) for _ in range(n)],
        "f16x2": pairs(
            lambda: rng.choice(special16) if rng.random() < 0.2 else f16(rng.gauss(0, 1) * 2.0 ** rng.randint(-6, 6))
        ),
        "bf16x2": pairs(lambda: f32(rng.gauss(0, 1) * 2.0 ** rng.randint(-6, 6)) >> 16),
        "int_f16": pairs(lambda: f16(rng.choice(small))),
        "int_bf16": pairs(lambda: f32(rng.choice(small)) >> 16),
        "int_f32": [f32(rng.choice(small)) for _ in range(n)],
        "int_e4m3": bytes4(fp8["int_e4m3"]),
        "int_e5m2": bytes4(fp8["int_e5m2"]),
    }
    # A in e5m2 (the first four registers), B in e4m3.
    sets["int_mixed"] = [sets["int_e5m2"][i] if i % 16 < 4 else sets["int_e4m3"][i] for i in range(n)]
    return sets


def run(path: str) -> None:
    cuda = ctypes.CDLL("libcuda.so.1")

    def check(result: int, what: str) -> None:
        if result:
            raise RuntimeError(f"{what}: CUDA error {result}")

    check(cuda.cuInit(0), "init")
    context = ctypes.c_void_p()
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), "context")
    check(cuda.cuCtxSetCurrent(context), "context")
    module = ctypes.c_void_p()
    check(cuda.cuModuleLoadData(ctypes.byref(module), open(path, "rb").read() + b"\0"), "load")
    source, target = ctypes.c_uint64(), ctypes.c_uint64()
    check(cuda.cuMemAlloc_v2(ctypes.byref(source), 128 * 64), "alloc")
    check(cuda.cuMemAlloc_v2(ctypes.byref(target), 128 * 64 * 4), "alloc")
    sets = inputs()
    for kind, words in sets.items():
        print("input", kind, *(f"{w:x}" for w in words))
    for index, k in enumerate(kernels()):
        data = (ctypes.c_uint32 * len(sets[k.kind]))(*sets[k.kind])
        check(cuda.cuMemcpyHtoD_v2(source, data, ctypes.sizeof(data)), "copy")
        function = ctypes.c_void_p()
        check(cuda.cuModuleGetFunction(ctypes.byref(function), module, f"k{index}".encode()), "function")
        arguments = (ctypes.c_void_p * 2)(ctypes.addressof(source), ctypes.addressof(target))
        check(
            cuda.cuLaunchKernel(function, k.blocks, 1, 1, k.threads, 1, 1, 0, None, arguments, None), "launch " + k.name
        )
        check(cuda.cuCtxSynchronize(), "run " + k.name)
        answer = (ctypes.c_uint32 * (k.threads * k.outputs))()
        check(cuda.cuMemcpyDtoH_v2(answer, target, ctypes.sizeof(answer)), "copy")
        threads = str(k.threads) + (f"x{k.blocks}" if k.blocks > 1 else "")
        print("kernel", k.name, k.kind, k.tolerance, threads, k.outputs, *(f"{w:x}" for w in answer), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "ptx":
        print(ptx(), end="")
    else:
        run(sys.argv[2])
