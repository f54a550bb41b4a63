//===- TileComputeOps.td - Products, reductions, loops over elements *- tablegen -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that compute on whole tiles.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_TILECOMPUTEOPS_TD
#define TILE_IR_TILECOMPUTEOPS_TD

include "Tile/IR/TileAttributes.td"
include "mlir/Dialect/Arith/IR/ArithBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// A product of two tiles, waited for or not.
class Tile_GemmLikeOp<string mnemonic> : Tile_Op<mnemonic, [
    Tile_WholeTile,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let arguments = (ins
    Tile_OnChipBuffer:$a, Tile_OnChipBuffer:$b, Tile_FragmentBuffer:$c,
    UnitAttr:$transpose_a, UnitAttr:$transpose_b,
    UnitAttr:$clear,
    OptionalAttr<Tile_GemmPolicyAttr>:$policy,
    DefaultValuedAttr<Tile_PrecisionAttr, "::tile::Precision::IEEE">:$precision,
    UnitAttr:$unsigned_a, UnitAttr:$unsigned_b);
  let assemblyFormat = [{
    $a `,` $b `,` $c
    (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)?
    (`unsigned_a` $unsigned_a^)? (`unsigned_b` $unsigned_b^)?
    (`clear` $clear^)? (`policy` `(` custom<Choice>($policy)^ `)`)?
    (`precision` `(` custom<Choice>($precision)^ `)`)?
    attr-dict `:` type($a) `,` type($b) `,` type($c)
  }];
  let extraClassDeclaration = [{
    ::mlir::MemRefType getAType() { return ::llvm::cast<::mlir::MemRefType>(getA().getType()); }
    ::mlir::MemRefType getBType() { return ::llvm::cast<::mlir::MemRefType>(getB().getType()); }
    ::mlir::MemRefType getCType() { return ::llvm::cast<::mlir::MemRefType>(getC().getType()); }
    /// The extents M, N and K; `ShapedType::kDynamic` where a type leaves one open.
    int64_t getM() { return getCType().getDimSize(0); }
    int64_t getN() { return getCType().getDimSize(1); }
    int64_t getK() { return getAType().getDimSize(getTransposeA() ? 0 : 1); }
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tile_GemmOp : Tile_GemmLikeOp<"gemm"> {
  let summary = "multiply two tiles and accumulate";
  let description = [{
    `C += A * B` on tiles, where `A` is M x K (K x M with `transpose_a`), `B` is
    K x N (N x K with `transpose_b`) and `C`, a fragment, is M x N. `clear`
    starts from zero instead of C's contents. Products and sums are computed in
    the element type of C, whatever order the sum over K takes.

    | A and B | C |
    | --- | --- |
    | f16 x f16, bf16 x bf16 | f32; f16 x f16 also f16 |
    | f8E4M3FN, f8E5M2, in any mix | f32, f16 |
    | f32 x f32 (`precision(tf32)` rounds them to tf32 first) | f32 |
    | f64 x f64 | f64 |
    | i8 x i8 (`unsigned_a`, `unsigned_b`) | i32 |

    `policy` says how warps divide C; without it the compiler decides.

    ```mlir
    func.func @f(%n: index) {
      tile.launch blocks(%b) in (%n) {
        %A = tile.alloc_shared : memref<64x32xf16, #tile.shared>
        %B = tile.alloc_shared : memref<128x32xf16, #tile.shared>
        %C = tile.alloc_fragment : memref<64x128xf32, #tile.fragment>
        tile.gemm %A, %B, %C transpose_b clear policy(full_row)
          : memref<64x32xf16, #tile.shared>, memref<128x32xf16, #tile.shared>,
            memref<64x128xf32, #tile.fragment>
      }
      return
    }
    ```
  }];
}

def Tile_ReduceOp : Tile_Op<"reduce", [
    Tile_WholeTile,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "reduce a tile along one dimension";
  let description = [{
    Combines the elements of `source` along dimension `along` into `target`,
    whose shape is that of `source` without the dimension or with an extent of
    one there. With `accumulate` the result is combined with what `target`
    held; otherwise target is overwritten.

    f16, bf16 and fp8 elements are combined in f32 and rounded once. `max` and
    `min` give NaN where an element is NaN (unless `fastmath` has `nnan`); of a
    zero and a negative zero they give either. Integers are signed unless
    `unsigned` is given, but for the results of `abs_max`, which are magnitudes:
    that of the least integer is the greatest. An i1 is 0 or 1. `and`, `or`,
    `xor` take integers. The order in which a sum is taken is fixed for a
    compiled kernel but otherwise the compiler's choice.

    ```mlir
    func.func @f(%n: index) {
      tile.launch blocks(%b) in (%n) {
        %S = tile.alloc_fragment : memref<64x128xf32, #tile.fragment>
        %m = tile.alloc_fragment : memref<64xf32, #tile.fragment>
        tile.reduce max %S along 1 into %m accumulate
          : memref<64x128xf32, #tile.fragment> into memref<64xf32, #tile.fragment>
      }
      return
    }
    ```
  }];
  let arguments = (ins
    Tile_ReduceKindAttr:$kind,
    Tile_OnChipBuffer:$source,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$dim,
    Tile_OnChipBuffer:$target,
    UnitAttr:$accumulate,
    UnitAttr:$is_unsigned,
    DefaultValuedAttr<Arith_FastMathAttr,
      "::mlir::arith::FastMathFlags::none">:$fastmath);
  let assemblyFormat = [{
    custom<Choice>($kind) $source `along` $dim `into` $target
    (`accumulate` $accumulate^)? (`unsigned` $is_unsigned^)?
    (`fastmath` `` $fastmath^)?
    attr-dict `:` type($source) `into` type($target)
  }];
  let extraClassDeclaration = [{
    ::mlir::MemRefType getSourceType() { return ::llvm::cast<::mlir::MemRefType>(getSource().getType()); }
    ::mlir::MemRefType getTargetType() { return ::llvm::cast<::mlir::MemRefType>(getTarget().getType()); }
    /// True where target keeps the reduced dimension with an extent of one.
    bool keepsDim() { return getTargetType().getRank() == getSourceType().getRank(); }
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [
    Tile_WholeTile,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "running results of a tile along one dimension";
  let description = [{
    Element i of `target` along dimension `along` is the combination of the
    elements 0 to i of `source` there; with `exclusive` of the elements 0 to
    i - 1, and of the neutral element (0, 1, the type's least or greatest value)
    for i = 0. `reverse` walks from the other end: the elements i to the last,
    or i + 1 to the last. The kind is `sum`, `product`, `max` or `min`.

    `target` has the shape of `source`; it may be `source` itself. f16, bf16 and
    fp8 elements are combined in f32, each result is rounded once. `max` and
    `min` give NaN from the first NaN on (unless `fastmath` has `nnan`). Integers
    are signed unless `unsigned` is given; an i1 is 0 or 1. How a sum is grouped
    is fixed for a compiled kernel but otherwise the compiler's choice.

    ```mlir
    func.func @f(%n: index) {
      tile.launch blocks(%b) in (%n) {
        %x = tile.alloc_fragment : memref<64x128xf32, #tile.fragment>
        tile.scan sum %x along 1 into %x exclusive
          : memref<64x128xf32, #tile.fragment> into memref<64x128xf32, #tile.fragment>
      }
      return
    }
    ```
  }];
  let arguments = (ins
    Tile_ReduceKindAttr:$kind,
    Tile_OnChipBuffer:$source,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$dim,
    Tile_OnChipBuffer:$target,
    UnitAttr:$reverse,
    UnitAttr:$exclusive,
    UnitAttr:$is_unsigned,
    DefaultValuedAttr<Arith_FastMathAttr,
      "::mlir::arith::FastMathFlags::none">:$fastmath);
  let assemblyFormat = [{
    custom<Choice>($kind) $source `along` $dim `into` $target
    (`reverse` $reverse^)? (`exclusive` $exclusive^)?
    (`unsigned` $is_unsigned^)? (`fastmath` `` $fastmath^)?
    attr-dict `:` type($source) `into` type($target)
  }];
  let extraClassDeclaration = [{
    ::mlir::MemRefType getSourceType() { return ::llvm::cast<::mlir::MemRefType>(getSource().getType()); }
    ::mlir::MemRefType getTargetType() { return ::llvm::cast<::mlir::MemRefType>(getTarget().getType()); }
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tile_ParallelOp : Tile_Op<"parallel", [
    Tile_WholeTile,
    RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"YieldOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "an elementwise loop over a static box, in lockstep";
  let description = [{
    Runs the region for every point of a box, as a machine with one lane for
    each point and an active mask would: statement by statement, all lanes
    reading before any of them writes. So a lane may read what another lane
    wrote in an earlier statement, on every target. The body holds scalar ops,
    loads and stores, `scf.for`, `scf.while`, `scf.if` and local buffers.

    Two lanes that write different values to one element in one statement are
    an error of the program; writing the same value is allowed.

    The extents are static once the tunables are fixed.

    ```mlir
    func.func @f(%n: index) {
      tile.launch blocks(%b) in (%n) {
        %S = tile.alloc_shared : memref<64x64xf32, #tile.shared>
        %c1 = arith.constant 1.0 : f32
        tile.parallel (%i, %j) in (64, 64) {
          %v = memref.load %S[%i, %j] : memref<64x64xf32, #tile.shared>
          %w = arith.addf %v, %c1 : f32
          memref.store %w, %S[%i, %j] : memref<64x64xf32, #tile.shared>
        }
      }
      return
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$extents,
                       DenseI64ArrayAttr:$static_extents);
  let regions = (region SizedRegion<1>:$body);
  let builders = [
    OpBuilder<(ins "::llvm::ArrayRef<::mlir::OpFoldResult>":$extents,
      "::llvm::function_ref<void(::mlir::OpBuilder &, ::mlir::Location, ::mlir::ValueRange)>":$body)>,
    OpBuilder<(ins "::llvm::ArrayRef<int64_t>":$extents,
      "::llvm::function_ref<void(::mlir::OpBuilder &, ::mlir::Location, ::mlir::ValueRange)>":$body)>];
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    ::mlir::Block::BlockArgListType getInductionVars() {
      return getBody().getArguments();
    }
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedExtents();
    int64_t getRank() { return getStaticExtents().size(); }
    /// True where every extent is a constant.
    bool hasStaticExtents() { return getExtents().empty(); }
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif // TILE_IR_TILECOMPUTEOPS_TD
