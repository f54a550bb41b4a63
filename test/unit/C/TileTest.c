/*===- TileTest.c - The compiler from C --------------------------*- C -*-===*\
|*
|* Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|* Uses every function of Tile.h once as it is meant, and with what is wrong.
|*
\*===----------------------------------------------------------------------===*/

/* fdopen, mkstemp and threads. */
#define _POSIX_C_SOURCE 200809L

#include "Tile/C/Tile.h"
#include "Check.h"
#include <pthread.h>
#include <stdlib.h>

static const char source[] =
    "func.func @scale(%factor: f32 {tile.default = \"2.5\"},\n"
    "                 %x: memref<?x64xf32> {tile.default = "
    "\"iota:3x64xf32\"},\n"
    "                 %y: memref<?x64xf32> {tile.name = \"out\"}) {\n"
    "  %c0 = arith.constant 0 : index\n"
    "  %c1 = arith.constant 1 : index\n"
    "  %m = tile.tunable \"rows\" in [1, 2] default(1)\n"
    "  %n = memref.dim %x, %c0 : memref<?x64xf32>\n"
    "  tile.launch blocks(%b) in (%n) {\n"
    "    tile.print \"row\" %b : index\n"
    "    tile.parallel (%i) in (64) {\n"
    "      %v = memref.load %x[%b, %i] : memref<?x64xf32>\n"
    "      %s = arith.mulf %v, %factor : f32\n"
    "      memref.store %s, %y[%b, %i] : memref<?x64xf32>\n"
    "    }\n"
    "  }\n"
    "  return\n"
    "}\n";

enum { rows = 3, columns = 64, size = rows * columns };
static float input[size];

/* The three arguments of the kernel; all that is optional is said. */
static void bind(tile_argument arguments[3], float factor, float *y) {
  static const int64_t shape[] = {rows, columns}, strides[] = {columns, 1};
  memset(arguments, 0, 3 * sizeof(*arguments));
  arguments[0].real = factor;
  arguments[0].dtype = TILE_F32;
  arguments[1].address = (uint64_t)(uintptr_t)input;
  arguments[2].address = (uint64_t)(uintptr_t)y;
  for (int i = 1; i < 3; ++i) {
    arguments[i].shape = shape;
    arguments[i].strides = strides;
    arguments[i].rank = 2;
    arguments[i].dtype = TILE_F32;
  }
}

static int isScaled(const float *y, float factor) {
  for (int i = 0; i < size; ++i)
    if (y[i] != factor * input[i])
      return 0;
  return 1;
}

static void testPrograms(void) {
  tile_session *session = tile_session_create();
  CHECK(!tile_program_load_text(session, "func.func @f() { tile.nothing }", 31,
                                "wrong.mlir"));
  CHECK_PART(tile_last_error(), "wrong.mlir:1:18: error: ");
  CHECK(!tile_program_load_file(session, "/no/such/file.mlir"));
  CHECK_PART(tile_last_error(), "cannot read '/no/such/file.mlir'");

  char path[] = "/tmp/tile-c-test-XXXXXX";
  FILE *file = fdopen(mkstemp(path), "w");
  CHECK(file && fputs(source, file) >= 0 && fclose(file) == 0);
  tile_program *program = tile_program_load_file(session, path);
  CHECK(program != NULL);
  remove(path);
  /* The program keeps what it needs. */
  tile_session_destroy(session);

  const char *description = tile_program_describe(program);
  CHECK_PART(description, "\"name\":\"scale\"");
  CHECK_PART(description, "\"name\":\"out\"");
  CHECK_PART(description, "\"sourceName\":\"y\"");
  CHECK_PART(description, "\"type\":\"memref<?x64xf32>\"");
  CHECK_PART(description, "\"shape\":[-1,64]");
  CHECK_PART(description, "\"isWritten\":true");
  CHECK_PART(description, "\"default\":\"iota:3x64xf32\"");
  CHECK_PART(description, "\"choices\":[1,2],\"default\":1,\"name\":\"rows\"");

  size_t length = 0;
  char *lowered = tile_program_run_passes(
      program, "builtin.module(tile-specialize{values=rows=2})", &length);
  CHECK(lowered && strlen(lowered) == length);
  CHECK(lowered && !strstr(lowered, "tile.tunable"));
  CHECK_PART(lowered, "tile.launch");
  tile_string_free(lowered);
  CHECK(!tile_program_run_passes(program, "builtin.module(no-pass)", NULL));
  CHECK_PART(tile_last_error(), "no-pass");
  CHECK(!tile_program_run_passes(program, "func.func(cse)", NULL));
  CHECK_PART(tile_last_error(), "expected one on builtin.module");
  /* It stays as it was. */
  lowered =
      tile_program_run_passes(program, "builtin.module(symbol-dce)", NULL);
  CHECK_PART(lowered, "tile.tunable");
  tile_string_free(lowered);
  tile_program_destroy(program);
}

