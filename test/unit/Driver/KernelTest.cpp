//===- KernelTest.cpp - Compiled functions and their checks -----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include <atomic>
#include <thread>

using namespace tile;
using namespace tile::driver;
using runtime::Array;
using runtime::DType;

static std::shared_ptr<const Kernel> compile(llvm::StringRef source,
                                             llvm::StringRef function,
                                             CompileOptions options = {}) {
  // The kernel outlives program and session.
  Program program = get(Session().loadText(source, "test.mlir"));
  return get(program.compile(function, options));
}

static Array makeIota(int64_t size) {
  Array array = get(Array::allocate(DType::F32, {size}));
  array.fillIota();
  return array;
}

TEST(Kernel, ServesAllExtents) {
  auto kernel = compile(kAxpy, "axpy");
  for (int64_t size : {0, 1, 7, 1000}) {
    Array x = makeIota(size), y = makeIota(size);
    EXPECT_FALSE(kernel->run({Array::scalar(DType::F32, 3.0), x, y}));
    for (int64_t i = 0; i < size; ++i)
      ASSERT_EQ(y.getDouble(i), 4.0 * static_cast<double>(i));
  }
}

TEST(Kernel, RunsOnManyThreadsAtOnce) {
  auto kernel = compile(kAxpy, "axpy");
  std::vector<Array> results;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    results.push_back(makeIota(1000));
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round)
        EXPECT_FALSE(kernel->run(
            {Array::scalar(DType::F32, 1.0), makeIota(1000), results[i]}));
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const Array &result : results)
    EXPECT_EQ(result.getDouble(999), 51 * 999.0);
}

TEST(Kernel, NamesTheWrongArgument) {
  auto kernel = compile(kAxpy, "axpy");
  Array a = Array::scalar(DType::F32, 1.0), x = makeIota(4), y = makeIota(4);
  EXPECT_TRUE(hasPart(getMessage(kernel->run({a, x})),
                      "'axpy' takes 3 arguments, got 2"));
  EXPECT_TRUE(
      hasPart(getMessage(kernel->run({a, x, get(y.convert(DType::F64))})),
              "argument 'y': expected memref<?xf32>, got 4xf64"));
  EXPECT_TRUE(hasPart(
      getMessage(kernel->run({a, get(Array::allocate(DType::F32, {2, 2})), y})),
      "argument 'x': expected memref<?xf32>, got 2x2xf32 of rank 2"));
  EXPECT_TRUE(hasPart(getMessage(kernel->run({x, x, y})),
                      "argument 'a': expected f32, got 4xf32"));
  EXPECT_TRUE(hasPart(getMessage(kernel->run({a, x, x})),
                      "argument 'y', which 'axpy' writes, overlaps argument "
                      "'x' in memory"));
  Array strided = get(Array::allocate(DType::F32, {4}, {2}, 0));
  EXPECT_TRUE(hasPart(getMessage(kernel->run({a, strided, y})),
                      "argument 'x': expected a dense array, its last "
                      "dimension contiguous, as memref<?xf32> wants it, got "
                      "strides [2]"));
  // Half of an element off.
  Array odd = get(Array::borrow(static_cast<char *>(y.data()) + 2, 8,
                                DType::F32, {2}, {1}));
  EXPECT_TRUE(hasPart(getMessage(kernel->run({a, odd, x})),
                      "argument 'x': expected an address that is a multiple "
                      "of 4"));
  // The two halves of one buffer do not overlap.
  Array low = get(Array::borrow(x.data(), 16, DType::F32, {2}, {1}, 0));
  Array high = get(Array::borrow(x.data(), 16, DType::F32, {2}, {1}, 2));
  EXPECT_FALSE(kernel->run({a, low, high}));
}

TEST(Kernel, TakesArgumentsThatMayOverlap) {
  constexpr llvm::StringLiteral source = R"(
    func.func @negate(%x: memref<?xf32> {tile.may_alias = ["y"]},
                      %y: memref<?xf32> {tile.name = "y"},
                      %z: memref<?xf32> {tile.name = "z"}) {
      linalg.negf ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
      linalg.negf ins(%x : memref<?xf32>) outs(%z : memref<?xf32>)
      return
    })";
  auto kernel = compile(source, "negate");
  Array x = makeIota(4), z = makeIota(4);
  EXPECT_FALSE(kernel->run({x, x, z}));
  EXPECT_EQ(x.getDouble(3), -3.0);
  EXPECT_TRUE(hasPart(getMessage(kernel->run({x, z, z})),
                      "argument 'y', which 'negate' writes, overlaps argument "
                      "'z' in memory"));
}

