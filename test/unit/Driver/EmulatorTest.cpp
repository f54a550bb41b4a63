//===- EmulatorTest.cpp - Programs on the emulator target -------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

using namespace tile;
using namespace tile::driver;
using runtime::Array;
using runtime::DType;

/// A program with one launch of `body` over the blocks %b of as many as there
/// are rows of 64 in %x.
static std::string makeSource(llvm::StringRef body) {
  return ("func.func @f(%x: memref<?x64xf32>, %y: memref<?x64xf32>) {\n"
          "  %c0 = arith.constant 0 : index\n"
          "  %n = memref.dim %x, %c0 : memref<?x64xf32>\n"
          "  tile.launch blocks(%b) in (%n) threads(64) {\n"
          "    tile.parallel (%i) in (64) {\n" +
          body +
          "    }\n"
          "  }\n"
          "  return\n"
          "}\n")
      .str();
}

static constexpr llvm::StringLiteral addRow =
    "      %v = memref.load %x[%b, %i] : memref<?x64xf32>\n"
    "      %w = memref.load %y[%b, %i] : memref<?x64xf32>\n"
    "      %s = arith.addf %v, %w : f32\n"
    "      memref.store %s, %y[%b, %i] : memref<?x64xf32>\n";

static CompileOptions makeOptions() {
  CompileOptions options;
  options.target = Target::Emulator;
  return options;
}

static std::shared_ptr<const Kernel>
compile(llvm::StringRef source, const CompileOptions &options = makeOptions()) {
  Program program = get(Session().loadText(source, "test.mlir"));
  return get(program.compile("f", options));
}

static Array makeIota(int64_t rows) {
  Array array = get(Array::allocate(DType::F32, {rows, 64}));
  array.fillIota();
  return array;
}

TEST(EmulatorTarget, RunsTheCodeOfAChip) {
  CompileOptions options = makeOptions();
  options.chip = "sm_90";
  auto kernel = compile(makeSource(addRow), options);
  EXPECT_EQ(kernel->getChip(), "sm_90");
  ASSERT_EQ(kernel->getStages().size(), 1u);
  EXPECT_EQ(kernel->getStages()[0].name, "ptx");
  EXPECT_TRUE(hasPart(kernel->getStages()[0].contents, ".target sm_90"));
  for (int64_t rows : {0, 1, 5}) {
    Array x = makeIota(rows), y = makeIota(rows);
    EXPECT_FALSE(kernel->run({x, y}));
    for (int64_t i = 0; i < rows * 64; ++i)
      ASSERT_EQ(y.getDouble(i), 2.0 * static_cast<double>(i));
  }
  EXPECT_EQ(compile(makeSource(addRow))->getChip(), "sm_80");
}

TEST(EmulatorTarget, EverySeedStartsFromTheSameContents) {
  CompileOptions options = makeOptions();
  options.emulation.seeds = 3;
  auto kernel = compile(makeSource(addRow), options);
  Array x = makeIota(3), y = makeIota(3);
  EXPECT_FALSE(kernel->run({x, y}));
  EXPECT_EQ(y.getDouble(100), 200.0);
}

TEST(EmulatorTarget, FaultsNameTheLineOfTheProgram) {
  // All blocks write other values to one row.
  auto kernel = compile(
      makeSource("      %v = memref.load %x[%b, %i] : memref<?x64xf32>\n"
                 "      memref.store %v, %y[%c0, %i] : memref<?x64xf32>\n"));
  std::string message = getMessage(kernel->run({makeIota(3), makeIota(3)}));
  EXPECT_TRUE(hasPart(message, "data race"));
  EXPECT_TRUE(hasPart(message, "test.mlir:"));
  EXPECT_TRUE(hasPart(message, "y["));
  // Not where nobody asks.
  CompileOptions options = makeOptions();
  options.emulation.checks = 0;
  kernel = compile(
      makeSource("      %v = memref.load %x[%b, %i] : memref<?x64xf32>\n"
                 "      memref.store %v, %y[%c0, %i] : "
                 "memref<?x64xf32>\n"),
      options);
  EXPECT_FALSE(kernel->run({makeIota(3), makeIota(3)}));
}

TEST(EmulatorTarget, SameValueInSeveralBlocksIsAllowed) {
  auto kernel = compile(
      makeSource("      %v = memref.load %x[%c0, %i] : memref<?x64xf32>\n"
                 "      memref.store %v, %y[%c0, %i] : memref<?x64xf32>\n"));
  EXPECT_FALSE(kernel->run({makeIota(3), makeIota(3)}));
}

TEST(EmulatorTarget, ReadingWhatHasNoContentsIsAFault) {
  auto kernel = compile(makeSource(addRow));
  Array x = makeIota(2), y = makeIota(2);
  llvm::BitVector isEmpty(2);
  isEmpty.set(1);
  auto call = get(kernel->bind({x, y}, isEmpty));
  EXPECT_TRUE(hasPart(getMessage(call->run()), "read of memory never written"));
}

TEST(EmulatorTarget, TakesViewsOfMemory) {
  auto kernel = compile(makeSource(addRow));
  Array x = makeIota(4), y = makeIota(4);
  int64_t shape[] = {2, 64}, strides[] = {64, 1};
  ArgumentView first, second;
  first.data = reinterpret_cast<uintptr_t>(x.data());
  second.data = reinterpret_cast<uintptr_t>(y.data());
  for (ArgumentView *view : {&first, &second}) {
    view->type = DType::F32;
    view->shape = shape;
    view->strides = strides;
    view->offset = 64;
  }
  EXPECT_FALSE(kernel->launch({first, second}, nullptr));
  EXPECT_EQ(y.getDouble(63), 63.0);
  EXPECT_EQ(y.getDouble(64), 128.0);
  EXPECT_EQ(y.getDouble(191), 382.0);
  EXPECT_EQ(y.getDouble(192), 192.0);
}

TEST(EmulatorTarget, SaysWhichChipsThereAre) {
  CompileOptions options = makeOptions();
  options.chip = "sm_9";
  Program program = get(Session().loadText(makeSource(addRow), "test.mlir"));
  EXPECT_TRUE(hasPart(getMessage(program.compile("f", options)),
                      "there is no chip 'sm_9'; there are: sm_80"));
}

TEST(EmulatorTarget, RefusesWhatAPlanCannotSay) {
  Program program = get(Session().loadText(kAxpy, "test.mlir"));
  EXPECT_TRUE(hasPart(getMessage(program.compile("axpy", makeOptions())),
                      "test.mlir:8:3: error: 'scf.for' op cannot be part of a "
                      "launch plan"));
}
