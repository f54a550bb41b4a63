//===- Passes.td - Conversions of tile programs -------------*- tablegen -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_CONVERSION_PASSES_TD
#define TILE_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertTileToCPU : Pass<"convert-tile-to-cpu", "::mlir::ModuleOp"> {
  let summary = "lower tile programs to loops and vectors on all cores";
  let description = [{
    Turns every `tile.launch` into an OpenMP loop over the blocks, run by all
    cores, each with scratch memory of its own for the on-chip buffers, and every
    op inside into loops and vector code:

    - copies and fills clip their tile to the global buffer once and then run
      without tests;
    - a gemm becomes a register-blocked kernel over packed panels;
    - gemms, and copies of global buffers, that differ in their buffers and
      offsets alone share a function;
    - an elementwise loop is vectorised along its last dimension, lanes under a
      condition by masks, with one test in front that tells whether any access
      can leave its global buffer;
    - reductions keep one vector of partial results;
    - exp, exp2, log, tanh and their like become polynomials, vectorised too;
      their accuracy stands in docs/CPU.md.

    Expects what `tile-inline-calls`, `tile-specialize` and
    `tile-split-lockstep` leave: no calls in launches, static on-chip buffers,
    independent elementwise loops. Thread-level ops are refused.
  }];
  let options = [
    Option<"vectorBytes", "vector-bytes", "int64_t", /*default=*/"32",
           "bytes in a vector register of the target: 16, 32 or 64">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::omp::OpenMPDialect", "::mlir::scf::SCFDialect",
    "::mlir::ub::UBDialect", "::mlir::vector::VectorDialect"
  ];
  let statistics = [
    Statistic<"numLaunches", "launches", "launches lowered">,
    Statistic<"numVectorized", "vectorized", "elementwise loops vectorised">,
    Statistic<"numScalar", "scalar", "elementwise loops left scalar">,
    Statistic<"numShared", "shared", "functions that several ops share">
  ];
}

def GuardAccesses : Pass<"tile-guard-accesses", "::mlir::ModuleOp"> {
  let summary = "skip and report accesses outside buffers in host code";
  let description = [{
    In functions without a launch, which are references as a rule, runs each op
    of upstream's that names the conditions under which it is defined
    (`RuntimeVerifiableOpInterface`: loads, stores, linalg ops whose operands
    have to agree in shape) only where they hold; elsewhere reports which one
    does not, and goes on with zeros. Ops whose result zero cannot stand for,
    such as views, stay as they are.

    Launches need none of this: their accesses have bounds of their own.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::scf::SCFDialect"
  ];
  let statistics = [
    Statistic<"numGuarded", "guarded", "ops that run under a condition">
  ];
}

def ConvertLinalgToTile : Pass<"convert-linalg-to-tile", "::mlir::func::FuncOp"> {
  let summary = "turn linalg ops on buffers into tile programs";
  let description = [{
    Replaces linalg ops on memrefs by launches, so that what a front end writes
    in linalg runs as tile programs do:

    - products of matrices (`matmul`, `batch_matmul`, `contract`, generics of
      their form; any transposed operands or output, any number of batch loops,
      conversions of the operands) by `tile.gemm`, where it takes the types;
    - reductions along one or more loops by `tile.reduce`: sums, products,
      maxima, minima, and, or, xor, of whatever the op computes of its inputs;
    - `softmax` in one launch;
    - every other op of which each output has an element for each point of the
      parallel loops (elementwise ops with any broadcasts and transposes, `fill`,
      `copy`, `transpose`, `broadcast`, convolutions, reductions of other forms)
      lane by lane.

    `memref.copy` counts as `linalg.copy`. Extents may be dynamic and need not be
    multiples of a tile. The sizes of the tiles are tunables of the function,
    named after the op and the part they play: `matmul_m`, `matmul_2_k`,
    `generic_columns`. f16 and bf16 products are accumulated in f32 and rounded
    once, however K is walked; otherwise sums are taken in the type of the
    output. What does not match stays and is lowered by upstream's passes.
  }];
  let dependentDialects = [
    "::tile::TileDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
  let statistics = [
    Statistic<"numConverted", "converted", "linalg ops that became launches">,
    Statistic<"numLeft", "left", "linalg ops that stay">
  ];
}

def PromoteWorkspaces : Pass<"tile-promote-workspaces", "::mlir::func::FuncOp"> {
  let summary = "turn allocations of a function into workspaces";
  let description = [{
    Rewrites each `memref.alloc` that stands directly in a function's body and
    does not leave it to `tile.alloc_global`, which lives until the function
    ends, and drops its `memref.dealloc`. Bufferization leaves such allocations
    for intermediate results; as workspaces every target can provide them.
  }];
  let dependentDialects = ["::tile::TileDialect"];
  let statistics = [
    Statistic<"numPromoted", "promoted", "allocations turned into workspaces">
  ];
}

def ExpandCopies : Pass<"tile-expand-copies"> {
  let summary = "turn copies between strided buffers into loops";
  let description = [{
    Rewrites each `memref.copy` of which a side has a layout to `linalg.copy`,
    which becomes a loop. Upstream lowers them to a call into a runtime library;
    copies of dense buffers, which become a memcpy, stay.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def GuardDivisions : Pass<"tile-guard-divisions"> {
  let summary = "give division by zero a result";
  let description = [{
    Machines trap where an integer is divided by zero, and where the least one is
    divided by minus one. Here a quotient by zero is 0 and a remainder by zero is
    the dividend; the least integer divided by minus one wraps around to itself,
    with remainder 0. So lanes beyond the edge of a buffer, which read zeros, may
    divide by them. Divisors that are constants need no guard.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numGuarded", "guarded", "divisions guarded">
  ];
}

def WidenNarrowFloats : Pass<"tile-widen-narrow-floats"> {
  let summary = "compute bf16, and functions of f16, in f32";
  let description = [{
    Elementwise ops of `arith` on bf16 and of `math` on bf16 and f16 are computed
    in f32, and each result is rounded: a chain of them gives what a machine with
    such instructions gives. The ops that convert, and what is not elementwise,
    are left to upstream's `arith-expand` and `arith-emulate-unsupported-floats`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def LowerBF16Storage : Pass<"tile-lower-bf16-storage", "::mlir::ModuleOp"> {
  let summary = "move bf16 around as i16";
  let description = [{
    Gives what is bf16 in the llvm dialect the type i16: loads, stores, gathers,
    selects, shuffles, constants. Runs where arithmetic on bf16 has been expanded
    (`arith-expand`), so that only moves are left. LLVM's back ends for machines
    without bf16 instructions would pass moved elements through f32 and round
    them again, with a call each.

    A module in which an op still computes with bf16 is left as it is.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // TILE_CONVERSION_PASSES_TD