TEST(Kernel, TakesTheStridesThatTheTypeStates) {
  constexpr llvm::StringLiteral source = R"(
    func.func @negate(%x: memref<2x?xf32, strided<[?, 2], offset: ?>>,
                      %y: memref<2x?xf32, strided<[8, 1], offset: 3>>) {
      linalg.negf ins(%x : memref<2x?xf32, strided<[?, 2], offset: ?>>)
                  outs(%y : memref<2x?xf32, strided<[8, 1], offset: 3>>)
      return
    })";
  auto kernel = compile(source, "negate");
  Array x = get(Array::allocate(DType::F32, {2, 3}, {7, 2}, 5));
  Array y = get(Array::allocate(DType::F32, {2, 3}, {8, 1}, 1));
  x.fillIota();
  EXPECT_FALSE(kernel->run({x, y}));
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(y.getDouble(i), -static_cast<double>(i));
  Array other = get(Array::allocate(DType::F32, {2, 3}, {9, 1}, 0));
  EXPECT_TRUE(hasPart(getMessage(kernel->run({x, other})),
                      "argument 'y': expected strides [8, 1], got [9, 1]"));
  EXPECT_TRUE(
      hasPart(getMessage(kernel->run(
                  {get(Array::allocate(DType::F32, {3, 3}, {6, 2}, 0)), y})),
              "argument 'x': expected extent 2 in dimension 0"));
}

TEST(Kernel, PassesScalarsOfEveryType) {
  constexpr llvm::StringLiteral source = R"(
    func.func @scalars(%a: i1, %b: i8, %c: i32, %d: index, %e: f16, %f: bf16,
                       %g: f64, %out: memref<7xf64>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %c6 = arith.constant 6 : index
      %a64 = arith.uitofp %a : i1 to f64
      %b64 = arith.sitofp %b : i8 to f64
      %c64 = arith.sitofp %c : i32 to f64
      %di = arith.index_cast %d : index to i64
      %d64 = arith.sitofp %di : i64 to f64
      %e64 = arith.extf %e : f16 to f64
      %f64 = arith.extf %f : bf16 to f64
      memref.store %a64, %out[%c0] : memref<7xf64>
      memref.store %b64, %out[%c1] : memref<7xf64>
      memref.store %c64, %out[%c2] : memref<7xf64>
      memref.store %d64, %out[%c3] : memref<7xf64>
      memref.store %e64, %out[%c4] : memref<7xf64>
      memref.store %f64, %out[%c5] : memref<7xf64>
      memref.store %g, %out[%c6] : memref<7xf64>
      return
    })";
  auto kernel = compile(source, "scalars");
  Array out = get(Array::allocate(DType::F64, {7}));
  ASSERT_FALSE(kernel->run({Array::scalar(DType::I1, int64_t(1)),
                            Array::scalar(DType::I8, int64_t(-8)),
                            Array::scalar(DType::I32, int64_t(-70000)),
                            Array::scalar(DType::I64, int64_t(1) << 40),
                            Array::scalar(DType::F16, 0.5),
                            Array::scalar(DType::BF16, -3.0),
                            Array::scalar(DType::F64, 0.1), out}));
  const double expected[] = {1, -8, -70000, 1099511627776.0, 0.5, -3, 0.1};
  for (int64_t i = 0; i < 7; ++i)
    EXPECT_EQ(out.getDouble(i), expected[i]) << i;
}

TEST(Kernel, KeepsStagesWhereAsked) {
  // What the kernel consists of is always there.
  auto plain = compile(kAxpy, "axpy");
  ASSERT_EQ(plain->getStages().size(), 1u);
  EXPECT_EQ(plain->getStages()[0].name, "obj");
  CompileOptions options;
  options.keepStages = true;
  auto kernel = compile(kAxpy, "axpy", options);
  std::vector<std::string> names;
  for (const Stage &stage : kernel->getStages())
    names.push_back(stage.name);
  for (const char *name : {"source", "convert-scf-to-cf", "canonicalize",
                           "lower-affine-2", "mlir", "llvm", "asm", "obj"})
    EXPECT_TRUE(llvm::is_contained(names, name));
  EXPECT_TRUE(hasPart(kernel->getStages().front().contents, "@axpy"));
  EXPECT_GT(kernel->getCompileSeconds(), 0);
}

