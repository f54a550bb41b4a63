//===- TileKernelOps.td - Launches and parameters -----------*- tablegen -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The launch of a tile kernel, the terminator of the dialect's regions, and the
// parameters that make one program stand for a family of kernels.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_TILEKERNELOPS_TD
#define TILE_IR_TILEKERNELOPS_TD

include "Tile/IR/TileAttributes.td"
include "mlir/Dialect/Arith/IR/ArithBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_YieldOp : Tile_Op<"yield", [
    Pure, Terminator, ReturnLike,
    ParentOneOf<["LaunchOp", "ParallelOp", "PersistentOp", "PipelinedOp",
                 "RoleOp", "StepOp"]>]> {
  let summary = "end of a tile region";
  let description = [{
    Ends the region of a `tile.launch`, `tile.parallel`, `tile.persistent`,
    `tile.pipelined`, `tile.step` or `tile.role`. It has no operands, is added by the parser and is not printed.
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_LaunchOp : Tile_Op<"launch", [
    AttrSizedOperandSegments, AutomaticAllocationScope, RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"YieldOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "run a region once for each block of a grid";
  let description = [{
    Runs the region once for every point of a grid of one to three dimensions;
    the block arguments are the point's coordinates. Blocks may run in any order
    and at the same time; they meet only through global memory and atomics.
    A grid with an extent of zero or less runs nothing.

    `threads` is the number of threads that work on one tile. It is optional;
    what the hardware launches is the compiler's affair. `bounds` says what an
    access outside a global buffer does: `guard` (the default) reads the pad
    value and drops writes, `trap` reports it, `assume` promises there is none.
    `fastmath` is the default for every op of the region.
    `alignment(n)` promises that in every global buffer the region touches the
    start, the rows (all strides but the last dimension's) and the extent of the
    last dimension are multiples of `n` bytes, and the last stride is one;
    `tile-version-launches` makes such launches and tests the promise.

    Hints change no result. `raster(row, 8)` is the order in which blocks should
    start (see `#tile.raster`): the first grid dimension counts columns, the
    second rows, the third planes. `registers(168)` limits the registers of a
    thread.

    ```mlir
    func.func @double(%x: memref<?xf32>, %y: memref<?xf32>, %gx: index) {
      tile.launch blocks(%bx) in (%gx) threads(128) bounds(assume) {
        %c64 = arith.constant 64 : index
        %base = arith.muli %bx, %c64 : index
        tile.parallel (%i) in (64) {
          %at = arith.addi %base, %i : index
          %v = memref.load %x[%at] : memref<?xf32>
          %w = arith.addf %v, %v : f32
          memref.store %w, %y[%at] : memref<?xf32>
        }
      }
      return
    }
    ```
  }];
  let arguments = (ins
    Variadic<Index>:$grid,
    Optional<Index>:$threads,
    OptionalAttr<I64Attr>:$static_threads,
    OptionalAttr<Tile_RasterAttr>:$raster,
    OptionalAttr<I64Attr>:$registers,
    DefaultValuedAttr<Tile_BoundsAttr, "::tile::Bounds::Guard">:$bounds,
    DefaultValuedAttr<Arith_FastMathAttr,
      "::mlir::arith::FastMathFlags::none">:$fastmath,
    OptionalAttr<I64Attr>:$alignment);
  let regions = (region SizedRegion<1>:$body);
  let builders = [
    OpBuilder<(ins "::mlir::ValueRange":$grid,
      CArg<"std::optional<int64_t>", "std::nullopt">:$threads)>];
  let extraClassDeclaration = [{
    /// The block coordinates, one for each grid dimension.
    ::mlir::Block::BlockArgListType getBlockIds() {
      return getBody().getArguments();
    }
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_TunableOp : Tile_Op<"tunable", [
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    MemoryEffects<[]>]> {
  let summary = "an index constant to be chosen from a list";
  let description = [{
    A parameter of the function it stands in: an index whose value is one of
    `choices`, fixed before the program is compiled. `tile-specialize` replaces
    it by the value it is given, or by the default, and makes the types that
    depend on it static; a tuner searches the choices. Extents of on-chip
    buffers and elementwise loops, `threads` and `stages` may be tunables.

    ```mlir
    func.func @f() {
      %bm = tile.tunable "block_m" in [64, 128, 256] default(128)
      %st = tile.tunable "stages" in range(1, 5, 1) default(3)
      return
    }
    ```

    `range(first, last, step)` includes `last`.
  }];
  let arguments = (ins StrAttr:$name, DenseI64ArrayAttr:$choices,
                       I64Attr:$default_value);
  let results = (outs Index:$result);
  let assemblyFormat = [{
    $name `in` custom<Choices>($choices) `default` `(` $default_value `)` attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_RequireOp : Tile_Op<"require"> {
  let summary = "a constraint between tunables";
  let description = [{
    States a condition, computed from tunables by arith ops, that every choice
    of parameters must meet. `tile-specialize` evaluates it: where it holds the
    op goes away, where it does not the message is reported, and a tuner skips
    the choice.

    ```mlir
    func.func @f() {
      %bm = tile.tunable "block_m" in [32, 64] default(64)
      %bk = tile.tunable "block_k" in [32, 64] default(32)
      %ok = arith.cmpi sge, %bm, %bk : index
      tile.require %ok, "block_m must be at least block_k"
      return
    }
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
}

#endif // TILE_IR_TILEKERNELOPS_TD
