//===- ProgramTest.cpp - What a source file offers --------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

using namespace tile;
using namespace tile::driver;

static Program load(llvm::StringRef source) {
  return get(Session().loadText(source, "test.mlir"));
}

TEST(Program, ListsEntries) {
  Program program = load(R"(
    func.func @launches(%n: index) {
      tile.launch blocks(%b) in (%n) {
      }
      return
    }
    func.func private @calls(%n: index) {
      func.call @launches(%n) : (index) -> ()
      func.call @calls(%n) : (index) -> ()
      return
    }
    func.func @drives(%n: index) {
      func.call @calls(%n) : (index) -> ()
      return
    }
    func.func @plain(%x: memref<4xf32>) { return }
    func.func private @helper(%n: index {tile.default = "3"}) { return }
    func.func @compared() attributes {tile.reference = @nothing} { return }
    func.func @nothing() { return }
    func.func @has_default(%n: index {tile.default = "3"}) { return }
    func.func private @declared(%n: index)
  )");
  EXPECT_EQ(program.getEntries(),
            (std::vector<std::string>{"launches", "drives", "compared",
                                      "has_default"}));
}

TEST(Program, NamesArguments) {
  Program program = load(R"(
    func.func @f(%A: memref<4xf32> {tile.name = "left"}, %B: memref<4xf32>,
                 %0: f32, %left: i32) { return }
  )");
  Signature signature = get(program.getSignature("f"));
  std::vector<std::string> names;
  for (const Parameter &parameter : signature.parameters)
    names.push_back(parameter.name);
  // The last one's own name is taken by an attribute.
  EXPECT_EQ(names, (std::vector<std::string>{"left", "B", "2", "3"}));
  EXPECT_EQ(get(signature.find("left")), 0u);
  EXPECT_EQ(get(signature.find("A")), 0u);
  EXPECT_EQ(get(signature.find("B")), 1u);
  EXPECT_EQ(get(signature.find("1")), 1u);
  EXPECT_EQ(getMessage(signature.find("lift")),
            "there is no argument 'lift'; did you mean 'left'? (there are: "
            "left, B, 2, 3)");
}

TEST(Program, FindsWhatIsWritten) {
  Program program = load(R"(
    func.func private @inner(%from: memref<?xf32>, %to: memref<?xf32>) {
      memref.copy %from, %to : memref<?xf32> to memref<?xf32>
      return
    }
    func.func private @unknown(memref<?xf32>)
    func.func @f(%read: memref<?xf32>, %stored: memref<8xf32>,
                 %viewed: memref<8xf32>, %called: memref<?xf32>,
                 %carried: memref<?xf32>, %left: memref<?xf32>,
                 %right: memref<?xf32>, %passed: memref<?xf32>,
                 %vector: memref<?xf32>, %which: i1, %n: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %v = memref.load %read[%c0] : memref<?xf32>
      memref.store %v, %stored[%c0] : memref<8xf32>
      %view = memref.subview %viewed[2] [4] [1]
        : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
      linalg.fill ins(%v : f32) outs(%view : memref<4xf32, strided<[1], offset: 2>>)
      func.call @inner(%read, %called) : (memref<?xf32>, memref<?xf32>) -> ()
      %end = scf.for %i = %c0 to %n step %c1 iter_args(%b = %carried)
          -> (memref<?xf32>) {
        memref.store %v, %b[%i] : memref<?xf32>
        scf.yield %b : memref<?xf32>
      }
      %chosen = arith.select %which, %left, %right : memref<?xf32>
      affine.store %v, %chosen[0] : memref<?xf32>
      func.call @unknown(%passed) : (memref<?xf32>) -> ()
      %w = vector.broadcast %v : f32 to vector<4xf32>
      vector.transfer_write %w, %vector[%c0] : vector<4xf32>, memref<?xf32>
      return
    }
  )");
  std::vector<std::string> written;
  for (const Parameter &parameter : get(program.getSignature("f")).parameters)
    if (parameter.isWritten)
      written.push_back(parameter.name);
  EXPECT_EQ(written,
            (std::vector<std::string>{"stored", "viewed", "called", "carried",
                                      "left", "right", "passed", "vector"}));
}

