//===- TileDialect.td - The tile dialect --------------------*- tablegen -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect itself and the base class of its ops.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_TILEDIALECT_TD
#define TILE_IR_TILEDIALECT_TD

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tile";
  let summary = "Kernels as programs over tiles of larger buffers";
  let description = [{
    A *tile program* is a host function with one or more `tile.launch`
    regions. A launch runs its region once for each block of a grid; inside,
    buffers live in shared memory, in registers ("fragments") or in memory
    private to a lane, and whole-tile operations move and combine them. How
    threads, layouts, barriers and pipelines come about is the compiler's
    affair.

    **Buffers** are memrefs. The memory space says where they live: none for
    global memory, `#tile.shared`, `#tile.fragment`, `#tile.local`. On-chip
    buffers are named by the op that allocates them or by a view of it
    (`memref.subview`, `memref.cast`, reshapes); they are never block
    arguments, loop-carried values or results of a select or a call.

    **Bounds**: outside a global buffer, reads give the pad value (zero unless
    stated) and writes are dropped. The bounds of a subview are the subview's.
    `bounds(trap)` on a launch reports such an access instead, and
    `bounds(assume)` is the programmer's promise that there is none.

    **Elementwise loops are lockstep**: see `tile.parallel`.

    **Rounding**: conversions round to nearest even. Rewrites that may change
    NaN, Inf or rounding need fast-math flags on the op or the launch.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect",
  ];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasConstantMaterializer = 1;
}

// An op on whole tiles: all threads of the block take part, so it stands outside
// elementwise loops.
def Tile_WholeTile : NativeOpTrait<"WholeTile"> {
  let cppNamespace = "::tile";
}

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

#endif // TILE_IR_TILEDIALECT_TD
