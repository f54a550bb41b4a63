//===- Support.h - What the driver's tests share ----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TEST_UNIT_DRIVER_SUPPORT_H
#define TILE_TEST_UNIT_DRIVER_SUPPORT_H

#include "Tile/Driver/Program.h"
#include "gtest/gtest.h"

namespace tile::driver {

/// The value, or a failed test and the end of the program, for there is no
/// going on without it.
template <typename T> T get(llvm::Expected<T> value) {
  if (!value) {
    ADD_FAILURE() << toString(value.takeError());
    std::abort();
  }
  return std::move(*value);
}

template <typename T> T get(runtime::Result<T> value) {
  if (!value) {
    ADD_FAILURE() << value.message();
    std::abort();
  }
  return std::move(*value);
}

/// The message of a failure; empty and a failed test if there is none.
template <typename T> std::string getMessage(llvm::Expected<T> value) {
  EXPECT_FALSE(static_cast<bool>(value)) << "expected a failure";
  return value ? "" : toString(value.takeError());
}

inline std::string getMessage(llvm::Error error) {
  EXPECT_TRUE(static_cast<bool>(error)) << "expected a failure";
  return toString(std::move(error));
}

inline testing::AssertionResult hasPart(llvm::StringRef text,
                                        llvm::StringRef part) {
  if (text.contains(part))
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "expected a text with\n  " << part.str()
                                     << "\ngot\n  " << text.str();
}

/// One text with that part.
inline testing::AssertionResult isOnly(llvm::ArrayRef<std::string> texts,
                                       llvm::StringRef part) {
  if (texts.size() == 1)
    return hasPart(texts[0], part);
  return testing::AssertionFailure() << "got " << texts.size() << " texts";
}

/// y = a * x + y on arrays of any extent.
inline constexpr llvm::StringLiteral kAxpy = R"(
func.func @axpy(%a: f32 {tile.default = "2"},
                %x: memref<?xf32> {tile.default = "iota:5xf32"},
                %y: memref<?xf32> {tile.default = "ones:x[0]xf32"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %xi = memref.load %x[%i] : memref<?xf32>
    %yi = memref.load %y[%i] : memref<?xf32>
    %p = arith.mulf %a, %xi : f32
    %s = arith.addf %p, %yi : f32
    memref.store %s, %y[%i] : memref<?xf32>
  }
  return
}
)";

} // namespace tile::driver

#endif // TILE_TEST_UNIT_DRIVER_SUPPORT_H
