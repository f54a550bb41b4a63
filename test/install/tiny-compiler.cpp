//===- tiny-compiler.cpp - A compiler that embeds Tile ----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a tile program from the standard input, lowers it for the CPU by the
// named pipeline, and writes the result. Built against the install tree only.
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Pipelines.h"
#include "Tile/Driver/Registration.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

int main() {
  mlir::DialectRegistry registry;
  tile::driver::registerAllDialects(registry);
  mlir::MLIRContext context(registry);

  llvm::SourceMgr sources;
  auto input = llvm::MemoryBuffer::getSTDIN();
  if (!input)
    return 2;
  sources.AddNewSourceBuffer(std::move(*input), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  auto program = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!program)
    return 1;

  mlir::PassManager passes(&context);
  tile::buildTileToCPU(passes, tile::TileToCPUOptions());
  if (mlir::failed(passes.run(*program)))
    return 1;
  program->print(llvm::outs());
  return 0;
}