TEST(Program, FindsWritesOfTileOps) {
  Program program = load(R"(
    func.func @f(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %n: index) {
      tile.launch blocks(%b) in (%n) {
        %t = tile.alloc_shared : memref<8x64xf32, #tile.shared>
        tile.copy %x[%b, 0] to %t
          : memref<?x64xf32> to memref<8x64xf32, #tile.shared>
        tile.copy %t to %y[%b, 0]
          : memref<8x64xf32, #tile.shared> to memref<?x64xf32>
      }
      return
    }
  )");
  Signature signature = get(program.getSignature("f"));
  EXPECT_FALSE(signature.parameters[0].isWritten);
  EXPECT_TRUE(signature.parameters[1].isWritten);
}

TEST(Program, RefusesTypesThatNoTargetTakes) {
  auto getError = [](llvm::StringRef argument) {
    return getMessage(
        load(("func.func @f(%x: " + argument + ") { return }").str())
            .getSignature("f"));
  };
  EXPECT_TRUE(hasPart(getError("tensor<4xf32>"),
                      "argument 'x' of 'f': expected a scalar or a ranked "
                      "memref of f64, f32"));
  EXPECT_TRUE(hasPart(getError("memref<*xf32>"), "got memref<*xf32>"));
  EXPECT_TRUE(hasPart(getError("memref<4xi7>"), "got memref<4xi7>"));
  EXPECT_TRUE(hasPart(getError("memref<4xcomplex<f32>>"),
                      "got memref<4xcomplex<f32>>"));
  EXPECT_TRUE(hasPart(getError("memref<4xf32, #tile.shared>"),
                      "its memory is not global"));
  EXPECT_TRUE(
      hasPart(getError("memref<4x4xf32, affine_map<(i, j) -> (i mod 2, j)>>"),
              "its layout is not strided"));
  EXPECT_TRUE(
      hasPart(getMessage(load("func.func @f() -> i32 { %c = arith.constant 0 : "
                              "i32 return %c : i32 }")
                             .getSignature("f")),
              "'f' returns a value"));
}

TEST(Program, ListsTunables) {
  Program program = load(R"(
    func.func @f() {
      %0 = tile.tunable "block_m" in [32, 64] default(64)
      %1 = tile.tunable "stages" in range(1, 3, 1) default(2)
      return
    }
  )");
  FunctionFacts facts = get(program.getFacts("f"));
  ASSERT_EQ(facts.tunables.size(), 2u);
  EXPECT_EQ(facts.tunables[0].name, "block_m");
  EXPECT_EQ(facts.tunables[1].choices, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(facts.tunables[1].defaultValue, 2);
  CompileOptions options;
  options.tunables = {{"block_n", 64}};
  EXPECT_TRUE(hasPart(getMessage(program.compile("f", options)),
                      "there is no tunable 'block_n'; did you mean "
                      "'block_m'?"));
  options.tunables = {{"block_m", 48}};
  EXPECT_EQ(getMessage(program.compile("f", options)),
            "tunable 'block_m': expected one of 32, 64, got 48");
  options.tunables = {{"block_m", 32}};
  get(program.compile("f", options));
}

TEST(Session, ReportsWhereSourceIsWrong) {
  Session session;
  EXPECT_TRUE(
      hasPart(getMessage(session.loadText("func.func @f( {", "bad.mlir")),
              "bad.mlir:1:14: error: "));
  EXPECT_TRUE(
      hasPart(getMessage(session.loadText(
                  "func.func @f(%x: f32) {\n  return %x : f32\n}", "t.mlir")),
              "t.mlir:2:3: error: 'func.return' op has 1 operands"));
  EXPECT_EQ(getMessage(session.loadFile("no/such/file.mlir")),
            "cannot read 'no/such/file.mlir': No such file or directory");
  EXPECT_TRUE(
      hasPart(getMessage(session.loadText(std::string(100000, '{'), "d.mlir")),
              "d.mlir:1: brackets nest too deep"));
  // Brackets in strings and comments nest nothing.
  get(session.loadText("// " + std::string(1000, '(') +
                           "\nmodule attributes "
                           "{test.a = \"" +
                           std::string(1000, '<') + "\"} {}",
                       "deep.mlir"));
}
