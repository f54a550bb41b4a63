//===- ExampleTest.cpp - Judging of examples --------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Example.h"
#include "Support.h"

using namespace tile;
using namespace tile::driver;

static ExampleReport run(llvm::StringRef source, llvm::StringRef function,
                         const ExampleOptions &options = {}) {
  return get(runExample(get(Session().loadText(source, "test.mlir")), function,
                        options));
}

TEST(Example, StartsEachRunWithFreshContents) {
  ExampleOptions options;
  options.benchRuns = 3;
  ExampleReport report = run(kAxpy, "axpy", options);
  EXPECT_TRUE(report.isRight());
  EXPECT_EQ(report.seconds.count, 3u);
  // 2 * 4 + 1, however often it ran.
  EXPECT_EQ(report.arguments[2].value.getDouble(4), 9);
}

TEST(Example, FindsWhatIsNeverWritten) {
  ExampleReport report = run(R"(
    func.func @f(%x: memref<5xf32> {tile.default = "empty:5xf32"}) {
      %c3 = arith.constant 3 : index
      %v = arith.constant 1.0 : f32
      affine.for %i = 0 to 3 {
        memref.store %v, %x[%i] : memref<5xf32>
      }
      return
    })",
                             "f");
  EXPECT_FALSE(report.isRight());
  EXPECT_EQ(report.outputs[0].faults,
            (std::vector<std::string>{
                "2 of 5 elements were never written at [3], [4]"}));
  EXPECT_EQ(formatFaults(report), "'f': output 'x': 2 of 5 elements were never "
                                  "written at [3], [4]\n");
  EXPECT_TRUE(hasPart(formatTable(report), "WRONG"));
}

TEST(Example, FindsResultsThatDependOnGarbage) {
  ExampleReport report = run(R"(
    func.func @f(%x: memref<2xf32> {tile.default = "empty:2xf32"}) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %v = memref.load %x[%c0] : memref<2xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %x[%c0] : memref<2xf32>
      memref.store %w, %x[%c1] : memref<2xf32>
      return
    })",
                             "f");
  EXPECT_TRUE(isOnly(report.outputs[0].faults,
                     "2 of 2 elements differ between two runs "
                     "with the same inputs"));
}

TEST(Example, FindsWritesBetweenElements) {
  ExampleReport report = run(R"(
    func.func @f(%x: memref<3xf32, strided<[2]>>
                     {tile.default = "empty:3xf32:strides=2"}) {
      %v = arith.constant 1.0 : f32
      %all = memref.reinterpret_cast %x to offset: [0], sizes: [5], strides: [1]
        : memref<3xf32, strided<[2]>> to memref<5xf32>
      linalg.fill ins(%v : f32) outs(%all : memref<5xf32>)
      return
    })",
                             "f");
  EXPECT_TRUE(isOnly(report.outputs[0].faults, "no element but a gap"));
}

constexpr llvm::StringLiteral kSum = R"(
  func.func @sum(%x: memref<?xf32> {tile.default = "randn:1000xf32"},
                 %y: memref<f32> {tile.default = "empty:f32"})
      attributes {tile.reference = @exact, tile.flops = "x[0]",
                  tile.tolerance = #tile.tolerance<products = 1000.0>} {
    %zero = arith.constant 0.0 : f32
    memref.store %zero, %y[] : memref<f32>
    linalg.reduce { arith.addf } ins(%x : memref<?xf32>) outs(%y : memref<f32>)
      dimensions = [0]
    return
  }
  func.func @exact(%x: memref<?xf64>, %y: memref<f64>) {
    %zero = arith.constant 0.0 : f64
    memref.store %zero, %y[] : memref<f64>
    linalg.reduce { arith.addf } ins(%x : memref<?xf64>) outs(%y : memref<f64>)
      dimensions = [0]
    return
  }
  func.func @zero(%x: memref<?xf64>, %y: memref<f64>) {
    %zero = arith.constant 0.0 : f64
    memref.store %zero, %y[] : memref<f64>
    return
  }
  func.func @lazy(%x: memref<?xf64>, %y: memref<f64>) { return }
  func.func @other(%x: memref<?x?xf64>, %y: memref<f64>) { return }
)";

TEST(Example, BoundsSumsByTheirMagnitude) {
  ExampleReport report = run(kSum, "sum");
  EXPECT_TRUE(report.isRight()) << formatFaults(report);
  EXPECT_EQ(report.flops, 1000);
  EXPECT_FALSE(report.bytes.has_value());
  ExampleOptions options;
  options.tolerance = get(ToleranceSpec::parse("products=0.0001"));
  EXPECT_FALSE(run(kSum, "sum", options).isRight());
}

TEST(Example, ComparesWithAnotherReference) {
  ExampleOptions options;
  options.reference = "zero";
  options.tolerance = get(ToleranceSpec::parse("0.001"));
  ExampleReport report = run(kSum, "sum", options);
  EXPECT_FALSE(report.isRight());
  EXPECT_TRUE(hasPart(formatFaults(report),
                      "'sum': output 'y': 1 of 1 elements differ from zero "
                      "(tolerance atol=0.001,rtol=0.001)"));
  options.useReference = false;
  EXPECT_TRUE(run(kSum, "sum", options).isRight());
}

TEST(Example, RefusesReferencesThatDoNotFit) {
  Program program = get(Session().loadText(kSum, "test.mlir"));
  ExampleOptions options;
  options.reference = "lazy";
  EXPECT_TRUE(hasPart(getMessage(runExample(program, "sum", options)),
                      "reference 'lazy' of 'sum': it does not write argument "
                      "'y'"));
  options.reference = "other";
  EXPECT_TRUE(hasPart(getMessage(runExample(program, "sum", options)),
                      "expected argument 'x' to be like memref<?xf32>, got "
                      "memref<?x?xf64>"));
  options.reference = "exakt";
  EXPECT_TRUE(hasPart(getMessage(runExample(program, "sum", options)),
                      "there is no function 'exakt'; did you mean 'exact'?"));
}

TEST(Example, SaysWhichArgumentIsMissing) {
  Program program = get(Session().loadText(
      "func.func @f(%x: memref<?x8xf16>, %n: index) { return }", "test.mlir"));
  EXPECT_EQ(getMessage(runExample(program, "f", {})),
            "argument 'x' of 'f' has no value; give it one, as in --arg "
            "x=randn:64x8xf16, or in its 'tile.default'");
}
