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
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$static_stages);
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

#endif // TILE_IR_TILELOOPOPS_TD
