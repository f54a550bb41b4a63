//===- Passes.td - Passes from tile to tile -----------------*- tablegen -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each pass is a free function of the same name (see the headers of this
// folder) with a statistic.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_PASSES_TD
#define TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def InlineCalls : Pass<"tile-inline-calls", "::mlir::ModuleOp"> {
  let summary = "inline the helper functions of tile programs";
  let description = [{
    Inlines every call in a function that has launches or calls one that has,
    and the calls of what is inlined. Helpers may take on-chip buffers of any
    extents; the buffers' static types are carried into the helper's ops.
    Helpers that nobody uses afterwards are removed, if they are private or take
    on-chip buffers.

    A call that cannot be inlined (recursion, a callee without a body or with
    several blocks) is an error.
  }];
  let statistics = [
    Statistic<"numInlined", "calls-inlined", "Calls that were inlined">,
    Statistic<"numRemoved", "helpers-removed", "Helper functions that were removed">
  ];
}

def Specialize : Pass<"tile-specialize", "::mlir::ModuleOp"> {
  let summary = "fix the tunables and make on-chip types static";
  let description = [{
    Replaces each tunable by the value it is given in `values`, or by its
    default; evaluates each `tile.require` and removes it where it holds; folds
    what has become constant into the types of on-chip buffers, extents of
    elementwise loops, `threads` and `stages`.

    A value for a tunable that does not exist or that is none of its choices is
    an error, and so is a requirement that does not hold or that depends on more
    than tunables.
  }];
  let options = [
    ListOption<"values", "values", "std::string",
               "Values of tunables: name=value, separated by commas">,
    Option<"function", "function", "std::string", "",
           "Only this function; all of them where none is given">
  ];
  let statistics = [
    Statistic<"numFixed", "tunables-fixed", "Tunables that were replaced by their value">
  ];
}

def CheckStatic : InterfacePass<"tile-check-static", "::mlir::FunctionOpInterface"> {
  let summary = "report extents that should be constant and are not";
  let description = [{
    The lowerings need constant extents of on-chip buffers and elementwise loops,
    and constant `threads` and `stages`. This pass changes nothing; it reports
    each op in a launch where one is still open, with the values it depends on.
    The lowerings make the same check.
  }];
}

