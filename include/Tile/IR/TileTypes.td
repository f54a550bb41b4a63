//===- TileTypes.td - Types of the tile dialect -------------*- tablegen -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_TILETYPES_TD
#define TILE_IR_TILETYPES_TD

include "Tile/IR/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"

def Tile_BarrierType : TypeDef<Tile_Dialect, "Barrier"> {
  let mnemonic = "barrier";
  let summary = "barriers in shared memory on which parts of a block meet";
  let description = [{
    `!tile.barrier` is one barrier, `!tile.barrier<4>` four of them, as a ring of
    buffers with four stages needs. They are named by `tile.alloc_barrier`.
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "1">:$count);
  let assemblyFormat = "(`<` $count^ `>`)?";
  let genVerifyDecl = 1;
}

#endif // TILE_IR_TILETYPES_TD
