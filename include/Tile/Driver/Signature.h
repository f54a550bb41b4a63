//===- Signature.h - What a function takes ----------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function's arguments in the runtime's terms, free of MLIR, and the check
// that given arrays fit them before compiled code sees them.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_SIGNATURE_H
#define TILE_DRIVER_SIGNATURE_H

#include "Tile/Runtime/Arguments.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tile::driver {

struct Parameter {
  /// An offset or stride that the type leaves open.
  static constexpr int64_t kOpen = mlir::ShapedType::kDynamic;

  /// `tile.name`, else the name in the source, else the position.
  std::string name;
  /// The name in the source where it is another, else empty.
  std::string sourceName;
  /// The type as MLIR prints it.
  std::string typeText;
  runtime::DType type = runtime::DType::F32;
  bool isScalar = false;
  /// -1 is an extent the type leaves open.
  runtime::Shape shape;
  /// In elements. Not given where the type wants a dense array with the last
  /// dimension contiguous.
  std::optional<runtime::Shape> strides;
  int64_t offset = 0;
  /// The function, or one it calls, writes elements of it.
  bool isWritten = false;
  /// The positions of the parameters that it may overlap in memory.
  std::vector<size_t> mayOverlap;
  /// `tile.default`, or empty.
  std::string defaultSpec;
};

/// An argument as a launch takes it: where its elements are and how they lie.
/// Owns nothing. A scalar has rank 0 and lies in the host's memory, whatever
/// the target.
struct ArgumentView {
  runtime::DType type = runtime::DType::F32;
  /// In the memory of the target.
  uintptr_t data = 0;
  /// Of the first element from there, in elements.
  int64_t offset = 0;
  llvm::ArrayRef<int64_t> shape;
  /// In elements, one a dimension.
  llvm::ArrayRef<int64_t> strides;
  /// True where its contents before the run mean nothing, so that reading them
  /// is a fault of the program.
  bool isEmpty = false;

  ArgumentView() = default;
  /// Of an array, which has to outlive it.
  explicit ArgumentView(const runtime::Array &array)
      : type(array.getType()), data(reinterpret_cast<uintptr_t>(array.data())),
        offset(array.getOffset()), shape(array.getShape()),
        strides(array.getStrides()) {}

  bool hasElements() const { return !llvm::is_contained(shape, 0); }
  /// The address of the first element, of whose byte where it is packed.
  uintptr_t getFirstElement() const {
    return data + offset * runtime::getStorageBits(type) / 8;
  }
  /// From the first byte that elements take to behind the last; empty where
  /// there are none.
  std::pair<uintptr_t, uintptr_t> getByteRange() const;
};

struct Signature {
  std::string function;
  std::vector<Parameter> parameters;

  /// The position of the parameter of that name: its name, its name in the
  /// source or its position. The error names the nearest.
  llvm::Expected<size_t> find(llvm::StringRef name) const;

  /// Fails where an argument does not fit its parameter, saying which, what is
  /// expected and what was given, and where a written one overlaps another.
  llvm::Error check(llvm::ArrayRef<ArgumentView> arguments) const;
};

/// The signature of `function`, whose arguments the source calls `names` (empty
/// where it gives none). Fails on types that no target takes.
llvm::Expected<Signature> getSignature(mlir::FunctionOpInterface function,
                                       llvm::ArrayRef<std::string> names);

} // namespace tile::driver

#endif // TILE_DRIVER_SIGNATURE_H
