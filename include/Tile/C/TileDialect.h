/*===- TileDialect.h - The dialect for users of MLIR's C API -----*- C -*-===*\
|*
|* Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|* For programs that build or transform modules through MLIR's own C API. The
|* library and the program have to share one MLIR, the shared library libMLIR.
|*
\*===----------------------------------------------------------------------===*/

#ifndef TILE_C_TILEDIALECT_H
#define TILE_C_TILEDIALECT_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Tile, tile);

/* Makes the project's passes and pipelines known to textual pipelines; does
   nothing when called again. */
MLIR_CAPI_EXPORTED void tileRegisterAllPasses(void);

#ifdef __cplusplus
}
#endif

#endif /* TILE_C_TILEDIALECT_H */