static tile_program *load(void) {
  tile_session *session = tile_session_create();
  tile_program *program =
      tile_program_load_text(session, source, strlen(source), NULL);
  tile_session_destroy(session);
  CHECK(program != NULL);
  return program;
}

static void testOptions(tile_program *program) {
  const struct {
    const char *options, *message;
  } wrong[] = {
      {"{\"targets\": \"cpu\"}",
       "there is no option 'targets'; did you mean 'target'?"},
      {"{\"target\": \"tpu\"}", "there is no target 'tpu'"},
      {"{\"target\": 3}", "option 'target': expected the name of one, got 3"},
      {"{\"tunables\": {\"rows\": 5}}",
       "tunable 'rows': expected one of 1, 2, got 5"},
      {"{\"tunables\": {\"row\": 1}}",
       "there is no tunable 'row'; did you mean 'rows'?"},
      {"{\"tunables\": {\"rows\": \"1\"}}",
       "option 'tunables.rows': expected an integer"},
      {"{\"keepStages\": 1}", "option 'keepStages': expected true or false"},
      {"{\"cache\": 1}", "option 'cache': expected true, false or a directory"},
      {"{\"chip\": 90}", "option 'chip': expected a name"},
      {"{\"device\": -1}", "option 'device': expected the number of a GPU"},
      {"{\"target\": \"cpu\", \"device\": 0}",
       "device 0 is a choice among GPUs; expected the target cuda, got cpu"},
      {"{\"seeds\": 0}", "option 'seeds': expected a number from 1"},
      {"{\"seed\": -1}", "option 'seed': expected an integer of zero or more"},
      {"{\"checks\": \"race\"}", "option 'checks': expected an array of names"},
      {"{\"checks\": [\"rase\"]}",
       "expected race, proxy, uninit, register, converge"},
      {"[]", "no JSON object"},
      {"{", "the options are no JSON"},
  };
  for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); ++i) {
    CHECK(!tile_program_compile(program, "scale", wrong[i].options));
    CHECK_PART(tile_last_error(), wrong[i].message);
  }
  CHECK(!tile_program_compile(program, "scales", "{\"target\": \"cpu\"}"));
  CHECK_PART(tile_last_error(),
             "there is no function 'scales'; did you mean 'scale'?");
}

static void testLaunchChecks(const tile_kernel *kernel) {
  static float output[size + 1];
  static const int64_t other[] = {rows, columns + 1}, gaps[] = {columns, 2},
                       negative[] = {-1, columns};
  tile_argument arguments[4];
  memset(arguments, 0, sizeof(arguments));

  bind(arguments, 2, output);
  CHECK(tile_kernel_launch(kernel, arguments, 2, NULL) != 0);
  CHECK_PART(tile_last_error(), "'scale' takes 3 arguments, got 2");
  CHECK(tile_kernel_launch(kernel, arguments, 4, NULL) != 0);
  CHECK_PART(tile_last_error(), "'scale' takes 3 arguments, got 4");

  arguments[1].dtype = TILE_F16;
  CHECK(tile_kernel_launch(kernel, arguments, 3, NULL) != 0);
  CHECK_PART(tile_last_error(),
             "argument 'x': expected memref<?x64xf32>, got 3x64xf16");
  bind(arguments, 2, output);
  arguments[1].rank = 1;
  CHECK(tile_kernel_launch(kernel, arguments, 3, NULL) != 0);
  CHECK_PART(tile_last_error(), "got 3xf32 of rank 1");
  bind(arguments, 2, output);
  arguments[1].shape = other;
  CHECK(tile_kernel_launch(kernel, arguments, 3, NULL) != 0);
  CHECK_PART(tile_last_error(),
             "argument 'x': expected extent 64 in dimension 1");
  bind(arguments, 2, output);
  arguments[1].shape = negative;
  CHECK(tile_kernel_launch(kernel, arguments, 3, NULL) != 0);
  CHECK_PART(tile_last_error(),
             "argument 'x': expected an extent of zero or more in dimension 0");
  bind(arguments, 2, output);
  arguments[2].strides = gaps;
  CHECK(tile_kernel_launch(kernel, arguments, 3, NULL) != 0);
  CHECK_PART(tile_last_error(), "argument 'out': expected a dense array");
  bind(arguments, 2, output);
  arguments[2].shape = NULL;
  CHECK(tile_kernel_launch(kernel, arguments, 3, NULL) != 0);
  CHECK_PART(tile_last_error(), "argument 'out'");
  bind(arguments, 2, output);
  arguments[2].address = 0;
  CHECK(tile_kernel_launch(kernel, arguments, 3, NULL) != 0);
  CHECK_PART(tile_last_error(), "argument 'out': expected the address of its "
                                "elements, got null");
  bind(arguments, 2, output);
  arguments[2].address += 2;
  CHECK(tile_kernel_launch(kernel, arguments, 3, NULL) != 0);
  CHECK_PART(tile_last_error(),
             "argument 'out': expected an address that is a multiple of 4");
  bind(arguments, 2, input + columns);
  CHECK(tile_kernel_launch(kernel, arguments, 3, NULL) != 0);
  CHECK_PART(tile_last_error(), "argument 'out', which 'scale' writes, "
                                "overlaps argument 'x' in memory");
  bind(arguments, 2, output);
  arguments[0].dtype = TILE_I32;
  CHECK(tile_kernel_launch(kernel, arguments, 3, NULL) != 0);
  CHECK_PART(tile_last_error(), "argument 'factor': expected f32, got i32");
  bind(arguments, 2, output);
  arguments[0].dtype = 99;
  CHECK(tile_kernel_launch(kernel, arguments, 3, NULL) != 0);
  CHECK_PART(tile_last_error(), "argument 'factor': expected a tile_dtype");
}

