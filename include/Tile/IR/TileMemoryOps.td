//===- TileMemoryOps.td - Allocation and movement -----------*- tablegen -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that name on-chip buffers and ops that move whole tiles between buffers.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_TILEMEMORYOPS_TD
#define TILE_IR_TILEMEMORYOPS_TD

include "Tile/IR/TileAttributes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_AllocOp<string mnemonic, Type buffer>
    : Tile_Op<mnemonic, [
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let arguments = (ins Variadic<Index>:$dynamic_sizes);
  let results = (outs buffer:$buffer);
  let assemblyFormat = [{
    (`(` $dynamic_sizes^ `)`)? attr-dict `:` type($buffer)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_AllocSharedOp : Tile_AllocOp<"alloc_shared", Tile_SharedBuffer> {
  let summary = "a buffer in the block's shared memory";
  let description = [{
    Names a buffer that all threads of the block share. It lives as long as the
    iteration of the innermost enclosing loop or the block; its contents start
    undefined. Extents are static once the tunables are fixed.

    `at` is the buffer's place in the launch's shared memory, in bytes:
    `tile-plan-shared-memory` gives the same bytes to buffers that are not in
    use at the same time.

    ```mlir
    func.func @f(%n: index) {
      tile.launch blocks(%b) in (%n) {
        %tile = tile.alloc_shared : memref<128x64xf16, #tile.shared>
        %next = tile.alloc_shared at 16384 : memref<64xf32, #tile.shared>
      }
      return
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$dynamic_sizes,
    OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$place);
  let builders = [
    OpBuilder<(ins "::mlir::Type":$buffer, "::mlir::ValueRange":$sizes), [{
      build($_builder, $_state, buffer, sizes, ::mlir::IntegerAttr());
    }]>
  ];
  let assemblyFormat = [{
    (`(` $dynamic_sizes^ `)`)? (`at` $place^)? attr-dict `:` type($buffer)
  }];
}

def Tile_AllocFragmentOp : Tile_AllocOp<"alloc_fragment", Tile_FragmentBuffer> {
  let summary = "a buffer spread over the registers of the block's threads";
  let description = [{
    Names a tile held in registers. Which thread holds which element is a
    layout that the compiler infers; the program sees one buffer.

    ```mlir
    func.func @f(%n: index) {
      tile.launch blocks(%b) in (%n) {
        %acc = tile.alloc_fragment : memref<128x128xf32, #tile.fragment>
      }
      return
    }
    ```
  }];
}

def Tile_AllocLocalOp : Tile_AllocOp<"alloc_local", Tile_LocalBuffer> {
  let summary = "a buffer private to one lane";
  let description = [{
    Inside a `tile.parallel` every iteration has a buffer of its own; outside
    one there is a single buffer, as for a scalar variable of the block.

    ```mlir
    func.func @f(%n: index) {
      tile.launch blocks(%b) in (%n) {
        tile.parallel (%i) in (32) {
          %sum = tile.alloc_local : memref<1xf32, #tile.local>
        }
      }
      return
    }
    ```
  }];
}

def Tile_AllocGlobalOp : Tile_AllocOp<"alloc_global", Tile_GlobalBuffer> {
  let summary = "a workspace in global memory";
  let description = [{
    Names a buffer in global memory that the host side owns: it lives from here
    to the end of the function, its contents start undefined, and every launch
    that follows may use it, so that one can leave partial results for the next.
    It stands directly in the function's body. Sizes below zero count as zero.

    ```mlir
    func.func @f(%n: index) {
      %partial = tile.alloc_global(%n) : memref<?x64xf32>
      tile.launch blocks(%b) in (%n) {
        %s = tile.alloc_fragment : memref<64xf32, #tile.fragment>
        tile.copy %s to %partial[%b, 0] : memref<64xf32, #tile.fragment> to memref<?x64xf32>
      }
      return
    }
    ```
  }];
}

def Tile_CopyOp : Tile_Op<"copy", [
    Tile_WholeTile,
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "copy a tile between two buffers of any memory";
  let description = [{
    Copies a tile of `source` to a tile of `target`. Each side is a whole
    buffer or, with offsets in brackets, the part of a larger one that starts
    there. The tile's extents are, in this order: the `sizes` given on either
    side; the shape of a side without offsets; on a side with offsets and no
    sizes, the shape of the other side aligned to the last dimension, with ones
    in front. Extents of one are dropped before the two tiles are matched, so a
    rank-2 tile of a rank-4 tensor is
    `%q[%b, %row, %h, 0] sizes [1, 64, 1, 128]`.

    Elements outside a global source read as `pad` (zero by default), elements
    outside a global target are not written (see the launch's `bounds`). Where
    the element types differ, values are converted. Floats round to the nearest,
    ties to even; `saturate` clamps to the largest finite value where the
    target's range is smaller. Floats become integers as in C, towards zero,
    values outside the integer's range its ends and NaN zero. Integers become
    floats by the same rounding, also with `saturate` as above, and other
    integers by wrapping, or clamping with `saturate`; they are signed unless
    `unsigned` is given. An i1 is a truth value: it counts as 0 or 1, and what
    is not zero becomes 1.

    Source and target must not overlap in memory.

    Hints change no result. `cache(...)` says how long the data of the global
    side are to stay in the cache: `evict_first` for what is read once,
    `evict_last` for what others read again, `no_allocate` to leave the first
    level cache alone. `engine(...)` pins what moves the data: the threads'
    vector loads and stores, `cp_async` or `tma`; by itself the compiler chooses.

    `async` lets a copy from global to shared memory land later: at the latest
    when the thread that issued it has waited for its group
    (`nvvm.cp.async.wait.group`) and a barrier made it visible to the others.
    `tile-materialize-pipeline` writes this form.

    ```mlir
    func.func @f(%A: memref<?x?xf16>, %n: index) {
      tile.launch blocks(%b) in (%n) {
        %c128 = arith.constant 128 : index
        %row = arith.muli %b, %c128 : index
        %As = tile.alloc_shared : memref<128x64xf16, #tile.shared>
        tile.copy %A[%row, 0] to %As
          : memref<?x?xf16> to memref<128x64xf16, #tile.shared>
      }
      return
    }
    ```
  }];
  let arguments = (ins
    Tile_Buffer:$source,
    Variadic<Index>:$source_offsets,
    Tile_Buffer:$target,
    Variadic<Index>:$target_offsets,
    Optional<Tile_Element>:$pad,
    DenseI64ArrayAttr:$static_source_offsets,
    DenseI64ArrayAttr:$source_sizes,
    DenseI64ArrayAttr:$static_target_offsets,
    DenseI64ArrayAttr:$target_sizes,
    OptionalAttr<Tile_CachePolicyAttr>:$cache,
    UnitAttr:$saturate,
    UnitAttr:$is_unsigned,
    UnitAttr:$is_async,
    DefaultValuedAttr<Tile_CopyEngineAttr, "::tile::CopyEngine::Auto">:$engine);
  let assemblyFormat = [{
    $source `` custom<TileOf>($source_offsets, $static_source_offsets, $source_sizes)
    `to` $target `` custom<TileOf>($target_offsets, $static_target_offsets, $target_sizes)
    oilist(`pad` `(` $pad `:` type($pad) `)` | `saturate` $saturate | `unsigned` $is_unsigned
           | `cache` `(` custom<Choice>($cache) `)` | `engine` `(` custom<Choice>($engine) `)`
           | `async` $is_async)
    attr-dict `:` type($source) `to` type($target)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$source,
      "::llvm::ArrayRef<::mlir::OpFoldResult>":$sourceOffsets,
      "::mlir::Value":$target,
      "::llvm::ArrayRef<::mlir::OpFoldResult>":$targetOffsets,
      CArg<"::llvm::ArrayRef<int64_t>", "{}">:$sourceSizes,
      CArg<"::llvm::ArrayRef<int64_t>", "{}">:$targetSizes)>];
  let extraClassDeclaration = [{
    ::mlir::MemRefType getSourceType() { return ::llvm::cast<::mlir::MemRefType>(getSource().getType()); }
    ::mlir::MemRefType getTargetType() { return ::llvm::cast<::mlir::MemRefType>(getTarget().getType()); }
    /// Offsets of the tile in each buffer, one for each dimension; zeros where
    /// the op gives none.
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedSourceOffsets();
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedTargetOffsets();
    /// Extents of the tile in each buffer, one for each dimension of that
    /// buffer. Fails where an extent is not static (see the op's verifier).
    ::mlir::FailureOr<::llvm::SmallVector<int64_t>> getSourceTile();
    ::mlir::FailureOr<::llvm::SmallVector<int64_t>> getTargetTile();
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_FillOp : Tile_Op<"fill", [
    Tile_WholeTile,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TypesMatchWith<"type of 'value' matches the element type of 'buffer'",
                   "buffer", "value",
                   "::llvm::cast<::mlir::MemRefType>($_self).getElementType()">]> {
  let summary = "set every element of a buffer";
  let description = [{
    Writes `value` to every element of an on-chip buffer or of a view of one.

    ```mlir
    func.func @f(%n: index) {
      tile.launch blocks(%b) in (%n) {
        %zero = arith.constant 0.0 : f32
        %acc = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
        tile.fill %acc, %zero : memref<64x64xf32, #tile.fragment>
      }
      return
    }
    ```
  }];
  let arguments = (ins Tile_OnChipBuffer:$buffer, Tile_Element:$value);
  let assemblyFormat = "$buffer `,` $value attr-dict `:` type($buffer)";
  let hasFolder = 1;
}

#endif // TILE_IR_TILEMEMORYOPS_TD
