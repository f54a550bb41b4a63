//===- TileDialect.h - The tile dialect -------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect with its attributes and ops, and the one place that tells which
// memory a buffer lives in.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_TILEDIALECT_H
#define TILE_IR_TILEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Tile/IR/TileDialect.h.inc"

#include "Tile/IR/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Tile/IR/TileAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "Tile/IR/TileTypes.h.inc"

namespace tile {

/// Where a buffer lives, as its memref's memory space says.
enum class Space { Global, Shared, Fragment, Local };

/// The space of `type`. A memory space of another dialect counts as global:
/// such memory belongs to whoever gave it that space.
Space getSpace(mlir::MemRefType type);

inline bool isMemRefIn(mlir::Type type, Space space) {
  auto memref = llvm::dyn_cast<mlir::MemRefType>(type);
  return memref && getSpace(memref) == space;
}
inline bool isGlobal(mlir::Type t) { return isMemRefIn(t, Space::Global); }
inline bool isShared(mlir::Type t) { return isMemRefIn(t, Space::Shared); }
inline bool isFragment(mlir::Type t) { return isMemRefIn(t, Space::Fragment); }
inline bool isLocal(mlir::Type t) { return isMemRefIn(t, Space::Local); }
inline bool isOnChip(mlir::Type t) {
  return llvm::isa<mlir::MemRefType>(t) && !isGlobal(t);
}

/// The buffer that `value` is a view of: looks through subviews, casts and
/// reshapes up to an allocation or a block argument.
mlir::Value getRootBuffer(mlir::Value value);

/// The resource on which effects on a buffer of `space` are recorded. Distinct
/// resources let passes see that a fragment's effects never meet a shared
/// buffer's.
mlir::SideEffects::Resource *getResource(Space space);

/// What `tile.print` and `tile.assert` write.
struct DebugResource : mlir::SideEffects::Resource::Base<DebugResource> {
  llvm::StringRef getName() final { return "tile.debug"; }
};

/// Marks ops on whole tiles, which must stand outside elementwise loops.
template <typename ConcreteType>
class WholeTile : public mlir::OpTrait::TraitBase<ConcreteType, WholeTile> {};

} // namespace tile

#define GET_OP_CLASSES
#include "Tile/IR/TileOps.h.inc"

#endif // TILE_IR_TILEDIALECT_H
