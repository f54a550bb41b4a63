//===- NearestName.h - What a misspelt name may have meant ------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_NEARESTNAME_H
#define TILE_DRIVER_NEARESTNAME_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tile::driver {

/// "there is no KIND 'NAME'", the nearest of `known` if one is near, and all of
/// them.
inline llvm::Error unknownName(llvm::StringRef kind, llvm::StringRef name,
                               llvm::ArrayRef<std::string> known) {
  std::string message = ("there is no " + kind + " '" + name + "'").str();
  llvm::StringRef nearest;
  unsigned nearestDistance = static_cast<unsigned>(name.size() / 2 + 1);
  for (llvm::StringRef each : known)
    if (unsigned distance = name.edit_distance_insensitive(
            each, /*AllowReplacements=*/true, nearestDistance);
        distance < nearestDistance) {
      nearest = each;
      nearestDistance = distance;
    }
  if (!nearest.empty())
    message += ("; did you mean '" + nearest + "'?").str();
  if (known.empty())
    message += "; there are none";
  else if (nearest.empty() || known.size() > 1)
    message += (nearest.empty() ? "; there are: " : " (there are: ") +
               llvm::join(known, ", ") + (nearest.empty() ? "" : ")");
  return llvm::createStringError(message);
}

} // namespace tile::driver

#endif // TILE_DRIVER_NEARESTNAME_H
