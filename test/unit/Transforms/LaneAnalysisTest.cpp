//===- LaneAnalysisTest.cpp - Proofs that lanes do not meet -----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One loop a case: the body reads and writes one buffer at the given
// subscripts.
//
//===----------------------------------------------------------------------===//

#include "Tile/Transforms/LaneAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tile;

namespace {
class LaneAnalysisTest : public ::testing::Test {
protected:
  LaneAnalysisTest() {
    context.loadDialect<TileDialect, affine::AffineDialect, func::FuncDialect,
                        memref::MemRefDialect, scf::SCFDialect>();
  }

  /// True if the loop is independent in which each lane reads S at the results
  /// of the map `from` and writes it at those of `to`. Dimensions are the
  /// coordinates, symbols are unknown numbers.
  bool isFree(const std::string &box, const std::string &from,
              const std::string &to) {
    unsigned rank = 1 + std::count(box.begin(), box.end(), ',');
    auto makeMap = [&](const std::string &results) {
      std::string dims = "d0";
      for (unsigned i = 1; i < rank; ++i)
        dims += ", d" + std::to_string(i);
      return "affine_map<(" + dims + ")[s0] -> (" + results + ")>";
    };
    std::string ivs = "%d0", subscripts;
    for (unsigned i = 1; i < rank; ++i)
      ivs += ", %d" + std::to_string(i);
    unsigned depth = 0, resultCount = 1;
    for (char c : from) {
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      resultCount += c == ',' && depth == 0;
    }
    std::string shape;
    for (unsigned i = 0; i < resultCount; ++i)
      shape += "65536x";
    std::string type = "memref<" + shape + "f32, #tile.shared>";
    auto apply = [&](const std::string &results, const std::string &prefix) {
      std::string text, left = results;
      unsigned index = 0, level = 0;
      std::string current;
      auto flush = [&] {
        text += "%" + prefix + std::to_string(index++) + " = affine.apply " +
                makeMap(current) + "(" + ivs + ")[%b]\n";
        current.clear();
      };
      for (char c : left) {
        level += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c == ',' && level == 0)
          flush();
        else
          current += c;
      }
      flush();
      return text;
    };
    auto names = [&](const std::string &prefix) {
      std::string text;
      for (unsigned i = 0; i < resultCount; ++i)
        text += (i ? ", %" : "%") + prefix + std::to_string(i);
      return text;
    };
    std::string program =
        "func.func @f(%n: index) {\n tile.launch blocks(%b) in (%n) {\n"
        "%S = tile.alloc_shared : " +
        type + "\ntile.parallel (" + ivs + ") in (" + box + ") {\n" +
        apply(from, "r") + apply(to, "w") + "%v = memref.load %S[" +
        names("r") + "] : " + type + "\nmemref.store %v, %S[" + names("w") +
        "] : " + type + "\n}\n}\nreturn\n}\n";
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(program, &context);
    EXPECT_TRUE(module) << program;
    bool result = false;
    if (module)
      module->walk([&](ParallelOp loop) { result = isIndependent(loop); });
    return result;
  }

  MLIRContext context;
};
} // namespace

TEST_F(LaneAnalysisTest, OwnElement) {
  EXPECT_TRUE(isFree("64", "d0", "d0"));
  EXPECT_TRUE(isFree("64", "d0 * 3 + 5", "d0 * 3 + 5"));
  EXPECT_TRUE(isFree("64", "d0 + s0", "d0 + s0"));
  EXPECT_TRUE(isFree("64, 32", "d0, d1", "d0, d1"));
  EXPECT_TRUE(isFree("64, 32", "d1, d0 + d1", "d1, d0 + d1"));
  EXPECT_TRUE(isFree("64, 1", "d0", "d0"));
}

TEST_F(LaneAnalysisTest, AnothersElement) {
  EXPECT_FALSE(isFree("64", "d0 + 1", "d0"));
  EXPECT_FALSE(isFree("64", "(d0 + 1) mod 64", "d0"));
  EXPECT_FALSE(isFree("64", "63 - d0", "d0"));
  EXPECT_FALSE(isFree("64", "0", "d0"));
  EXPECT_FALSE(isFree("64, 32", "d0", "d0"));
  EXPECT_FALSE(isFree("64, 32", "d0 + d1", "d0 + d1"));
  EXPECT_FALSE(isFree("64", "d0 floordiv 2", "d0 floordiv 2"));
  EXPECT_FALSE(isFree("64", "s0", "d0"));
}

TEST_F(LaneAnalysisTest, MixedRadix) {
  EXPECT_TRUE(isFree("64, 32", "d0 * 32 + d1", "d0 * 32 + d1"));
  EXPECT_FALSE(isFree("64, 33", "d0 * 32 + d1", "d0 * 32 + d1"));
  EXPECT_TRUE(isFree("8, 8, 8", "d1 * 64 + d0 * 8 + d2 + s0",
                     "d1 * 64 + d0 * 8 + d2 + s0"));
  // Too large to be tried lane by lane.
  EXPECT_TRUE(isFree("4096, 4096", "d0 * 4096 + d1", "d0 * 4096 + d1"));
}

// Eight lanes apart, 2^61 times the lane is the same number of 64 bits.
TEST_F(LaneAnalysisTest, WrapsAround) {
  std::string far = "d0 * 2305843009213693952";
  EXPECT_FALSE(isFree("64", far, far));
  EXPECT_TRUE(isFree("4", far, far));
}

TEST_F(LaneAnalysisTest, QuotientAndRemainder) {
  EXPECT_TRUE(
      isFree("64", "d0 floordiv 8, d0 mod 8", "d0 floordiv 8, d0 mod 8"));
  EXPECT_FALSE(
      isFree("64", "d0 floordiv 8, d0 mod 4", "d0 floordiv 8, d0 mod 4"));
  EXPECT_TRUE(isFree("512", "d0 floordiv 64, (d0 floordiv 8) mod 8, d0 mod 8",
                     "d0 floordiv 64, (d0 floordiv 8) mod 8, d0 mod 8"));
  EXPECT_TRUE(isFree("64", "(d0 floordiv 8) * 16 + d0 mod 8",
                     "(d0 floordiv 8) * 16 + d0 mod 8"));
  // With an unknown offset, and in boxes that cannot be tried.
  EXPECT_TRUE(isFree("64", "(d0 + s0) floordiv 8, (d0 + s0) mod 8",
                     "(d0 + s0) floordiv 8, (d0 + s0) mod 8"));
  EXPECT_TRUE(
      isFree("1048576", "d0 floordiv 8, d0 mod 8", "d0 floordiv 8, d0 mod 8"));
  EXPECT_TRUE(isFree("64, 32",
                     "(d0 * 32 + d1) floordiv 16, (d0 * 32 + d1) mod 16",
                     "(d0 * 32 + d1) floordiv 16, (d0 * 32 + d1) mod 16"));
}

TEST_F(LaneAnalysisTest, Apart) {
  EXPECT_TRUE(isFree("64", "d0 + 64", "d0"));
  EXPECT_FALSE(isFree("65", "d0 + 64", "d0"));
  EXPECT_TRUE(isFree("64", "d0 * 2", "d0 * 2 + 1"));
  EXPECT_TRUE(isFree("64, 4", "d0, d1 + 4", "d0, d1"));
  EXPECT_TRUE(isFree("64", "d0 + s0 + 64", "d0 + s0"));
  EXPECT_FALSE(isFree("64", "d0 + s0", "d0"));
}
