/* Calls what object.mlir defines; the header comes by -include. */

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 37, COLUMNS = 64, PITCH = 70 };

static float x[ROWS * PITCH], y[ROWS * COLUMNS];
static double numbers[100], total;

static void *call_many(void *limit) {
  double own;
  tile_buffer_1 in = {numbers, {100}, {1}}, out = {&own, {1}, {1}};
  long mixed_up = 0;
  for (int i = 0; i < 100; ++i)
    mixed_up += (sum(&in, &out, (long)limit, 0) == NULL) != ((long)limit >= 100);
  return (void *)mixed_up;
}

int main(void) {
  for (int i = 0; i < ROWS * PITCH; ++i)
    x[i] = (float)(i % 251);
  tile_buffer_2 in = {x, {ROWS, COLUMNS}, {PITCH, 1}};
  tile_buffer_2 out = {y, {ROWS, COLUMNS}, {COLUMNS, 1}};
  if (scale(&in, 0.5f, &out) != NULL)
    return 1;
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS; ++j)
      if (y[i * COLUMNS + j] != 0.5f * x[i * PITCH + j]) {
        printf("wrong at %d, %d\n", i, j);
        return 1;
      }
  puts("numbers are right");

  out.extents[1] = 63;
  puts(scale(&in, 0.5f, &out));
  out.extents[1] = 64;
  out.strides[0] = 65;
  puts(scale(&in, 0.5f, &out));
  out.strides[0] = COLUMNS;
  puts(scale(NULL, 0.5f, &out));

  for (int i = 0; i < 100; ++i)
    numbers[i] = i;
  tile_buffer_1 from = {numbers, {100}, {1}}, to = {&total, {1}, {1}};
  if (sum(&from, &to, 100, 1) != NULL || total != 4950)
    return 1;
  puts(sum(&from, &to, 99, 0));

  pthread_t good, bad;
  void *good_result = (void *)1, *bad_result = (void *)1;
  pthread_create(&good, NULL, call_many, (void *)100L);
  pthread_create(&bad, NULL, call_many, (void *)99L);
  pthread_join(good, &good_result);
  pthread_join(bad, &bad_result);
  puts(good_result || bad_result ? "calls mixed up" : "all calls kept apart");
  return 0;
}
