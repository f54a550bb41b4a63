//===- LibraryStatistics.h - Statistics as LLVM was built -------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of a pass's statistics depends on NDEBUG. MLIR's library makes
// them as its own build says, so ours must see the same class also where our
// assertions are on. Included in front of every source file of such a build.
//
//===----------------------------------------------------------------------===//

#ifndef NDEBUG
#define NDEBUG
#include "llvm/ADT/Statistic.h"
#undef NDEBUG
#endif
