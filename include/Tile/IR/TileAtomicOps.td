//===- TileAtomicOps.td - Accumulation in global memory -----*- tablegen -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops by which blocks combine whole tiles in global memory. Single elements are
// combined by upstream's memref.atomic_rmw.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_TILEATOMICOPS_TD
#define TILE_IR_TILEATOMICOPS_TD

include "Tile/IR/TileAttributes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_AtomicOp<string mnemonic, string kind>
    : Tile_Op<mnemonic, [
        Tile_WholeTile, AttrSizedOperandSegments,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let arguments = (ins
    Tile_OnChipBuffer:$source,
    Variadic<Index>:$source_offsets,
    Tile_GlobalBuffer:$target,
    Variadic<Index>:$target_offsets,
    DenseI64ArrayAttr:$static_source_offsets,
    DenseI64ArrayAttr:$source_sizes,
    DenseI64ArrayAttr:$static_target_offsets,
    DenseI64ArrayAttr:$target_sizes,
    UnitAttr:$is_unsigned);
  let assemblyFormat = [{
    $source `` custom<TileOf>($source_offsets, $static_source_offsets, $source_sizes)
    `to` $target `` custom<TileOf>($target_offsets, $static_target_offsets, $target_sizes)
    (`unsigned` $is_unsigned^)? attr-dict `:` type($source) `to` type($target)
  }];
  let extraClassDeclaration = [{
    /// How an element is combined with the one in memory.
    static ReduceKind getKind() { return ReduceKind::}] # kind # [{; }
    ::mlir::MemRefType getSourceType() { return ::llvm::cast<::mlir::MemRefType>(getSource().getType()); }
    ::mlir::MemRefType getTargetType() { return ::llvm::cast<::mlir::MemRefType>(getTarget().getType()); }
    /// Offsets and extents of the tile in each buffer, as of a copy.
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedSourceOffsets();
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedTargetOffsets();
    ::mlir::FailureOr<::llvm::SmallVector<int64_t>> getSourceTile();
    ::mlir::FailureOr<::llvm::SmallVector<int64_t>> getTargetTile();
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_AtomicAddOp : Tile_AtomicOp<"atomic_add", "Sum"> {
  let summary = "add a tile to a tile in global memory, element by element at once";
  let description = [{
    Adds each element of a tile of `source` to the element of `target` in its
    place, as one indivisible step, so that blocks may add to the same elements.
    The tile is matched as in `tile.copy`; elements outside `target` are not
    touched; elements are converted to the type of `target` first (to the
    nearest, ties to even; integers as signed unless `unsigned` is given).

    The order in which blocks arrive is not determined. Integer results do not
    depend on it; sums of floats do, so they may differ in the last bits from run
    to run.

    In elementwise loops `memref.atomic_rmw` does the same for one element; the
    bounds of the buffer guard it as they guard a store.

    ```mlir
    func.func @f(%C: memref<?x?xf32>, %n: index) {
      tile.launch blocks(%b) in (%n) {
        %acc = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
        tile.atomic_add %acc to %C[0, 0] : memref<64x64xf32, #tile.fragment> to memref<?x?xf32>
      }
      return
    }
    ```
  }];
}

def Tile_AtomicMaxOp : Tile_AtomicOp<"atomic_max", "Max"> {
  let summary = "the maximum of a tile and a tile in global memory, element by element at once";
  let description = [{
    Replaces each element of the tile in `target` by the maximum of itself and
    the element of `source` in its place, as one indivisible step. NaN wins over
    every number. The tile is matched and elements are converted as in
    `tile.atomic_add`; the result does not depend on the order in which blocks
    arrive.

    ```mlir
    func.func @f(%C: memref<?xi32>, %n: index) {
      tile.launch blocks(%b) in (%n) {
        %m = tile.alloc_fragment : memref<64xi32, #tile.fragment>
        tile.atomic_max %m to %C[0] unsigned : memref<64xi32, #tile.fragment> to memref<?xi32>
      }
      return
    }
    ```
  }];
}

def Tile_AtomicMinOp : Tile_AtomicOp<"atomic_min", "Min"> {
  let summary = "the minimum of a tile and a tile in global memory, element by element at once";
  let description = [{
    Replaces each element of the tile in `target` by the minimum of itself and
    the element of `source` in its place, as one indivisible step. NaN wins over
    every number. The tile is matched and elements are converted as in
    `tile.atomic_add`; the result does not depend on the order in which blocks
    arrive.

    ```mlir
    func.func @f(%C: memref<?xi32>, %n: index) {
      tile.launch blocks(%b) in (%n) {
        %m = tile.alloc_fragment : memref<64xi32, #tile.fragment>
        tile.atomic_min %m to %C[0] unsigned : memref<64xi32, #tile.fragment> to memref<?xi32>
      }
      return
    }
    ```
  }];
}

#endif // TILE_IR_TILEATOMICOPS_TD
