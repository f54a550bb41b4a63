//===- TileDialect.cpp - The tile dialect -----------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration, memory spaces, and what other dialects' machinery needs to know
// about this one: constants and inlining.
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/TileDialect.h"
#include "AssemblyFormat.h"
#include "Bytecode.h"
#include "Tile/IR/Updates.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

#include "Tile/IR/TileDialect.cpp.inc"

#include "Tile/IR/TileEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "Tile/IR/TileAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "Tile/IR/TileTypes.cpp.inc"

#define GET_OP_CLASSES
#include "Tile/IR/TileOps.cpp.inc"

namespace {
/// Tile ops may be inlined anywhere: where an op may stand is its verifier's
/// affair, which runs after inlining.
struct TileInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Operation *, bool) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Tile/IR/TileAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "Tile/IR/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Tile/IR/TileOps.cpp.inc"
      >();
  addInterfaces<TileInlinerInterface>();
  addBytecodeInterface(*this);
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

Space tile::getSpace(MemRefType type) {
  Attribute space = type.getMemorySpace();
  if (isa_and_nonnull<SharedAttr>(space))
    return Space::Shared;
  if (isa_and_nonnull<FragmentAttr>(space))
    return Space::Fragment;
  if (isa_and_nonnull<LocalAttr>(space))
    return Space::Local;
  return Space::Global;
}

Value tile::getUpdatedBuffer(Operation *op) {
  if (auto update = dyn_cast<memref::AtomicRMWOp>(op))
    return update.getMemref();
  if (auto update = dyn_cast<memref::GenericAtomicRMWOp>(op))
    return update.getMemref();
  return Value();
}

Value tile::getRootBuffer(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(op)) {
      value = view.getViewSource();
      continue;
    }
    // Reshapes with a shape operand are no view-like ops upstream.
    if (auto reshape = dyn_cast<memref::ReshapeOp>(op)) {
      value = reshape.getSource();
      continue;
    }
    break;
  }
  return value;
}
