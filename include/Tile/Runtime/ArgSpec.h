//===- ArgSpec.h - What an argument is made from ----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Argument specifications: the text with which a command line or an attribute
// says what an argument of a program holds. `docs/ArgumentSpecs.md` has the
// grammar and examples.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_ARGSPEC_H
#define TILE_RUNTIME_ARGSPEC_H

#include "Tile/Runtime/Array.h"
#include "Tile/Runtime/Expr.h"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tile::runtime {

/// A generated array: `randn(0,2):A[0]x64xf16:strides=128,1:offset=3`.
struct ArraySpec {
  enum class Content : uint8_t {
    /// Undefined: what the program has to write.
    Empty,
    Zeros,
    Ones,
    /// One value everywhere.
    Full,
    /// Element i of the row-major order is i; integers wrap around.
    Iota,
    /// Uniform between two bounds, 0 and 1 when none are given.
    Uniform,
    /// Normal with mean and standard deviation, 0 and 1 when none are given.
    Randn,
    /// Uniform integers from the first bound up to, not including, the second.
    Randint,
    /// All elements listed in row-major order.
    Values,
  };

  Content content = Content::Empty;
  std::vector<Expr> parameters;
  std::vector<Expr> shape;
  DType type = DType::F32;
  /// In elements, one a dimension; dense where not given.
  std::vector<Expr> strides;
  /// In elements; 0 where not given.
  std::optional<Expr> offset;
};

/// An array in a .npy file.
struct FileSpec {
  std::string path;
};

/// A scalar: `3`, `1.5`, `-inf`, `true`, `A[0]`, `1/sqrt(Q[3])`.
struct ScalarSpec {
  Expr value;
};

using ArgSpec = std::variant<ArraySpec, FileSpec, ScalarSpec>;

/// Parses all of `text`. The error says what is expected and shows the place
/// with a caret.
Result<ArgSpec> parseArgSpec(std::string_view text);
/// The canonical text, which parses to the same specification.
std::string print(const ArgSpec &spec);
/// The names of other arguments it refers to, each once, sorted.
std::vector<std::string> getNames(const ArgSpec &spec);

/// Makes the array. `name` and `seed` select the stream of random numbers.
/// Errors: a failed expression, a negative or huge extent, a value the element
/// type does not have.
Result<Array> buildArray(const ArraySpec &spec, const Expr::Lookup &lookup,
                         uint64_t seed, std::string_view name);

/// The value in the type, as an array of rank 0. An integer type takes only
/// values it has; a float type takes the nearest.
Result<Array> buildScalar(const ScalarSpec &spec, DType type,
                          const Expr::Lookup &lookup);

} // namespace tile::runtime

#endif // TILE_RUNTIME_ARGSPEC_H
