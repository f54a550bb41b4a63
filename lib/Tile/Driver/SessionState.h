//===- SessionState.h - What sessions and programs hold ---------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_SESSIONSTATE_H
#define TILE_DRIVER_SESSIONSTATE_H

#include "Tile/Driver/Program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/SourceMgr.h"
#include <mutex>

namespace tile::driver {

struct Session::State {
  State();

  mlir::MLIRContext context;
  /// Diagnostics go to whoever works, and there is one place for them in a
  /// context.
  std::mutex mutex;
};

struct Program::State {
  std::shared_ptr<Session::State> session;
  std::string name;
  /// Diagnostics show lines of it.
  llvm::SourceMgr source;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// What the source calls the arguments of each function.
  llvm::DenseMap<mlir::Operation *, std::vector<std::string>> argumentNames;

  /// The function of that name with a body, or an error that names the nearest.
  llvm::Expected<mlir::func::FuncOp> lookup(llvm::StringRef function) const;
};

} // namespace tile::driver

#endif // TILE_DRIVER_SESSIONSTATE_H
