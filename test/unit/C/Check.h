/*===- Check.h - Expectations of the C tests ---------------------*- C -*-===*\
|*
|* Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===----------------------------------------------------------------------===*/

#ifndef TILE_TEST_UNIT_C_CHECK_H
#define TILE_TEST_UNIT_C_CHECK_H

#include <stdio.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);           \
      ++failures;                                                              \
    }                                                                          \
  } while (0)

/* The text has that part. */
#define CHECK_PART(text, part)                                                 \
  do {                                                                         \
    const char *checkedText = (text);                                          \
    if (!checkedText || !strstr(checkedText, part)) {                          \
      printf("%s:%d: expected a text with\n  %s\ngot\n  %s\n", __FILE__,       \
             __LINE__, part, checkedText ? checkedText : "null");              \
      ++failures;                                                              \
    }                                                                          \
  } while (0)

#endif /* TILE_TEST_UNIT_C_CHECK_H */