static void *launchOften(void *kernel) {
  float *output = malloc(size * sizeof(float));
  tile_argument arguments[3];
  bind(arguments, 3, output);
  intptr_t wrong = 0;
  for (int i = 0; i < 200; ++i) {
    output[size - 1] = 0;
    wrong += tile_kernel_launch(kernel, arguments, 3, NULL) != 0 ||
             !isScaled(output, 3);
  }
  free(output);
  return (void *)wrong;
}

static void testKernel(tile_program *program) {
  tile_kernel *kernel =
      tile_program_compile(program, NULL,
                           "{\"target\": \"cpu\", \"tunables\": {\"rows\": 2}, "
                           "\"keepStages\": true}");
  CHECK(kernel != NULL);
  if (!kernel) {
    printf("%s\n", tile_last_error());
    return;
  }
  const char *description = tile_kernel_describe(kernel);
  CHECK_PART(description, "\"function\":\"scale\"");
  CHECK_PART(description, "\"target\":\"cpu\"");
  CHECK_PART(description, "\"chip\":null");
  CHECK_PART(description, "\"fromCache\":false");
  CHECK_PART(description, "{\"extension\":\"ll\",\"name\":\"llvm\"}");
  CHECK_PART(description, "\"name\":\"llvm-codegen\"");

  size_t length = 0;
  const char *stage = tile_kernel_stage(kernel, "source", &length);
  CHECK_PART(stage, "tile.launch");
  CHECK(stage && strlen(stage) == length);
  CHECK_PART(tile_kernel_stage(kernel, "asm", NULL), "scale");
  CHECK(!tile_kernel_stage(kernel, "cubin", NULL));
  CHECK_PART(tile_last_error(), "the kernel has no stage 'cubin'; it has");

  float output[size] = {0};
  tile_argument arguments[3];
  bind(arguments, 2.5f, output);
  CHECK(tile_kernel_launch(kernel, arguments, 3, NULL) == 0);
  CHECK(isScaled(output, 2.5f));
  CHECK(!strcmp(tile_kernel_take_output(kernel),
                "program:9:5: block (0): row 0\n"
                "program:9:5: block (1): row 1\n"
                "program:9:5: block (2): row 2\n"));
  CHECK(!strcmp(tile_kernel_take_output(kernel), ""));
  /* What need not be said. */
  for (int i = 0; i < 3; ++i) {
    arguments[i].rank = 0;
    arguments[i].dtype = TILE_DTYPE_NOT_SAID;
    arguments[i].strides = NULL;
  }
  arguments[0].real = -1;
  CHECK(tile_kernel_launch(kernel, arguments, 3, NULL) == 0);
  CHECK(isScaled(output, -1));
  testLaunchChecks(kernel);

  pthread_t threads[3];
  for (int i = 0; i < 3; ++i)
    CHECK(!pthread_create(&threads[i], NULL, launchOften, kernel));
  for (int i = 0; i < 3; ++i) {
    void *wrong = NULL;
    CHECK(!pthread_join(threads[i], &wrong) && !wrong);
  }
  tile_kernel_destroy(kernel);
}

