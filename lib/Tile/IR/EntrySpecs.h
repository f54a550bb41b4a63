//===- EntrySpecs.h - Rules of specifications in attributes -----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tile.default`, `tile.flops` and `tile.bytes` are texts that the runtime
// reads. These checks read them with the runtime's own parsers when the program
// is verified, so that a mistake has a place in the source.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_ENTRYSPECS_H
#define TILE_IR_ENTRYSPECS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tile {

/// `text` is the expression in the attribute `name` of `function`.
mlir::LogicalResult verifyCost(mlir::FunctionOpInterface function,
                               llvm::StringRef name, mlir::StringAttr text);

/// `text` is the specification of argument `index`.
mlir::LogicalResult verifyDefault(mlir::FunctionOpInterface function,
                                  unsigned index, mlir::StringAttr text);

} // namespace tile

#endif // TILE_IR_ENTRYSPECS_H
