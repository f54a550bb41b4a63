//===- SourceLimits.h - Text that is safe to parse --------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's parser, verifiers and passes recur on nested constructs, and a few
// thousand levels use up the stack, which no diagnostic survives. Every tool
// looks at a text's brackets before it parses it.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_SOURCELIMITS_H
#define TILE_DRIVER_SOURCELIMITS_H

#include "llvm/ADT/StringRef.h"

namespace tile::driver {

/// A tenth of the depth at which the parser's stack ends.
inline constexpr unsigned kMaxNesting = 400;

/// The position of the first bracket inside more than `kMaxNesting` others, as
/// a pointer into `text`; null where there is none. Brackets need not match: of
/// what is wrong with them the parser tells more. A line of `// -----`, which
/// parts the inputs of tests, starts anew.
const char *findTooDeep(llvm::StringRef text);

} // namespace tile::driver

#endif // TILE_DRIVER_SOURCELIMITS_H
