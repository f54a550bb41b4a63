// Small kernels as a CUDA compiler emits them; vector.ptx is this file through
// nvcc -arch=sm_80 -ptx -lineinfo.
#include <cstdio>

extern "C" __global__ void vector_add(const float *a, const float *b, float *c,
                                      int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i] + b[i];
}

extern "C" __global__ void block_sum(const float *x, float *sums, int n) {
  __shared__ float partial[32];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += x[blockIdx.x * n + i];
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0;
    for (int w = 0; w < blockDim.x / 32; ++w)
      total += partial[w];
    sums[blockIdx.x] = total;
  }
}

// The same without its barrier: a race on partial.
extern "C" __global__ void block_sum_racy(const float *x, float *sums, int n) {
  __shared__ float partial[32];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += x[blockIdx.x * n + i];
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = sum;
  if (threadIdx.x == 0) {
    float total = 0;
    for (int w = 0; w < blockDim.x / 32; ++w)
      total += partial[w];
    sums[blockIdx.x] = total;
  }
}

extern "C" __global__ void histogram(const int *keys, int *counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&counts[keys[i]], 1);
}

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void calls(int *out) {
  out[threadIdx.x] = fibonacci(threadIdx.x);
}

extern "C" __global__ void prints(int x) {
  if (threadIdx.x == 0)
    printf("x=%d half=%.2f name=%s\n", x, x * 0.5, "tile");
}

__device__ int flag;

// The last block to finish sums what all have written (a threadfence sum).
extern "C" __global__ void grid_sum(const float *x, float *partial,
                                    float *total) {
  __shared__ bool isLast;
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < 32; ++i)
      sum += x[blockIdx.x * 32 + i];
    partial[blockIdx.x] = sum;
    __threadfence();
    isLast = atomicAdd(&flag, 1) == gridDim.x - 1;
    if (isLast) {
      __threadfence();
      float all = 0;
      for (int b = 0; b < gridDim.x; ++b)
        all += partial[b];
      *total = all;
      flag = 0;
    }
  }
}

extern "C" __global__ void math(const float *x, float *y, int n) {
  int i = threadIdx.x;
  y[0 * n + i] = sinf(x[i]);
  y[1 * n + i] = expf(x[i]);
  y[2 * n + i] = rsqrtf(fabsf(x[i]));
  y[3 * n + i] = x[i] / 3.0f;
  y[4 * n + i] = (float)(int)(x[i] * 100);
  y[5 * n + i] = tanhf(x[i]);
  y[6 * n + i] = (float)((double)x[i] / 7.0);
  y[7 * n + i] = (float)((unsigned)(i * 977) / 13u % 7u);
}
