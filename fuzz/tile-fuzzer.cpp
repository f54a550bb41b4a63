//===- tile-fuzzer.cpp - Arbitrary text through the compiler ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses any text, verifies it, prints and parses it again, and lowers it for
// the CPU. Whatever comes out, a diagnostic or a module, is right; a crash, a
// hang, a sanitizer's report, or a program that does not survive printing is
// not. Knows only the dialects that tile programs use, so that it finds our
// mistakes and not those of dialects that nobody asked for.
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Pipelines.h"
#include "Tile/Driver/Registration.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/AllExtensions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

/// Programs above it take long without telling more.
static constexpr size_t kMaxBytes = 1 << 14;

static void registerDialects(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect, math::MathDialect,
                  memref::MemRefDialect, scf::SCFDialect>();
  func::registerAllExtensions(registry);
  tile::driver::registerOwnDialects(registry);
}

/// Stops with a message, which the fuzzer records as a crash.
static void require(bool holds, const char *what) {
  if (holds)
    return;
  llvm::errs() << "tile-fuzzer: " << what << '\n';
  abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > kMaxBytes)
    return -1;
  // MLIR's lexer finds the end of a text by the zero byte behind it, which the
  // engine's memory has not.
  const std::string text(reinterpret_cast<const char *>(data), size);

  // A context of its own for each input, so that one does not depend on those
  // before it.
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::string message;
  ScopedDiagnosticHandler quiet(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      message = diagnostic.str();
    return success();
  });

  auto program = parseSourceString<ModuleOp>(text, &context);
  if (!program) {
    require(!message.empty(), "refused without a diagnostic");
    return 0;
  }

  std::string printed;
  llvm::raw_string_ostream stream(printed);
  program->print(stream);
  auto again = parseSourceString<ModuleOp>(printed, &context);
  require(static_cast<bool>(again), "what was printed does not parse");

  message.clear();
  PassManager passes(&context);
  tile::buildTileToCPU(passes, tile::TileToCPUOptions());
  if (failed(passes.run(*program)))
    require(!message.empty(), "the pipeline failed without a diagnostic");
  return 0;
}
