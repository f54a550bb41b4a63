//===- InlineCallsTest.cpp - Inlining in an embedder's context --*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Transforms/InlineCalls.h"
#include "Tile/IR/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tile;

/// The inliner interface of the func dialect is an extension; a context that
/// never heard of it must do.
TEST(InlineCallsTest, NeedsNoDialectExtensions) {
  MLIRContext context;
  context.loadDialect<TileDialect, func::FuncDialect, memref::MemRefDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    func.func @f(%n: index) {
      %g = func.call @grid(%n) : (index) -> index
      tile.launch blocks(%b) in (%g) {
        %S = tile.alloc_shared : memref<64xf32, #tile.shared>
        func.call @fill(%S) : (memref<64xf32, #tile.shared>) -> ()
      }
      return
    }
    func.func private @grid(%n: index) -> index {
      return %n : index
    }
    func.func private @fill(%S: memref<64xf32, #tile.shared>) {
      %zero = arith.constant 0.0 : f32
      tile.fill %S, %zero : memref<64xf32, #tile.shared>
      return
    }
  )",
                                                             &context);
  ASSERT_TRUE(module);
  FailureOr<InlineCounts> counts = inlineCalls(*module);
  ASSERT_TRUE(succeeded(counts));
  EXPECT_EQ(counts->inlined, 2u);
  EXPECT_EQ(counts->removed, 2u);
  EXPECT_TRUE(succeeded(verify(*module)));
}
