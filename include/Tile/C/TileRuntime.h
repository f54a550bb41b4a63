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

/* An argument: of an array, the address of its first element on the device and,
   for each dimension, extent and stride in elements; of a scalar, its value, an
   integer (or the bits of a float below 32 bits) or a real. */
typedef struct tile_argument {
  uint64_t address;
  const int64_t *shape;
  const int64_t *strides;
  int64_t integer;
  double real;
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
