//===- Tolerance.h - How far results may be off -*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_TOLERANCE_H
#define TILE_DRIVER_TOLERANCE_H

#include "Tile/IR/TileDialect.h"
#include "Tile/Runtime/Array.h"
#include "Tile/Runtime/Compare.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace tile::driver {

/// What #tile.tolerance says; see there. Where a program says nothing the
/// output's type decides, with eps the distance from 1 to the next number:
///
///   f64, f32           norm 64 eps, elements 256 eps (|reference| + rms)
///   f16, bf16, fp8     norm  4 eps, elements   8 eps (|reference| + rms)
///   integers           equal
///
/// where rms is the root mean square of the reference. Narrow results come from
/// sums in f32 and are rounded once or twice; f32 results from long sums in
/// f32.
struct ToleranceSpec {
  std::optional<double> norm;
  double atol = 0;
  double rtol = 0;
  double products = 0;

  /// From "norm=1e-6,atol=1e-6,rtol=1e-5,products=2", or from one number, which
  /// is atol and rtol.
  static llvm::Expected<ToleranceSpec> parse(llvm::StringRef text);
  static ToleranceSpec get(ToleranceAttr attribute);
  /// The default for a result of `type` compared with `reference`.
  static ToleranceSpec getDefault(runtime::DType type,
                                  const runtime::Array &reference);

  /// In the form that `parse` takes.
  std::string print() const;

  /// For the comparison of results of `type`. `magnitude` may be null where
  /// `products` is zero.
  runtime::Tolerance forElements(runtime::DType type,
                                 const runtime::Array *magnitude) const;
};

} // namespace tile::driver

#endif // TILE_DRIVER_TOLERANCE_H