TEST(Kernel, ReportsSymbolsThatNothingDefines) {
  constexpr llvm::StringLiteral source = R"(
    func.func private @nobody_defines_this(f32) -> f32
    func.func @f(%x: memref<f32>) {
      %v = memref.load %x[] : memref<f32>
      %w = func.call @nobody_defines_this(%v) : (f32) -> f32
      memref.store %w, %x[] : memref<f32>
      return
    })";
  Program program = get(Session().loadText(source, "test.mlir"));
  EXPECT_TRUE(
      hasPart(getMessage(program.compile("f", {})), "nobody_defines_this"));
}

/// What code reports while it runs, on the cpu and in a GPU's code.
class Traps : public testing::TestWithParam<Target> {
protected:
  static std::shared_ptr<const Kernel> compile(llvm::StringRef source) {
    CompileOptions options;
    options.target = GetParam();
    return ::compile(source, "f", options);
  }
};
INSTANTIATE_TEST_SUITE_P(Kernel, Traps,
                         testing::Values(Target::CPU, Target::Emulator));

TEST_P(Traps, AreErrorsOfTheCall) {
  constexpr llvm::StringLiteral source = R"(
    func.func @f(%n: index) {
      %none = arith.constant false
      tile.launch blocks(%b) in (%n) {
        tile.assert %none, "no block may run"
      }
      return
    })";
  auto kernel = compile(source);
  EXPECT_FALSE(kernel->run({Array::scalar(DType::I64, int64_t(0))}));
  std::string message =
      getMessage(kernel->run({Array::scalar(DType::I64, int64_t(3))}));
  std::string report = "test.mlir:5:9: assertion failed: no block may run";
  // The cpu counts, too.
  if (GetParam() == Target::CPU)
    report += "\n(3 reports in all)";
  EXPECT_EQ(message, report);
  EXPECT_FALSE(kernel->run({Array::scalar(DType::I64, int64_t(0))}));
}

TEST_P(Traps, AreThoseOfOneCall) {
  constexpr llvm::StringLiteral source = R"(
    func.func @f(%n: index) {
      %c8 = arith.constant 8 : index
      %c100 = arith.constant 100 : index
      tile.launch blocks(%b) in (%c100) {
        %fine = arith.cmpi ult, %n, %c8 : index
        tile.assert %fine, "n is too large"
      }
      return
    })";
  auto kernel = compile(source);
  int rounds = GetParam() == Target::CPU ? 50 : 3;
  std::atomic<int> mixedUp = 0;
  auto work = [&](int64_t n) {
    for (int i = 0; i < rounds; ++i) {
      llvm::Error error = kernel->run({Array::scalar(DType::I64, n)});
      bool failed = static_cast<bool>(error);
      llvm::consumeError(std::move(error));
      mixedUp += failed != (n >= 8);
    }
  };
  std::thread good([&] { work(1); }), bad([&] { work(9); });
  good.join();
  bad.join();
  EXPECT_EQ(mixedUp, 0);
}

TEST(Kernel, ReportsWorkspacesThatMemoryCannotHold) {
  constexpr llvm::StringLiteral source = R"(
    func.func @f(%n: index, %x: memref<4xf32>) {
      %small = tile.alloc_global : memref<4xf32>
      %w = tile.alloc_global(%n, %n) : memref<?x?xf32>
      %c1 = arith.constant 1 : index
      tile.launch blocks(%b) in (%c1) {
        tile.copy %x to %small : memref<4xf32> to memref<4xf32>
        tile.copy %x to %w[0, 0] : memref<4xf32> to memref<?x?xf32>
      }
      return
    })";
  auto kernel = compile(source, "f");
  auto run = [&](int64_t n) {
    return getMessage(kernel->run({Array::scalar(DType::I64, n), makeIota(4)}));
  };
  EXPECT_FALSE(
      kernel->run({Array::scalar(DType::I64, int64_t(8)), makeIota(4)}));
  // The product wraps to zero.
  EXPECT_TRUE(hasPart(run(int64_t(1) << 32), "more than memory can hold"));
  EXPECT_TRUE(hasPart(run(int64_t(1) << 62), "more than memory can hold"));
  EXPECT_TRUE(hasPart(run(int64_t(5) << 20), "no memory for a workspace"));
}
