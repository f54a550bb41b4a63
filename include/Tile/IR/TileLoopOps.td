//===- TileLoopOps.td - Loops over tiles --------------------*- tablegen -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops whose iterations the compiler may overlap.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_TILELOOPOPS_TD
#define TILE_IR_TILELOOPOPS_TD

include "Tile/IR/TileAttributes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_PipelinedOp : Tile_Op<"pipelined", [
    Tile_WholeTile,
    RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"YieldOp">,
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<LoopLikeOpInterface,
      ["getLoopInductionVars", "getLoopLowerBounds", "getLoopUpperBounds",
       "getLoopSteps"]>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a serial loop whose copies and computation overlap";
  let description = [{
    Means what a serial loop means: iterations run in order, from `lower` up to
    but not including `upper`, `step` apart (1 where not given; it must be
    positive). `stages` is how many iterations of copies may be in flight; the
    compiler gives the buffers that many versions. With `stages(1)` or where
    nothing can overlap the loop runs as written.

    How iterations overlap is the compiler's choice, unless the body is divided
    into steps: see `tile.step`.

    ```mlir
    func.func @f(%A: memref<?x64xf32>, %n: index) {
      tile.launch blocks(%b) in (%n) {
        %c0 = arith.constant 0 : index
        %c8 = arith.constant 8 : index
        %c64 = arith.constant 64 : index
        %As = tile.alloc_shared : memref<64x64xf32, #tile.shared>
        %sum = tile.alloc_fragment : memref<64xf32, #tile.fragment>
        tile.pipelined %k = %c0 to %c8 stages(3) {
          %row = arith.muli %k, %c64 : index
          tile.copy %A[%row, 0] to %As : memref<?x64xf32> to memref<64x64xf32, #tile.shared>
          tile.reduce sum %As along 0 into %sum accumulate
            : memref<64x64xf32, #tile.shared> into memref<64xf32, #tile.fragment>
        }
      }
      return
    }
    ```
  }];
  let arguments = (ins Index:$lower, Index:$upper, Optional<Index>:$step,
                       Optional<Index>:$stages,
                       OptionalAttr<I64Attr>:$static_stages);
  let regions = (region SizedRegion<1>:$body);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$lower, "::mlir::Value":$upper,
      "::mlir::Value":$step, "std::optional<int64_t>":$stages,
      "::llvm::function_ref<void(::mlir::OpBuilder &, ::mlir::Location, ::mlir::Value)>":$body)>];
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getInductionVar() { return getBody().getArgument(0); }
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_StepOp : Tile_Op<"step", [
    Tile_WholeTile, RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "a part of a pipelined loop with its place in the schedule";
  let description = [{
    Divides the body of a `tile.pipelined` into parts and says when each runs: the
    step of stage s runs for iteration i in slot i + s, and in a slot the steps
    run by ascending `order` (by default the order in which they are written).
    So a step of stage 1 works on one iteration while a step of stage 0 works on
    the next. `role` says which warps run the step. The meaning of the loop does
    not change: iterations one after another, steps as written. The compiler
    writes its own schedules in this form, too.

    A schedule must keep the loop's meaning. A buffer on the chip whose first
    access in an iteration is a write is *private* to the iteration, and each
    iteration in flight has its own version of it; every other buffer is
    *carried* from one iteration to the next. Of two steps that touch the same
    buffer, one of them writing:

    - in an iteration, the one written first runs first: its stage is smaller,
      or the stages are equal and its order is smaller;
    - if the buffer is carried, the one written last runs before the one written
      first does for the next iteration: its stage is at most the other's, or one
      more and its order is smaller.

    ```mlir
    func.func @f(%A: memref<?x64xf32>, %n: index) {
      tile.launch blocks(%b) in (%n) {
        %c0 = arith.constant 0 : index
        %c8 = arith.constant 8 : index
        %c64 = arith.constant 64 : index
        %As = tile.alloc_shared : memref<64x64xf32, #tile.shared>
        %sum = tile.alloc_fragment : memref<64xf32, #tile.fragment>
        tile.pipelined %k = %c0 to %c8 stages(2) {
          %row = arith.muli %k, %c64 : index
          tile.step role(producer) {
            tile.copy %A[%row, 0] to %As : memref<?x64xf32> to memref<64x64xf32, #tile.shared>
          }
          tile.step stage(1) role(consumer) {
            tile.reduce sum %As along 0 into %sum accumulate
              : memref<64x64xf32, #tile.shared> into memref<64xf32, #tile.fragment>
          }
        }
      }
      return
    }
    ```
  }];
  let arguments = (ins
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$stage,
    OptionalAttr<I64Attr>:$order,
    OptionalAttr<Tile_RoleAttr>:$role);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`stage` `(` $stage^ `)`)? (`order` `(` $order^ `)`)?
    (`role` `(` custom<Choice>($role)^ `)`)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Tile_PersistentOp : Tile_Op<"persistent", [
    Tile_WholeTile, RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"YieldOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a loop that shares tiles among the blocks of a launch";
  let description = [{
    Runs the region for every point of a box of tiles, of one to three
    dimensions. The blocks of the launch are the workers: block number w of W,
    the first grid dimension fastest, runs the tiles numbered w, w + W, w + 2W
    and so on, one after another. So a grid as large as the machine can hold at
    once serves any number of tiles, and one tile's end may overlap the next
    one's beginning.

    `raster` says how tiles are numbered (see `#tile.raster`): the last dimension
    counts columns, the one before it rows, a third planes, one after another.
    By default tiles are numbered row by row.

    ```mlir
    func.func @f(%C: memref<?x?xf32>, %workers: index, %m: index, %n: index) {
      tile.launch blocks(%w) in (%workers) {
        %zero = arith.constant 0.0 : f32
        %c64 = arith.constant 64 : index
        %acc = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
        tile.persistent (%i, %j) in (%m, %n) raster(row, 8) {
          %row = arith.muli %i, %c64 : index
          %column = arith.muli %j, %c64 : index
          tile.fill %acc, %zero : memref<64x64xf32, #tile.fragment>
          tile.copy %acc to %C[%row, %column] : memref<64x64xf32, #tile.fragment> to memref<?x?xf32>
        }
      }
      return
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$tiles, OptionalAttr<Tile_RasterAttr>:$raster);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif // TILE_IR_TILELOOPOPS_TD
