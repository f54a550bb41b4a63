//===- TileDebugOps.td - Looking into a running program -----*- tablegen -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that show or check values while a program runs. Their effect is a write
// on a resource of their own: they stay and keep their order among themselves,
// and stand in nobody else's way.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_TILEDEBUGOPS_TD
#define TILE_IR_TILEDEBUGOPS_TD

include "Tile/IR/TileAttributes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_DebugResource : Resource<"::tile::DebugResource">;

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite<Tile_DebugResource>]>]> {
  let summary = "report where a condition does not hold";
  let description = [{
    Where `condition` is false, reports `message` with the place of the op in the
    tile program. The program goes on, so that the results stay what they would
    be without the op; whoever launched it learns of the report.

    ```mlir
    func.func @f(%x: memref<?xi32>, %n: index) {
      tile.launch blocks(%b) in (%n) {
        %zero = arith.constant 0 : i32
        tile.parallel (%i) in (64) {
          %v = memref.load %x[%i] : memref<?xi32>
          %ok = arith.cmpi sge, %v, %zero : i32
          tile.assert %ok, "x must not be negative"
        }
      }
      return
    }
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_PrintOp : Tile_Op<"print", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "print values or whole buffers";
  let description = [{
    Prints a line with the op's place in the tile program, the block's
    coordinates, `message` and the values: scalars, or buffers as nested lists of
    their elements. Integers print as signed, i1 as 0 or 1. In an elementwise
    loop every lane prints its scalars. The lines of a block come in the order
    of the program, those of different blocks in the order of the blocks'
    numbers, the first grid dimension fastest.

    ```mlir
    func.func @f(%x: memref<4xf32>, %n: index) {
      tile.launch blocks(%b) in (%n) {
        %s = tile.alloc_shared : memref<4xf32, #tile.shared>
        tile.copy %x to %s : memref<4xf32> to memref<4xf32, #tile.shared>
        tile.print "row and block" %s, %b : memref<4xf32, #tile.shared>, index
      }
      return
    }
    ```
  }];
  let arguments = (ins StrAttr:$message,
                       Variadic<AnyTypeOf<[Tile_Element, Tile_Buffer]>>:$values);
  let assemblyFormat = "$message ($values^ `:` type($values))? attr-dict";
  let hasVerifier = 1;
}

#endif // TILE_IR_TILEDEBUGOPS_TD