def SplitLockstep : InterfacePass<"tile-split-lockstep", "::mlir::FunctionOpInterface"> {
  let summary = "make the lanes of elementwise loops independent";
  let description = [{
    `tile.parallel` runs in lockstep: statement by statement for all lanes. After
    this pass every such loop is *independent*: its lanes may run one after the
    other in any order, or all at once, each straight through the body.

    A loop whose lanes never meet at one element, except in accesses that read
    or in one and the same statement, is left as it is. Any other is split
    before each statement where lanes meet with an earlier one:

    ```mlir
    // Each lane reads what its neighbour wrote: this becomes two loops.
    func.func @f(%y: memref<?xf32>, %n: index) {
      %c1 = arith.constant 1 : index
      %one = arith.constant 1.0 : f32
      tile.launch blocks(%b) in (%n) {
        %S = tile.alloc_shared : memref<65xf32, #tile.shared>
        tile.parallel (%i) in (64) {
          memref.store %one, %S[%i] : memref<65xf32, #tile.shared>
          %next = arith.addi %i, %c1 : index
          %v = memref.load %S[%next] : memref<65xf32, #tile.shared>
          memref.store %v, %y[%i] : memref<?xf32>
        }
      }
      return
    }
    ```

    A loop or condition in the body in which lanes meet is split itself: if it
    is the same for all lanes it goes around the pieces, otherwise a mask says
    which lanes take part, and the loop runs until none does. Values that are
    needed in a later piece are kept in fragments of the loop's shape; cheap
    arithmetic on the coordinates is repeated instead.

    A store that certainly writes different values of two lanes to one element
    is an error.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::tile::TileDialect"];
  let statistics = [
    Statistic<"numLoops", "loops-split", "Loops that were split">,
    Statistic<"numGroups", "groups", "Independent loops that they became">,
    Statistic<"numTemporaries", "temporaries", "Buffers that keep values between them">
  ];
}

def FuseCopies : InterfacePass<"tile-fuse-copies", "::mlir::FunctionOpInterface"> {
  let summary = "let elementwise loops load and store global memory themselves";
  let description = [{
    A copy that brings a tile for an elementwise loop, or takes one from it,
    becomes loads or stores of the loop, whose lanes use the tile's element of
    their own place: a machine with caches then goes over the tile once, and waits
    for memory while it computes.

    The tile must not be read otherwise before it is overwritten, and what is done
    to global memory must keep its order: nothing in between writes there, the
    loop writes nowhere that it reads. Other pad values than zero, other element
    types, parts of tiles, and launches with `bounds(trap)`, whose reports tell
    copies from loops, are left alone.

    ```mlir
    // The loop loads x[%row + %i, %j] and stores y[%row + %i, %j].
    func.func @f(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %n: index) {
      tile.launch blocks(%b) in (%n) {
        %c32 = arith.constant 32 : index
        %row = arith.muli %b, %c32 : index
        %tile = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
        tile.copy %x[%row, 0] to %tile
          : memref<?x64xf32> to memref<32x64xf32, #tile.fragment>
        tile.parallel (%i, %j) in (32, 64) {
          %v = memref.load %tile[%i, %j] : memref<32x64xf32, #tile.fragment>
          %w = arith.mulf %v, %v : f32
          memref.store %w, %tile[%i, %j] : memref<32x64xf32, #tile.fragment>
        }
        tile.copy %tile to %y[%row, 0]
          : memref<32x64xf32, #tile.fragment> to memref<?x64xf32>
      }
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
  let statistics = [
    Statistic<"numFused", "copies-fused", "Copies that became a part of a loop">
  ];
}

def SplitRows : InterfacePass<"tile-split-rows", "::mlir::FunctionOpInterface"> {
  let summary = "run blocks a few rows at a time";
  let description = [{
    Where the ops of a launch treat each row of its tiles by itself, the body runs
    for `rows` rows before it runs for the next: a machine that works on a vector
    at a time reads longer pieces of memory, and finds in its caches what it comes
    back to.

    Which dimension of each buffer, copy and elementwise loop is that of the rows
    follows from one of them. A reduction along it, an access that does not use
    the lane's own row, a gemm, an atomic op, a report or a write to a global
    buffer that is read, too, or whose rows might meet leaves the launch as it is.

    ```mlir
    // With rows=8 the tile has 8 rows, and a loop around copy and reduction runs
    // four times.
    func.func @f(%x: memref<?x?xf32>, %y: memref<?xf32>, %n: index) {
      tile.launch blocks(%b) in (%n) {
        %c32 = arith.constant 32 : index
        %row = arith.muli %b, %c32 : index
        %tile = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
        %sum = tile.alloc_fragment : memref<32xf32, #tile.fragment>
        tile.copy %x[%row, 0] to %tile
          : memref<?x?xf32> to memref<32x64xf32, #tile.fragment>
        tile.reduce sum %tile along 1 into %sum
          : memref<32x64xf32, #tile.fragment> into memref<32xf32, #tile.fragment>
        tile.copy %sum to %y[%row]
          : memref<32xf32, #tile.fragment> to memref<?xf32>
      }
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let options = [
    Option<"rows", "rows", "int64_t", "8", "Rows to run at a time">
  ];
  let statistics = [
    Statistic<"numSplit", "launches-split", "Launches that were split">
  ];
}

def CanonicalizeIdioms : InterfacePass<"tile-canonicalize-idioms", "::mlir::FunctionOpInterface"> {
  let summary = "give common idioms the form that later passes look for";
  let description = [{
    Rewrites that change no value, whatever the inputs:

    - a fill with zero whose next use is a gemm into the same buffer becomes
      `clear` on the gemm;
    - a fill whose next use overwrites the whole buffer goes away.

    A fill before a loop stays, since the loop may not run.
  }];
  let statistics = [
    Statistic<"numClearedGemms", "gemms-cleared", "Gemms that start from zero instead of from a fill">,
    Statistic<"numDeadFills", "fills-removed", "Fills that nobody would have seen">
  ];
}

#endif // TILE_TRANSFORMS_PASSES_TD
