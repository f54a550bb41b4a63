//===- TileAsyncOps.td - Asynchrony written by hand ---------*- tablegen -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What pipelined loops spare most programs: roles, barriers, and copies and
// products that go on while the program does. Issue and wait are separate ops.
// What one thread or one warp does by itself is said by upstream's ops:
// gpu.thread_id, gpu.lane_id, gpu.subgroup_id, gpu.shuffle, gpu.barrier,
// nvvm.vote.sync, nvvm.elect.sync. The cpu target runs a block on one thread and
// refuses all of these.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_TILEASYNCOPS_TD
#define TILE_IR_TILEASYNCOPS_TD

include "Tile/IR/TileAttributes.td"
include "Tile/IR/TileComputeOps.td"
include "Tile/IR/TileTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_AllocBarrierOp : Tile_Op<"alloc_barrier", [
    Tile_WholeTile, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "barriers on which the roles of a block meet";
  let description = [{
    Names barriers in shared memory. A barrier runs through phases, numbered from
    zero. A phase is complete after `arrivals` arrivals and when all bytes that
    `tile.barrier_expect` announced have landed; then the next one begins.

    ```mlir
    func.func @f(%n: index) {
      tile.launch blocks(%b) in (%n) {
        %full = tile.alloc_barrier arrivals(1) : !tile.barrier<3>
      }
      return
    }
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$arrivals);
  let results = (outs Tile_BarrierType:$barrier);
  let assemblyFormat = "`arrivals` `(` $arrivals `)` attr-dict `:` qualified(type($barrier))";
  let hasVerifier = 1;
}

class Tile_BarrierOp<string mnemonic>
    : Tile_Op<mnemonic, [
        Tile_WholeTile, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let hasVerifier = 1;
}

def Tile_BarrierArriveOp : Tile_BarrierOp<"barrier_arrive"> {
  let summary = "arrive at a barrier";
  let description = [{
    Counts as one arrival of the role that runs it, once all its threads are
    here. What they wrote before is visible to whoever waits for the phase.

    ```mlir
    func.func @f(%n: index) {
      tile.launch blocks(%b) in (%n) {
        %empty = tile.alloc_barrier arrivals(2) : !tile.barrier<3>
        tile.barrier_arrive %empty[%b] : !tile.barrier<3>
      }
      return
    }
    ```
  }];
  let arguments = (ins Tile_BarrierType:$barrier, Index:$index);
  let assemblyFormat = "$barrier `[` $index `]` attr-dict `:` qualified(type($barrier))";
}

def Tile_BarrierExpectOp : Tile_BarrierOp<"barrier_expect"> {
  let summary = "arrive at a barrier and announce bytes";
  let description = [{
    Arrives, as `tile.barrier_arrive`, and makes the phase wait for `bytes` more
    bytes of copies that signal the barrier.

    ```mlir
    func.func @f(%n: index) {
      tile.launch blocks(%b) in (%n) {
        %full = tile.alloc_barrier arrivals(1) : !tile.barrier
        %c0 = arith.constant 0 : index
        %bytes = arith.constant 8192 : index
        tile.barrier_expect %full[%c0], %bytes : !tile.barrier
      }
      return
    }
    ```
  }];
  let arguments = (ins Tile_BarrierType:$barrier, Index:$index, Index:$bytes);
  let assemblyFormat = "$barrier `[` $index `]` `,` $bytes attr-dict `:` qualified(type($barrier))";
}

def Tile_BarrierWaitOp : Tile_BarrierOp<"barrier_wait"> {
  let summary = "wait for a phase of a barrier";
  let description = [{
    Waits until the phase numbered `phase` is complete. Only whether it is even
    or odd matters: it is the current phase or the one before. (So the first wait
    for a free buffer of a ring waits for phase -1, which is long over.) Nothing
    moves across a wait.

    ```mlir
    func.func @f(%n: index) {
      tile.launch blocks(%b) in (%n) {
        %full = tile.alloc_barrier arrivals(1) : !tile.barrier<3>
        %c0 = arith.constant 0 : index
        tile.barrier_wait %full[%b], %c0 : !tile.barrier<3>
      }
      return
    }
    ```
  }];
  let arguments = (ins Tile_BarrierType:$barrier, Index:$index, Index:$phase);
  let assemblyFormat = "$barrier `[` $index `]` `,` $phase attr-dict `:` qualified(type($barrier))";
}

def Tile_CopyAsyncOp : Tile_Op<"copy_async", [
    Tile_WholeTile, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "begin a copy that signals a barrier when it has landed";
  let description = [{
    Begins to copy a tile from global to shared memory, as `tile.copy` without
    conversion does, and goes on. The bytes of the whole tile count toward the
    barrier's phase, those outside the source, which become zero, included. The
    target may be touched after a wait for that phase.

    ```mlir
    func.func @f(%A: memref<?x?xf16>, %n: index) {
      tile.launch blocks(%b) in (%n) {
        %As = tile.alloc_shared : memref<64x64xf16, #tile.shared>
        %full = tile.alloc_barrier arrivals(1) : !tile.barrier
        %c0 = arith.constant 0 : index
        %bytes = arith.constant 8192 : index
        tile.barrier_expect %full[%c0], %bytes : !tile.barrier
        tile.copy_async %A[%b, 0] to %As signal %full[%c0]
          : memref<?x?xf16> to memref<64x64xf16, #tile.shared>, !tile.barrier
        tile.barrier_wait %full[%c0], %c0 : !tile.barrier
      }
      return
    }
    ```
  }];
  let arguments = (ins
    Tile_GlobalBuffer:$source,
    Variadic<Index>:$source_offsets,
    Tile_SharedBuffer:$target,
    Variadic<Index>:$target_offsets,
    Tile_BarrierType:$barrier, Index:$index,
    DenseI64ArrayAttr:$static_source_offsets,
    DenseI64ArrayAttr:$source_sizes,
    DenseI64ArrayAttr:$static_target_offsets,
    DenseI64ArrayAttr:$target_sizes,
    OptionalAttr<Tile_CachePolicyAttr>:$cache);
  let assemblyFormat = [{
    $source `` custom<TileOf>($source_offsets, $static_source_offsets, $source_sizes)
    `to` $target `` custom<TileOf>($target_offsets, $static_target_offsets, $target_sizes)
    `signal` $barrier `[` $index `]` (`cache` `(` custom<Choice>($cache)^ `)`)?
    attr-dict `:` type($source) `to` type($target) `,` qualified(type($barrier))
  }];
  let extraClassDeclaration = [{
    ::mlir::MemRefType getSourceType() { return ::llvm::cast<::mlir::MemRefType>(getSource().getType()); }
    ::mlir::MemRefType getTargetType() { return ::llvm::cast<::mlir::MemRefType>(getTarget().getType()); }
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedSourceOffsets();
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedTargetOffsets();
    ::mlir::FailureOr<::llvm::SmallVector<int64_t>> getSourceTile();
    ::mlir::FailureOr<::llvm::SmallVector<int64_t>> getTargetTile();
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_GemmAsyncOp : Tile_GemmLikeOp<"gemm_async"> {
  let summary = "begin a product that goes on while the program does";
  let description = [{
    As `tile.gemm`, but the accumulator may not be read or written, nor the
    operands written, before a `tile.gemm_wait` that covers this product.
    Products on one accumulator follow one another in the order of the program.

    ```mlir
    func.func @f(%n: index) {
      tile.launch blocks(%b) in (%n) {
        %A = tile.alloc_shared : memref<64x32xf16, #tile.shared>
        %B = tile.alloc_shared : memref<32x64xf16, #tile.shared>
        %C = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
        tile.gemm_async %A, %B, %C clear
          : memref<64x32xf16, #tile.shared>, memref<32x64xf16, #tile.shared>,
            memref<64x64xf32, #tile.fragment>
        tile.gemm_wait pending(0)
      }
      return
    }
    ```
  }];
}

def Tile_GemmWaitOp : Tile_Op<"gemm_wait", [
    Tile_WholeTile, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "wait for products";
  let description = [{
    Waits until at most `pending` of the products that the role has begun are
    still going on; they end in the order in which they began. Nothing moves
    across a wait.

    ```mlir
    func.func @f(%n: index) {
      tile.launch blocks(%b) in (%n) {
        tile.gemm_wait pending(1)
      }
      return
    }
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "`pending` `(` $pending `)` attr-dict";
  let hasVerifier = 1;
}

def Tile_RolesOp : Tile_Op<"roles", [
    Tile_WholeTile, RecursiveMemoryEffects, NoTerminator, SingleBlock]> {
  let summary = "warps of one block that run different code";
  let description = [{
    Divides the warps of a block: each `tile.role` inside runs its region with so
    many warps, all at the same time. They meet on barriers only, and once all of
    them have ended. The role's warps are added to what the launch's `threads`
    would ask for: a launch with roles has as many threads as its roles.

    ```mlir
    func.func @f(%n: index) {
      tile.launch blocks(%b) in (%n) {
        tile.roles {
          tile.role producer warps(1) {
          }
          tile.role consumer warps(8) {
          }
        }
      }
      return
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_RoleOp : Tile_Op<"role", [
    Tile_WholeTile, RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "what some warps of a block run";
  let description = [{
    Runs the region with `warps` warps; see `tile.roles`. `registers` is what each
    of their threads may have: producers need few, which leaves more to the
    others.

    ```mlir
    func.func @f(%n: index) {
      tile.launch blocks(%b) in (%n) {
        tile.roles {
          tile.role producer warps(4) registers(24) {
          }
          tile.role consumer warps(8) registers(240) {
          }
        }
      }
      return
    }
    ```
  }];
  let arguments = (ins Tile_RoleAttr:$role,
    ConfinedAttr<I64Attr, [IntPositive]>:$warps,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$registers);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    custom<Choice>($role) `warps` `(` $warps `)` (`registers` `(` $registers^ `)`)?
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

#endif // TILE_IR_TILEASYNCOPS_TD
