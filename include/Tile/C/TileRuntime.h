/*===- TileRuntime.h - C ABI of the runtime ----------------------*- C -*-===*\
|*
|* Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|* Runs artifacts on NVIDIA GPUs from any language. The library needs neither
|* MLIR nor CUDA; it opens the driver when a module is loaded. Functions that
|* fail return null or a number other than zero; tile_last_error says why, on
the
|* thread that called. A module may be launched from several threads at once.
|*
\*===----------------------------------------------------------------------===*/

#ifndef TILE_C_TILERUNTIME_H
#define TILE_C_TILERUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tile_module tile_module;

/* Element types, as MLIR names them. i4 is packed two to a byte, the even
   element in the low half; i1 takes a byte that is 0 or 1. */
typedef enum tile_dtype {
  TILE_DTYPE_NOT_SAID = 0,
  TILE_F64 = 1,
  TILE_F32 = 2,
  TILE_F16 = 3,
  TILE_BF16 = 4,
  TILE_F8E4M3FN = 5,
  TILE_F8E5M2 = 6,
  TILE_I64 = 7,
  TILE_I32 = 8,
  TILE_I16 = 9,
  TILE_I8 = 10,
  TILE_I4 = 11,
  TILE_I1 = 12
} tile_dtype;

/* An argument. Zeroed, it says nothing. */
typedef struct tile_argument {
  /* Of an array: the address of its first element in the target's memory, and
     for each dimension extent and stride in elements. Null strides are those of
     a dense array whose last dimension is contiguous. */
  uint64_t address;
  const int64_t *shape;
  const int64_t *strides;
  /* Of a scalar: its value, in `integer` where the parameter is an integer and
     in `real` where it is a float. */
  int64_t integer;
  double real;
  /* What the caller has, to be checked against what the parameter wants: the
     number of dimensions, 0 where it is not said, and a tile_dtype. Where the
     rank is not said, `shape` has as many extents as the parameter. */
  int32_t rank;
  int32_t dtype;
} tile_argument;

/* What went wrong last on this thread. */
const char *tile_last_error(void);

/* Loads a function of the artifact in the file `path` on device number
   `device`. `chip` (may be null) picks the code of one chip. */
tile_module *tile_module_load(const char *path, const char *function,
                              const char *chip, int device);
void tile_module_unload(tile_module *module);
/* The name of the code that was loaded, as the artifact has it. */
const char *tile_module_code(const tile_module *module);
size_t tile_module_num_arguments(const tile_module *module);
/* Enqueues the function's kernels on a CUstream (null: the default stream). */
int tile_module_launch(const tile_module *module,
                       const tile_argument *arguments, size_t count,
                       void *stream);

#ifdef __cplusplus
}
#endif

#endif /* TILE_C_TILERUNTIME_H */
