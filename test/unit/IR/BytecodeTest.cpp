//===- BytecodeTest.cpp - Versions in bytecode ------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/TileDialect.h"
#include "Tile/IR/Version.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {
class BytecodeTest : public testing::Test {
protected:
  BytecodeTest() {
    context.loadDialect<tile::TileDialect, func::FuncDialect>();
  }

  /// A program as bytecode that names `version`.
  std::string write(const tile::Version &version) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
        R"(func.func @f(%n: index) {
          tile.launch blocks(%b, %c) in (%n, %n) raster(row, 4) {
            %x = tile.alloc_shared : memref<4xf32, #tile.shared>
            %y = tile.alloc_barrier arrivals(1) : !tile.barrier<3>
          }
          return
        })",
        &context);
    EXPECT_TRUE(module);
    BytecodeWriterConfig config;
    config.setDialectVersion<tile::TileDialect>(
        std::make_unique<tile::Version>(version));
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    EXPECT_TRUE(succeeded(writeBytecodeToFile(*module, stream, config)));
    return bytes;
  }

  /// What reading `bytes` complains about; empty where it succeeds.
  std::string read(StringRef bytes) {
    std::string messages;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      messages += diagnostic.str() + "\n";
    });
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(bytes, &context);
    EXPECT_EQ(static_cast<bool>(module), messages.empty());
    return messages;
  }

  MLIRContext context;
};
} // namespace

TEST_F(BytecodeTest, ReadsItsOwnVersion) {
  EXPECT_EQ(read(write(tile::Version::current())), "");
}

TEST_F(BytecodeTest, ReadsOlderVersions) {
  EXPECT_EQ(read(write(tile::Version(0, 9))), "");
}

TEST_F(BytecodeTest, RefusesNewerVersions) {
  tile::Version version = tile::Version::current();
  std::string message =
      read(write(tile::Version(version.majorNumber, version.minorNumber + 1)));
  EXPECT_NE(message.find("which is newer than"), std::string::npos) << message;
  message = read(write(tile::Version(version.majorNumber + 1, 0)));
  EXPECT_NE(message.find("of the tile dialect"), std::string::npos) << message;
}
