/*===- Tile.h - C ABI of the compiler ----------------------------*- C -*-===*\
|*
|* Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|* Compiles tile programs and runs them, from any language. The library,
|* libtile, holds all that TileRuntime.h declares too, so that a process links
|* one of the two.
|*
|* Errors. A function that fails returns null or a number other than zero;
|* tile_last_error then says why, on the thread that called. Mistakes in a
|* program come as MLIR's diagnostics, complete lines that begin with
|* `file:line:column: error: `.
|*
|* Ownership. What a function named `create`, `load` or `compile` returns goes
|* back to the `destroy` of its type, in any order: programs keep alive what
|* they need of their session, and kernels need neither session nor program.
|* Null is accepted there. A `const char *` belongs to the object that it was
|* asked of and lives as long, unless something else is said; a `char *` belongs
|* to the caller, who gives it back by tile_string_free. Texts end with a zero
|* and are UTF-8.
|*
|* Threads. All functions may be called from any thread. Loading and compiling
|* take turns within a session; a kernel may be launched from several threads at
|* once.
|*
\*===----------------------------------------------------------------------===*/

#ifndef TILE_C_TILE_H
#define TILE_C_TILE_H

#include "Tile/C/TileRuntime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The dialects, in one place for programs to share. */
typedef struct tile_session tile_session;
/* A module that has been parsed and verified. */
typedef struct tile_program tile_program;
/* A compiled function. */
typedef struct tile_kernel tile_kernel;

tile_session *tile_session_create(void);
void tile_session_destroy(tile_session *session);

/* Parses `length` bytes of MLIR text or bytecode; `name` stands for the file in
   diagnostics (null: "program"). */
tile_program *tile_program_load_text(tile_session *session, const char *text,
                                     size_t length, const char *name);
/* Parses a file; "-" is the standard input. */
tile_program *tile_program_load_file(tile_session *session, const char *path);
void tile_program_destroy(tile_program *program);

/* The entries of the program, its public functions that launch tile kernels or
   carry `tile.reference` or `tile.default`, as JSON:

     {"functions": [{
       "name": "matmul",
       "parameters": [{
         "name": "A",             its `tile.name`, else its name in the source,
                                  else its position
         "sourceName": "a",       the name in the source where it is another
         "type": "memref<?x64xf16>",
         "dtype": "f16",          i64 for an index
         "isScalar": false,
         "shape": [-1, 64],       -1 is an extent left open
         "strides": null,         null: dense, the last dimension contiguous;
                                  else one an extent, null where left open
         "offset": 0,             of the first element, in elements, where the
                                  type states one; null where left open
         "isWritten": false,
         "mayOverlap": [2],       positions of arguments
         "default": "randn:..."   `tile.default`, or ""
       }],
       "tunables": [{"name": "m", "choices": [64, 128], "default": 64}],
       "reference": "",           the names and expressions that the function's
       "flops": "2*n",            attributes give, or ""
       "bytes": ""
     }]}

   A function whose arguments no target takes has "error" instead of
   "parameters". */
const char *tile_program_describe(tile_program *program);

/* The module's text after a textual pipeline of passes, such as
   "builtin.module(tile-to-cpu)"; `length` (may be null) receives its bytes. The
   program stays as it is. */
char *tile_program_run_passes(tile_program *program, const char *pipeline,
                              size_t *length);

/* Compiles `function` (null: the only entry). `options` is null or JSON, all of
   it optional:

     {"target": "cpu",            cpu, cuda or emulator; without it cuda where a
                                  device is present, else cpu
      "chip": "sm_90",            the GPU to compile for;
                                  the device's, else sm_80
      "device": 0,                the GPU to run on, of those that
                                  tile_environment lists; the first
      "tunables": {"m": 128},     the others keep their defaults
      "keepStages": false,        keep every stage for tile_kernel_stage
      "cache": true,              keep compiled kernels on disk: a directory, or
                                  true for TILE_CACHE_DIR or ~/.cache/tile; off
                                  where it is not given
      "seeds": 1, "seed": 0,      schedules for the emulator to try, and the
                                  first of them
      "checks": ["race"]}         what the emulator looks for beyond what it
                                  always does: race, proxy, uninit, register,
                                  converge; all by default */
tile_kernel *tile_program_compile(tile_program *program, const char *function,
                                  const char *options);
void tile_kernel_destroy(tile_kernel *kernel);

/* What was compiled, as JSON:

     {"function": "matmul", "target": "cuda", "chip": "sm_90",
      "parameters": [...],        as tile_program_describe gives them
      "stages": [{"name": "ptx", "extension": "ptx"}],
      "times": [{"name": "tile-specialize", "seconds": 0.001}],
      "resources": [{"kernel": "matmul_0", "registers": 128,
                     "sharedBytes": 49152, "spillStores": 0, "spillLoads": 0,
                     "stackBytes": 0, "occupancy": 0.5}],
      "diagnostics": "",          warnings and remarks
      "fromCache": false}

   "chip" is null for the cpu, "occupancy" (the part of a multiprocessor's warps
   that can be resident at once) where it is not known. Bytes of spills and
   stack are a thread's, of shared memory a block's. */
const char *tile_kernel_describe(const tile_kernel *kernel);

/* One stage on the program's way: `source`, the name of a pass, `mlir` (after
   all passes), `llvm`, `asm`, `obj`, `ptx`, `cubin`. Those that the kernel's
   code consists of are always there, the others where "keepStages" was given.
   `length` (may be null) receives its bytes; obj and cubin are binary. */
const char *tile_kernel_stage(const tile_kernel *kernel, const char *name,
                              size_t *length);

/* Runs the kernel. Addresses are in the target's memory: the host's for cpu and
   emulator, where this returns when all is done; a device's for cuda, where the
   work is enqueued on `stream`, a CUstream (null: the default stream). Every
   argument is checked against its parameter; the error names the one that is
   wrong. A fault of the running program (a failed assertion, what the emulator
   finds) is an error too. */
int tile_kernel_launch(const tile_kernel *kernel,
                       const tile_argument *arguments, size_t count,
                       void *stream);

/* The lines that `tile.print` printed since this was asked last, each with its
   newline. Valid until the next call on this thread. */
const char *tile_kernel_take_output(const tile_kernel *kernel);

/* What this library found around itself, as JSON:

     {"versions": {"tile": "0.1.0", "llvm": "22.1.0"},
      "targets": ["cpu", "cuda", "emulator"],
      "devices": [{"name": "NVIDIA H200", "capability": 90,
                   "memoryBytes": 150754820096}],
      "driver": "12.8",           the CUDA version of the driver, or null
      "ptxas": {"path": "/usr/local/cuda/bin/ptxas", "version": "12.8.93"},
      "cpu": {"name": "znver4", "cores": 8}}

   "ptxas" is null where there is none. */
char *tile_environment(void);

void tile_string_free(char *text);

#ifdef __cplusplus
}
#endif

#endif /* TILE_C_TILE_H */