/* The same interface for a GPU's code, which needs no GPU in the emulator. */
static void testEmulator(void) {
  static const char text[] =
      "func.func @first(%x: memref<?xf32>, %y: memref<1xf32>) {\n"
      "  %c0 = arith.constant 0 : index\n"
      "  %n = memref.dim %x, %c0 : memref<?xf32>\n"
      "  tile.launch blocks(%b) in (%n) threads(32) {\n"
      "    tile.parallel (%i) in (1) {\n"
      "      %v = memref.load %x[%b] : memref<?xf32>\n"
      "      memref.store %v, %y[%i] : memref<1xf32>\n"
      "    }\n"
      "  }\n"
      "  return\n"
      "}\n";
  tile_session *session = tile_session_create();
  tile_program *program =
      tile_program_load_text(session, text, strlen(text), "first.mlir");
  tile_kernel *kernel = tile_program_compile(
      program, "first",
      "{\"target\": \"emulator\", \"chip\": \"sm_90\", \"seeds\": 2, \"seed\": "
      "7,"
      " \"checks\": [\"race\", \"uninit\"], \"cache\": false}");
  CHECK(kernel != NULL);
  if (!kernel) {
    printf("%s\n", tile_last_error());
    return;
  }
  CHECK_PART(tile_kernel_describe(kernel), "\"chip\":\"sm_90\"");
  size_t length = 0;
  const char *ptx = tile_kernel_stage(kernel, "ptx", &length);
  CHECK_PART(ptx, ".target sm_90");
  CHECK(ptx && strlen(ptx) == length);

  float y = 0;
  int64_t many = 3, one = 1;
  tile_argument arguments[2];
  memset(arguments, 0, sizeof(arguments));
  arguments[0].address = (uint64_t)(uintptr_t)(input + 5);
  arguments[0].shape = &one;
  arguments[1].address = (uint64_t)(uintptr_t)&y;
  arguments[1].shape = &one;
  CHECK(tile_kernel_launch(kernel, arguments, 2, NULL) == 0);
  CHECK(y == 5);
  /* Three blocks write one element. */
  arguments[0].shape = &many;
  CHECK(tile_kernel_launch(kernel, arguments, 2, NULL) != 0);
  CHECK_PART(tile_last_error(), "data race");
  CHECK_PART(tile_last_error(), "first.mlir:7");
  tile_kernel_destroy(kernel);
  tile_program_destroy(program);
  tile_session_destroy(session);
}

/* An integer has no sign; one that is too wide is refused, not cut. */
static void testIntegers(void) {
  static const char text[] = "func.func @store(%n: i16, %y: memref<1xi16>) {\n"
                             "  %c1 = arith.constant 1 : index\n"
                             "  tile.launch blocks(%b) in (%c1) threads(32) {\n"
                             "    tile.parallel (%i) in (1) {\n"
                             "      memref.store %n, %y[%i] : memref<1xi16>\n"
                             "    }\n"
                             "  }\n"
                             "  return\n"
                             "}\n";
  static const int64_t fit[] = {0, -1, -32768, 32767, 32768, 65535},
                       wide[] = {-32769, 65536, INT64_MIN, INT64_MAX};
  tile_session *session = tile_session_create();
  tile_program *program =
      tile_program_load_text(session, text, strlen(text), "store.mlir");
  tile_kernel *kernel = tile_program_compile(
      program, "store", "{\"target\": \"cpu\", \"cache\": false}");
  CHECK(kernel != NULL);
  if (!kernel) {
    printf("%s\n", tile_last_error());
    return;
  }
  uint16_t y = 7;
  int64_t one = 1;
  tile_argument arguments[2];
  memset(arguments, 0, sizeof(arguments));
  arguments[1].address = (uint64_t)(uintptr_t)&y;
  arguments[1].shape = &one;
  for (size_t i = 0; i < sizeof(fit) / sizeof(*fit); ++i) {
    arguments[0].integer = fit[i];
    CHECK(tile_kernel_launch(kernel, arguments, 2, NULL) == 0);
    CHECK(y == (uint16_t)fit[i]);
  }
  for (size_t i = 0; i < sizeof(wide) / sizeof(*wide); ++i) {
    arguments[0].integer = wide[i];
    CHECK(tile_kernel_launch(kernel, arguments, 2, NULL) != 0);
    CHECK_PART(tile_last_error(),
               "argument 'n': expected an integer from -32768 to 65535, got");
  }
  tile_kernel_destroy(kernel);
  tile_program_destroy(program);
  tile_session_destroy(session);
}

int main(void) {
  for (int i = 0; i < size; ++i)
    input[i] = (float)i;
  testPrograms();
  tile_program *program = load();
  testOptions(program);
  testKernel(program);
  testIntegers();
  testEmulator();
  tile_program_destroy(program);

  char *environment = tile_environment();
  CHECK_PART(environment, "\"versions\":{\"llvm\":\"22.");
  CHECK_PART(environment, "\"targets\":[\"cpu\",\"cuda\",\"emulator\"]");
  CHECK_PART(environment, "\"ptxas\":");
  CHECK_PART(environment, "\"cores\":");
  tile_string_free(environment);

  /* Null is nothing to give back. */
  tile_session_destroy(NULL);
  tile_program_destroy(NULL);
  tile_kernel_destroy(NULL);
  tile_string_free(NULL);
  if (!failures)
    printf("the C ABI works\n");
  return failures != 0;
}
